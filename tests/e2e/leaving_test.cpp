// Proves: a broker that is stopped, whenever that comes, is in no route any more when its process has ended, and does not come back; and one with a
// name server in its process is in the routes of that one as well.
// How: a name server and brokers as processes of their own; brokers are told to stop at different points of their start, and later.
// Left to others: the order of registrations and of the departure (unit tests of registration and namesrv).
#include "support/BrokerProcess.h"
#include "support/RawClient.h"
#include "support/Stores.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace patchbay::test {
namespace {

using protocol::RequestCode;

constexpr const char* kName = "leaver";

std::string clusterInfo(RawClient& nameServer) {
    const auto answer = nameServer.call(protocol::RemotingCommand::request(RequestCode::GetBrokerClusterInfo));
    EXPECT_TRUE(answer) << answer.error().toString();
    return answer ? answer->body : std::string();
}

class Leaving : public OnEachStore {};

TEST_P(Leaving, ABrokerThatStopsIsInNoRouteWheneverItIsTold) {
    BrokerProcess nameServer("roles = namesrv");
    ASSERT_TRUE(nameServer.start()) << nameServer.output();
    const std::string address = "127.0.0.1:" + std::to_string(nameServer.namesrvPort());
    RawClient client(nameServer.namesrvPort());
    int wasThere = 0;
    for (int round = 0; round < 3; ++round) {
        // Before, while and after it registers.
        for (const char* moment : {"plugin started plugin=topics", "plugin started plugin=registration", "plugin started plugin=timer", "this is: patchbay", ""}) {
            BrokerProcess broker("roles = broker\nnamesrvAddr = " + address + "\nbrokerName = " + kName + "\n" + onStore(GetParam()));
            if (*moment == '\0') {
                ASSERT_TRUE(broker.start()) << broker.output();
                for (int tries = 0; tries < 2'000 && clusterInfo(client).find(kName) == std::string::npos; ++tries) {
                }
            } else {
                (void)broker.startUntil(moment);
            }
            wasThere += clusterInfo(client).find(kName) != std::string::npos ? 1 : 0;
            ASSERT_EQ(broker.stop(SIGTERM), 0) << moment << "\n" << broker.output();
            for (int look = 0; look < 3; ++look) {
                EXPECT_EQ(clusterInfo(client).find(kName), std::string::npos) << "told to stop at '" << moment << "', look " << look;
            }
        }
    }
    EXPECT_GE(wasThere, 3) << "a broker that never was there cannot leave";
}

PATCHBAY_ON_EACH_STORE(Leaving);

// One store: no message is stored.
TEST(Registering, ABrokerRegistersAtTheNameServerInItsProcessToo) {
    BrokerProcess nameServer("roles = namesrv");
    ASSERT_TRUE(nameServer.start()) << nameServer.output();
    BrokerProcess both("namesrvAddr = 127.0.0.1:" + std::to_string(nameServer.namesrvPort()) + "\nbrokerName = " + kName);
    ASSERT_TRUE(both.start()) << both.output();
    for (const auto port : {nameServer.namesrvPort(), both.namesrvPort()}) {
        EXPECT_TRUE(both.awaitOutput("registered with name server nameServer=127.0.0.1:" + std::to_string(port))) << both.output();
        RawClient client(port);
        EXPECT_NE(clusterInfo(client).find(kName), std::string::npos) << port;
    }
}

}  // namespace
}  // namespace patchbay::test

// Proves: administration has a port of its own where the configuration says so, and then no other; clients are served where they were.
// How: the built broker with its real plugins and each store. Left to others: what the codes do (unit tests of the plugins), interceptors (registrations_test).
#include "support/BrokerProcess.h"
#include "support/RawClient.h"
#include "support/Stores.h"

#include "patchbay/protocol/PrivateCode.h"

#include <gtest/gtest.h>

#include <csignal>

namespace patchbay::test {
namespace {

using protocol::RequestCode;

constexpr auto kListPlugins = static_cast<RequestCode>(protocol::PrivateCode::ListPlugins);
constexpr auto kWhyStuck = static_cast<RequestCode>(protocol::PrivateCode::WhyStuck);
constexpr int kUnsupported = 3;

/// The code of the answer, -1 without one.
int ask(std::uint16_t port, RequestCode code) {
    RawClient client(port);
    const auto answer = client.call(protocol::RemotingCommand::request(code));
    return answer ? answer->code : -1;
}

class AdminListener : public OnEachStore {};

TEST_P(AdminListener, ServesAdministrationAloneAndNothingElse) {
    BrokerProcess broker("adminListenPort = 0\n" + onStore(GetParam()));
    ASSERT_TRUE(broker.start()) << broker.output();
    ASSERT_NE(broker.adminPort(), 0) << broker.readyLine();
    for (const auto code : {RequestCode::GetBrokerConfig, RequestCode::GetBrokerRuntimeInfo, RequestCode::GetSystemTopicListFromBroker,
                            kListPlugins}) {
        EXPECT_EQ(ask(broker.adminPort(), code), 0) << static_cast<int>(code);
    }
    for (const auto code : {RequestCode::UpdateAndCreateTopic, RequestCode::UpdateBrokerConfig, RequestCode::GetBrokerRuntimeInfo,
                            RequestCode::InvokeBrokerToResetOffset, RequestCode::ViewBrokerStatsData, RequestCode::ResumeCheckHalfMessage,
                            kWhyStuck, kListPlugins}) {
        EXPECT_EQ(ask(broker.brokerPort(), code), kUnsupported) << static_cast<int>(code);
        EXPECT_NE(ask(broker.adminPort(), code), kUnsupported) << static_cast<int>(code);
    }
    const auto whyNot = [](std::uint16_t port, RequestCode code) {
        RawClient client(port);
        const auto answer = client.call(protocol::RemotingCommand::request(code));
        return answer ? answer->remark.value_or("") : std::string();
    };
    EXPECT_EQ(whyNot(broker.adminPort(), RequestCode::ViewMessageById), " request type 33 not supported on this port, but on that of the listener 'broker'");
    EXPECT_EQ(whyNot(broker.brokerPort(), RequestCode::UpdateAndCreateTopic), " request type 17 not supported on this port, but on that of the listener 'admin'");
    EXPECT_EQ(whyNot(broker.brokerPort(), RequestCode::GetBrokerClusterInfo), " request type 106 not supported") << "as RocketMQ's broker says it";
    EXPECT_EQ(ask(broker.namesrvPort(), kListPlugins), kUnsupported);
    EXPECT_EQ(ask(broker.namesrvPort(), RequestCode::GetBrokerClusterInfo), 0);
    for (const auto code : {RequestCode::SendMessage, RequestCode::PullMessage, RequestCode::GetRouteinfoByTopic}) {
        EXPECT_EQ(ask(broker.adminPort(), code), kUnsupported) << static_cast<int>(code);
    }
    EXPECT_EQ(broker.stop(SIGTERM), 0) << broker.output();
}

TEST_P(AdminListener, LeavesTablesThatSlavesReadWhereTheyAre) {
    BrokerProcess broker("adminListenPort = 0\n" + onStore(GetParam()));
    ASSERT_TRUE(broker.start()) << broker.output();
    for (const auto code : {RequestCode::GetAllTopicConfig, RequestCode::GetAllSubscriptiongroupConfig, RequestCode::GetAllConsumerOffset}) {
        EXPECT_EQ(ask(broker.brokerPort(), code), 0) << static_cast<int>(code);
        EXPECT_EQ(ask(broker.adminPort(), code), 0) << static_cast<int>(code);
    }
}

TEST_P(AdminListener, LeavesToolsThatReadMessagesWhatTheyNeed) {
    BrokerProcess broker("adminListenPort = 0\n" + onStore(GetParam()));
    ASSERT_TRUE(broker.start()) << broker.output();
    for (const auto port : {broker.brokerPort(), broker.adminPort()}) {
        RawClient client(port);
        auto ends = protocol::RemotingCommand::request(RequestCode::GetTopicStatsInfo);
        ends.set("topic", "TBW102");
        const auto answer = client.call(ends);
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->code, 0) << answer->remark.value_or("");
    }
}

TEST_P(AdminListener, IsNotThereUnlessAsked) {
    BrokerProcess broker(onStore(GetParam()));
    ASSERT_TRUE(broker.start()) << broker.output();
    EXPECT_EQ(broker.adminPort(), 0);
    EXPECT_EQ(ask(broker.brokerPort(), RequestCode::GetBrokerRuntimeInfo), 0);
    EXPECT_EQ(ask(broker.namesrvPort(), kListPlugins), 0);
}

PATCHBAY_ON_EACH_STORE(AdminListener);

// One store: a name server has none.
TEST(AdminListenerAlone, CanBelongToANameServer) {
    BrokerProcess broker("roles = namesrv\nadminListenPort = 0\n");
    ASSERT_TRUE(broker.start()) << broker.output();
    EXPECT_EQ(ask(broker.adminPort(), kListPlugins), 0);
    EXPECT_EQ(ask(broker.namesrvPort(), kListPlugins), kUnsupported);
}

}  // namespace
}  // namespace patchbay::test

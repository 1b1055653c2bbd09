// Proves: a registered broker is told whether the name server can connect to its address; nobody else can have it connect anywhere.
// How: the name server on a fake kernel whose calls to others the test answers. Left to others: registration itself (liveness_test).
#include "Namesrv.h"

#include "patchbay/protocol/PrivateCode.h"

namespace patchbay::plugins::namesrv {
namespace {

using protocol::RemotingCommand;
using protocol::ResponseCode;

constexpr auto kReach = static_cast<protocol::RequestCode>(protocol::PrivateCode::ReachBroker);

class ReachTest : public ::testing::Test {
protected:
    auto ask() { return server.call(kReach, {{"address", "192.0.2.7:10911"}}); }

    Namesrv server{{{"brokerReachesMax", "1"}}};
};

TEST_F(ReachTest, TellsABrokerWhetherItsAddressAnswers) {
    ASSERT_EQ(server.registerBroker({}, {topicOf("A"), topicOf("B")}).code(), ResponseCode::Success);
    auto answer = ask();
    EXPECT_FALSE(answer.answered());
    ASSERT_EQ(server.context->remoting().calls().size(), 1U);
    EXPECT_EQ(server.context->remoting().calls()[0].hostPort, "192.0.2.7:10911");
    // Whatever is answered, somebody is there.
    server.context->remoting().answer(0, RemotingCommand::response(ResponseCode::RequestCodeNotSupported, 0));
    server.context->pump();
    EXPECT_EQ(answer.code(), ResponseCode::Success);
    EXPECT_EQ(answer.field("reached"), "true");

    answer = ask();
    server.context->remoting().answer(1, Status(StatusCode::Unavailable, "connection refused"));
    server.context->pump();
    EXPECT_EQ(answer.field("reached"), "false");
    EXPECT_NE(answer.field("error").find("connection refused"), std::string::npos);
}

TEST_F(ReachTest, ConnectsForRegisteredBrokersOnlyAndForSoManyAtOnce) {
    EXPECT_EQ(ask().code(), ResponseCode::NoPermission);
    ASSERT_EQ(server.registerBroker({}, {topicOf("A"), topicOf("B")}).code(), ResponseCode::Success);
    EXPECT_EQ(server.call(kReach).code(), ResponseCode::InvalidParameter);
    auto first = ask();
    server.context->manualClock().advance(std::chrono::milliseconds(99));
    const auto second = ask();
    EXPECT_EQ(second.code(), ResponseCode::SystemBusy);
    EXPECT_NE(second.remark().find("1 brokers are being reached for, the oldest for 99ms, limit brokerReachesMax 1"), std::string::npos);
    EXPECT_EQ(server.context->remoting().calls().size(), 1U);
    server.context->remoting().answer(0, Status(StatusCode::DeadlineExceeded, "no answer"));
    server.context->pump();
    EXPECT_EQ(first.field("reached"), "false");
    EXPECT_FALSE(ask().answered()) << "there is room again";
    server.context->remoting().answer(1, Status(StatusCode::DeadlineExceeded, "no answer"));
    server.context->pump();
}

}  // namespace
}  // namespace patchbay::plugins::namesrv

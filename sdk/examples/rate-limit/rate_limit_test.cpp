// Proves: a client may send its burst and then so many a second, each topic and each client by itself; forgotten buckets were full.
// How: the interceptor is called as the kernel calls it, time is the test's. Left to others: when the kernel calls it (its own tests).
#include "RateLimiter.h"

#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"

#include <gtest/gtest.h>

namespace rate_limit {
namespace {

using namespace patchbay;
using namespace std::chrono_literals;

/// A request that nobody serves.
struct Core final : plugin::RequestCore {
    void answer(plugin::Response&) noexcept override {}
    void abandon() noexcept override {}
    void redispatch() noexcept override {}
    void defer() noexcept override {}
    plugin::RequestCore* detach() noexcept override { return this; }
};

class RateLimitTest : public ::testing::Test {
protected:
    void SetUp() override {
        runner.add<RateLimiter>({{"rateLimitPerSecond", "10"}, {"rateLimitBurst", "3"}, {"rateLimitPairsMax", "16"}});
        ASSERT_TRUE(runner.start());
    }
    /// How many of `count` sends pass.
    int pass(int count, const std::string& topic = "T", const char* client = "192.0.2.1:1", protocol::RequestCode code = protocol::RequestCode::SendMessageV2) {
        auto request = protocol::RemotingCommand::request(code);
        request.set(code == protocol::RequestCode::SendMessage ? "topic" : "b", topic);
        auto frame = *request.encode(protocol::SerializeType::Json);
        Core core;
        protocol::CommandView view;
        EXPECT_TRUE(protocol::CommandView::decode({frame.data() + 4, frame.size() - 4}, view));
        core.command = &view;
        core.peer = context.peer(client);
        int passed = 0;
        for (int i = 0; i < count; ++i) {
            const auto verdict = context.addedInterceptors().at(0).interceptor->intercept({plugin::Phase::Limit, core, nullptr});
            if (verdict.kind == plugin::Verdict::Kind::NoOpinion) ++passed;
            else EXPECT_EQ(verdict.answer->code, protocol::ResponseCode::SystemBusy);
        }
        return passed;
    }

    testkit::FakeContext context;
    testkit::PluginRunner runner{context};
};

TEST_F(RateLimitTest, LetsTheBurstPassAndThenTheRate) {
    EXPECT_EQ(pass(10), 3);
    context.manualClock().advance(200ms);
    EXPECT_EQ(pass(10), 2);
    context.manualClock().advance(10s);
    EXPECT_EQ(pass(10), 3) << "never more than the burst";
}

TEST_F(RateLimitTest, CountsTopicsAndClientsApartAndPortsTogether) {
    EXPECT_EQ(pass(10), 3);
    EXPECT_EQ(pass(10, "U"), 3);
    EXPECT_EQ(pass(10, "T", "192.0.2.2:1"), 3);
    EXPECT_EQ(pass(10, "T", "192.0.2.1:2"), 0);
    EXPECT_EQ(pass(10, "T", "192.0.2.1:3", protocol::RequestCode::SendMessage), 0);
}

TEST_F(RateLimitTest, OtherRequestsPass) {
    EXPECT_EQ(pass(10, "T", "192.0.2.1:1", protocol::RequestCode::PullMessage), 10);
}

TEST_F(RateLimitTest, ForgetsPairsThatAreQuiet) {
    for (int i = 0; i < 100; ++i) (void)pass(1, "topic" + std::to_string(i));
    context.advance(20s);
    EXPECT_EQ(pass(10), 3) << "there is room for a new pair";
}

}  // namespace
}  // namespace rate_limit

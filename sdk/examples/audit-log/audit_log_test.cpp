// Proves: the requests of the listed codes are logged with who asked, for what, and how it ended; others are not. How: the interceptor is
// called as the kernel calls it. Left to others: when the kernel calls it (its own tests).
#include "AuditLog.h"

#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"

#include <gtest/gtest.h>

namespace audit_log {
namespace {

using namespace patchbay;

/// A request that nobody serves.
struct Core final : plugin::RequestCore {
    void answer(plugin::Response&) noexcept override {}
    void abandon() noexcept override {}
    void redispatch() noexcept override {}
    void defer() noexcept override {}
    plugin::RequestCore* detach() noexcept override { return this; }
};

class AuditLogTest : public ::testing::Test {
protected:
    void see(std::int32_t code, protocol::ResponseCode answer) {
        auto request = protocol::RemotingCommand::request(static_cast<protocol::RequestCode>(code));
        request.set("topic", "Orders");
        auto frame = *request.encode(protocol::SerializeType::Json);
        Core core;
        protocol::CommandView view;
        ASSERT_TRUE(protocol::CommandView::decode({frame.data() + 4, frame.size() - 4}, view));
        core.command = &view;
        core.peer = context.peer("192.0.2.7:4711");
        plugin::Response response(answer, "why");
        (void)context.addedInterceptors().at(0).interceptor->intercept({plugin::Phase::Responding, core, &response});
    }

    testkit::FakeContext context;
    testkit::PluginRunner runner{context};
};

TEST_F(AuditLogTest, LogsWhoAskedForWhatAndHowItEnded) {
    runner.add<AuditLog>();
    ASSERT_TRUE(runner.start());
    see(215, protocol::ResponseCode::NoPermission);
    EXPECT_TRUE(context.log().contains("from=192.0.2.7:4711"));
    EXPECT_TRUE(context.log().contains("object=topic:Orders"));
    EXPECT_TRUE(context.log().contains("answer=16"));
}

TEST_F(AuditLogTest, PassesOverOtherCodes) {
    runner.add<AuditLog>({{"auditCodes", "17"}});
    ASSERT_TRUE(runner.start());
    see(215, protocol::ResponseCode::Success);
    EXPECT_FALSE(context.log().contains("from="));
}

TEST_F(AuditLogTest, RefusesWordsThatAreNoCodes) {
    runner.add<AuditLog>({{"auditCodes", "17 deleteTopic"}});
    EXPECT_FALSE(runner.start());
}

}  // namespace
}  // namespace audit_log

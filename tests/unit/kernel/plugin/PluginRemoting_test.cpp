// Proves: no callback of a plugin is left in the kernel when the plugin has stopped. How: an invoker that answers when the test says
// so. Left to others: real connections (kernel/server).
#include "plugin/PluginRemoting.h"

#include <gtest/gtest.h>

namespace patchbay::kernel {
namespace {

class SlowInvoker final : public plugin::RemotingInvoker {
public:
    void invoke(const std::string&, protocol::RemotingCommand, std::chrono::milliseconds, plugin::InvokeDone done) override {
        open.push_back(std::move(done));
    }
    std::vector<plugin::InvokeDone> open;
};

class PluginRemotingTest : public ::testing::Test {
protected:
    void call(const std::string& name) {
        remoting_.invoke("a:1", {}, std::chrono::seconds(3), [this, name, owned = owned_](Result<protocol::RemotingCommand> result) {
            ended_ += name + ":" + std::string(toString(result.error().code())) + " ";
        });
    }

    SlowInvoker invoker_;
    PluginRemoting remoting_{invoker_};
    std::shared_ptr<int> owned_ = std::make_shared<int>(0);
    std::string ended_;
};

TEST_F(PluginRemotingTest, HandsOnTheAnswerOnce) {
    call("x");
    invoker_.open[0](protocol::RemotingCommand{});
    invoker_.open[0](protocol::RemotingCommand{});
    EXPECT_EQ(ended_, "x:Ok ");
}

TEST_F(PluginRemotingTest, EndsOpenCallsBeforeTheStopAndTakesNewOnes) {
    call("x");
    remoting_.cancelOpen();
    EXPECT_EQ(ended_, "x:Cancelled ");
    invoker_.open[0](protocol::RemotingCommand{});
    EXPECT_EQ(ended_, "x:Cancelled ");
    call("bye");
    invoker_.open[1](protocol::RemotingCommand{});
    EXPECT_EQ(ended_, "x:Cancelled bye:Ok ");
}

TEST_F(PluginRemotingTest, HoldsNothingOfThePluginAfterTheStop) {
    call("x");
    EXPECT_EQ(owned_.use_count(), 2);
    remoting_.close();
    EXPECT_EQ(owned_.use_count(), 1);
    EXPECT_EQ(ended_, "");
    invoker_.open[0](protocol::RemotingCommand{});
    EXPECT_EQ(ended_, "");
    call("late");
    EXPECT_EQ(ended_, "late:Cancelled ");
}

}  // namespace
}  // namespace patchbay::kernel

// PluginRemoting: calls to other servers that end with the plugin that made them.
#pragma once

#include "patchbay/plugin/Runtime.h"

#include <functional>
#include <memory>

namespace patchbay::kernel {

/// Stands between a plugin and the kernel's invoker, so that no callback of the plugin is left when it has stopped. Any thread.
class PluginRemoting final : public plugin::RemotingInvoker {
public:
    explicit PluginRemoting(plugin::RemotingInvoker& invoker);
    ~PluginRemoting() override;

    void invoke(const std::string& hostPort, protocol::RemotingCommand command, std::chrono::milliseconds timeout,
                plugin::InvokeDone done) override;
    /// Before the plugin's stop(): every open call ends with Cancelled, on this thread.
    void cancelOpen() noexcept;
    /// After it: what is still open is dropped without a word, new calls end at once, and nothing runs when it returns.
    /// `meanwhile` as in ControlExecutor::cancelAll().
    void close(const std::function<void()>& meanwhile = {}) noexcept;

private:
    struct State;
    plugin::RemotingInvoker& invoker_;
    const std::shared_ptr<State> state_;   // shared with calls that the invoker still has
};

}  // namespace patchbay::kernel

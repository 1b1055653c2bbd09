// The kernel's side of a request, as FakeContext plays it.
#pragma once

#include "patchbay/testkit/FakeContext.h"

#include <memory>
#include <string>

namespace patchbay::testkit {

/// Owns the frame and itself; ends when answered, abandoned or dropped by its context.
class TestRequest final : public plugin::RequestCore {
public:
    TestRequest(FakeContext& context, std::shared_ptr<CallResult::State> state, Ref<FakePeer> from, const CallOptions& options,
                std::string frame);

    /// Reads the frame; as the kernel does, from the receive buffer.
    Status decode();
    /// Wanted on the executor's lane after defer().
    [[nodiscard]] bool wantsExecutor() const noexcept { return wantsExecutor_; }
    void countRound();

    void answer(plugin::Response& response) noexcept override;
    void abandon() noexcept override;
    void redispatch() noexcept override;
    void defer() noexcept override;
    plugin::RequestCore* detach() noexcept override;

private:
    void finish(bool abandoned, std::optional<protocol::RemotingCommand> response);

    FakeContext& context_;
    std::shared_ptr<CallResult::State> state_;
    const protocol::SerializeType type_;
    const bool mayBeAbandoned_;
    bool wantsExecutor_ = false;
    protocol::CommandView view_;
    std::unique_ptr<std::string> frame_;
    std::unique_ptr<char[]> texts_;   // after detach()
};

}  // namespace patchbay::testkit

// Call: a question to a server, from its sending to its end.
#pragma once

#include "patchbay/base/Status.h"
#include "patchbay/protocol/CommandView.h"

#include <memory>
#include <utility>

namespace patchbay::client {

class Call;
using CallPtr = std::unique_ptr<Call>;

/// Owned by the channel that waits for the answer. One of both functions is called, once, on the loop's thread, and is given the object
/// itself: it may keep it, or send it again.
class Call {
public:
    virtual ~Call() = default;
    /// The view is valid during the call.
    virtual void answered(CallPtr self, const protocol::CommandView& answer) noexcept = 0;
    virtual void failed(CallPtr self, const Status& why) noexcept = 0;
};

/// Give the call to itself.
inline void answerCall(CallPtr call, const protocol::CommandView& answer) noexcept {
    Call& its = *call;
    its.answered(std::move(call), answer);
}
inline void failCall(CallPtr call, const Status& why) noexcept {
    Call& its = *call;
    its.failed(std::move(call), why);
}

/// `done(const Status&, const CommandView*)`: the view is null when the status is not Ok.
template <typename F>
class FunctionCall final : public Call {
public:
    explicit FunctionCall(F done) : done_(std::move(done)) {}
    void answered(CallPtr, const protocol::CommandView& answer) noexcept override { done_(Status(), &answer); }
    void failed(CallPtr, const Status& why) noexcept override { done_(why, nullptr); }

private:
    F done_;
};

template <typename F>
[[nodiscard]] CallPtr makeCall(F done) {
    return std::make_unique<FunctionCall<F>>(std::move(done));
}

}  // namespace patchbay::client

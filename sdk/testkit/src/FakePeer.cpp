#include "patchbay/testkit/FakePeer.h"

#include "patchbay/base/Assert.h"

namespace patchbay::testkit {

FakePeer::FakePeer(std::uint64_t id, SocketAddress remote, std::string listener)
    : id_(id), remote_(remote), local_(SocketAddress::v4({127, 0, 0, 1}, 10911)), listener_(std::move(listener)) {}

bool FakePeer::isOpen() const noexcept {
    const std::lock_guard lock(mutex_);
    return open_;
}

Status FakePeer::push(protocol::RemotingCommand command) noexcept {
    const std::lock_guard lock(mutex_);
    if (!open_) return {StatusCode::Unavailable, "the connection is closed"};
    if (!refusal_) return refusal_;
    pushed_.push_back(std::move(command));
    return Status::ok();
}

void FakePeer::invoke(protocol::RemotingCommand command, std::chrono::milliseconds timeout, plugin::InvokeDone done) noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (open_) {
            invocations_.push_back({std::move(command), timeout});
            waiting_.push_back(std::move(done));
            return;
        }
    }
    done(Status(StatusCode::Cancelled, "the connection is closed"));
}

void FakePeer::close(std::string_view reason) noexcept {
    const std::lock_guard lock(mutex_);
    if (!open_) return;
    open_ = false;
    closeReason_ = reason;
}

std::vector<protocol::RemotingCommand> FakePeer::pushed() const {
    const std::lock_guard lock(mutex_);
    return pushed_;
}

std::vector<FakePeer::Invocation> FakePeer::invocations() const {
    const std::lock_guard lock(mutex_);
    return invocations_;
}

void FakePeer::answer(std::size_t index, Result<protocol::RemotingCommand> with) {
    plugin::InvokeDone done;
    {
        const std::lock_guard lock(mutex_);
        PATCHBAY_ASSERT(index < waiting_.size());
        done = std::exchange(waiting_[index], nullptr);
    }
    PATCHBAY_ASSERT(done != nullptr);  // answered before, or cancelled by the close
    done(std::move(with));
}

void FakePeer::refusePushes(Status with) {
    const std::lock_guard lock(mutex_);
    refusal_ = std::move(with);
}

std::string FakePeer::closeReason() const {
    const std::lock_guard lock(mutex_);
    return closeReason_;
}

bool FakePeer::end() {
    std::vector<plugin::InvokeDone> waiting;
    {
        const std::lock_guard lock(mutex_);
        if (told_) return false;
        told_ = true;
        open_ = false;
        for (auto& done : waiting_) {
            if (done) waiting.push_back(std::exchange(done, nullptr));
        }
    }
    for (auto& done : waiting) done(Status(StatusCode::Cancelled, "the connection was closed"));
    return true;
}

}  // namespace patchbay::testkit

#include "dispatch/ServerRequest.h"

#include "dispatch/Dispatcher.h"
#include "dispatch/LaneContext.h"
#include "dispatch/ParkedRequest.h"

#include <exception>
#include <utility>

namespace patchbay::kernel {

RequestPool::~RequestPool() {
    for (auto* request : idle_) delete request;
}

ServerRequest* RequestPool::take(Dispatcher& dispatcher) {
    if (idle_.empty()) return new ServerRequest(dispatcher);
    auto* const request = idle_.back();
    idle_.pop_back();
    return request;
}

void RequestPool::giveBack(ServerRequest* request) noexcept {
    if (idle_.size() < kIdleMax) {
        idle_.push_back(request);
    } else {
        delete request;
    }
}

void ServerRequest::answer(plugin::Response& response) noexcept {
    if (origin().originLoop.inLoop()) {
        dispatcher_.answerOnLoop(*this, response);
    } else {
        dispatcher_.answerElsewhere(*this, response);
    }
}

void ServerRequest::abandon() noexcept {
    auto* const here = LaneContext::current();
    if (here != nullptr && here->running == this && std::uncaught_exceptions() > 0) {
        here->thrown = this;  // whoever catches the exception knows what to answer
        return;
    }
    dispatcher_.dropped(*this);
}

void ServerRequest::redispatch() noexcept {
    again = true;
    deferred = false;
    auto& loop = origin().originLoop;
    if (loop.inLoop()) {
        dispatcher_.lanes_[loop.index()]->handBack(*this);
        loop.turnAgain();
    } else {
        posted_ = Posted::Redispatch;
        loop.post(*this);
    }
}

void ServerRequest::defer() noexcept {
    again = true;
    deferred = true;
    dispatcher_.enqueue(*this);
}

plugin::RequestCore* ServerRequest::detach() noexcept {
    auto& loop = origin().originLoop;
    leaveFlight();
    auto* const parked = new ParkedRequest(*this);
    LaneContext::replaceRunning(*this, *parked);
    dispatcher_.recycle(*this, loop);
    return parked;
}

void ServerRequest::leaveFlight() noexcept {
    if (std::exchange(inFlight_, false)) origin().requestLeft();
    if (std::exchange(released_, false)) [[unlikely]] origin().releasedLeft();
}

void RequestList::add(ServerRequest& request) noexcept {
    request.next_ = nullptr;
    (last_ != nullptr ? last_->next_ : first_) = &request;
    last_ = &request;
}

ServerRequest& RequestList::takeFirst() noexcept {
    auto& first = *first_;
    first_ = std::exchange(first.next_, nullptr);
    if (first_ == nullptr) last_ = nullptr;
    return first;
}

void ServerRequest::run() noexcept {
    if (posted_ == Posted::Answer) {
        dispatcher_.writeEncoded(*this);
    } else if (posted_ == Posted::HoldBack) {
        dispatcher_.heldBack(*this);
    } else {
        dispatcher_.lanes_[origin().originLoop.index()]->handBack(*this);
    }
}

}  // namespace patchbay::kernel

#include "dispatch/ParkedRequest.h"

#include "dispatch/Dispatcher.h"
#include "dispatch/LaneContext.h"

#include <utility>

namespace patchbay::kernel {

ParkedRequest::ParkedRequest(ServerRequest& from)
    : dispatcher_(from.dispatcher_), binding_(std::move(from.binding_)), cell_(std::exchange(from.cell_, nullptr)),
      queueWaitUs_(from.queueWaitUs_), packed_(from.view), admitted_(from.admitted_) {
    peer = std::move(from.peer);
    received = from.received;
    lane = from.lane;
    again = from.again;
    deferred = from.deferred;
}

ServerRequest& ParkedRequest::resume() noexcept {
    const auto& loop = static_cast<RequestOrigin&>(*peer).originLoop;
    auto& request = loop.inLoop() ? *dispatcher_.pools_[loop.index()]->take(dispatcher_) : *new ServerRequest(dispatcher_);
    request.texts_ = packed_.unpack(request.view);
    request.binding_ = std::move(binding_);
    request.cell_ = cell_;
    request.queueWaitUs_ = queueWaitUs_;
    request.admitted_ = admitted_;
    request.peer = std::move(peer);
    request.received = received;
    request.lane = lane;
    request.again = again;
    request.deferred = deferred;
    LaneContext::replaceRunning(*this, request);
    delete this;
    return request;
}

void ParkedRequest::redispatch() noexcept {
    auto& loop = static_cast<RequestOrigin&>(*peer).originLoop;
    if (loop.inLoop()) return resume().redispatch();
    loop.post(*this);
}

void ParkedRequest::run() noexcept {
    // At once: if many come back together, each is answered and its room used by the next.
    auto& request = resume();
    request.again = true;
    request.deferred = false;
    request.dispatcher_.again(request);
}

}  // namespace patchbay::kernel

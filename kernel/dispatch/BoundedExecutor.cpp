#include "dispatch/BoundedExecutor.h"

#include "dispatch/Dispatcher.h"
#include "dispatch/LaneContext.h"

#include <algorithm>
#include <pthread.h>
#include <string>
#include <utility>

namespace patchbay::kernel {

namespace {

constexpr std::string_view kFlowControl = "broker busy, start flow control for a while, period in queue: ";

}  // namespace

BoundedExecutor::BoundedExecutor(plugin::ExecutorSpec spec, plugin::Lane firstLane, std::size_t bytesMax, const Clock& clock)
    : spec_(std::move(spec)), firstLane_(firstLane), bytesMax_(bytesMax), clock_(clock) {
    try {
        for (std::uint32_t i = 0; i < spec_.threads; ++i) threads_.emplace_back([this, i] { work(i); });
    } catch (...) {
        stop();
        throw;
    }
}

BoundedExecutor::~BoundedExecutor() { stop(); }

std::optional<std::string> BoundedExecutor::push(ServerRequest& request) noexcept {
    request.queuedAt_ = clock_.now();
    request.next_ = nullptr;
    const auto bytes = request.frameBytes();
    bool wake = false;
    {
        const std::lock_guard lock(mutex_);
        if (stopping_) return ", executor " + spec_.name + " is stopping";
        // One request may always wait, however large it is.
        const bool tooMany = queued_ >= spec_.queueCapacity;
        if (tooMany || (queued_ > 0 && queuedBytes_ + bytes > bytesMax_)) {
            ++refusedFull_;
            const auto oldest = first_ == nullptr ? std::chrono::nanoseconds(0) : request.queuedAt_ - first_->queuedAt_;
            return ", queue of executor " + spec_.name + " is full, the oldest waited " +
                   std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(oldest).count()) + "ms: " +
                   (tooMany ? std::to_string(queued_) + " requests, limit executor." + spec_.name + ".queueCapacity " +
                                  std::to_string(spec_.queueCapacity)
                            : std::to_string(queuedBytes_) + " bytes, limit executorQueueBytesMax " + std::to_string(bytesMax_));
        }
        if (last_ != nullptr) last_->next_ = &request;
        else first_ = &request;
        last_ = &request;
        ++queued_;
        queuedBytes_ += bytes;
        if (request.binding_.cells != nullptr) request.binding_.cells->queued.fetch_add(1, std::memory_order_relaxed);
        wake = waiting_ > waking_;
        if (wake) ++waking_;
    }
    if (wake) filled_.notify_one();
    return std::nullopt;
}

service::ExecutorStats BoundedExecutor::stats() const {
    service::ExecutorStats out;
    out.name = spec_.name;
    out.threads = spec_.threads;
    out.queueCapacity = spec_.queueCapacity;
    out.queueBytesMax = bytesMax_;
    out.maxQueueWaitMs = spec_.maxQueueWait.count();
    out.refusedLate = refusedLate_.load(std::memory_order_relaxed);
    const auto now = clock_.now();
    const std::lock_guard lock(mutex_);
    // It may have come since the look at the clock.
    if (first_ != nullptr && first_->queuedAt_ < now) {
        out.headWaitMs = std::chrono::duration_cast<std::chrono::milliseconds>(now - first_->queuedAt_).count();
    }
    out.queued = queued_;
    out.queuedBytes = queuedBytes_;
    out.refusedFull = refusedFull_;
    return out;
}

ServerRequest* BoundedExecutor::take(std::size_t most) noexcept {
    if (first_ == nullptr) return nullptr;
    const auto left = [this](const ServerRequest& request) {
        queuedBytes_ -= request.frameBytes();
        if (request.binding_.cells != nullptr) request.binding_.cells->queued.fetch_sub(1, std::memory_order_relaxed);
    };
    auto* const head = first_;
    auto* tail = head;
    std::size_t count = 1;
    left(*head);
    while (count < most && tail->next_ != nullptr) {
        tail = tail->next_;
        left(*tail);
        ++count;
    }
    first_ = tail->next_;
    if (first_ == nullptr) last_ = nullptr;
    tail->next_ = nullptr;
    queued_ -= count;
    return head;
}

void BoundedExecutor::work(std::uint32_t thread) noexcept {
    ::pthread_setname_np(::pthread_self(), ("x-" + spec_.name + "-" + std::to_string(thread)).substr(0, 15).c_str());
    LaneContext lane(firstLane_ + thread, nullptr);
    std::size_t sinceBatch = 0;
    while (true) {
        ServerRequest* request = nullptr;
        std::size_t left = 0;
        {
            std::unique_lock lock(mutex_);
            if (stopping_) break;
            request = take(std::clamp(queued_ / spec_.threads, std::size_t{1}, kBatchMax));
            left = queued_;
            if (request == nullptr && sinceBatch == 0) {
                ++waiting_;
                filled_.wait(lock);
                --waiting_;
                if (waking_ > 0) --waking_;
                continue;
            }
        }
        const auto now = clock_.now();
        while (request != nullptr) {
            auto* const next = std::exchange(request->next_, nullptr);
            if (waitedTooLong(*request, now)) {
                refuse(*request, now, left);
            } else if (request->origin().isCrowded() && !request->view.isOneway()) [[unlikely]] {
                request->dispatcher_.holdBack(*request);
            } else {
                request->lane = lane.lane;
                request->queueWaitUs_ = std::chrono::duration_cast<std::chrono::microseconds>(now - request->queuedAt_).count();
                request->dispatcher_.runProcessor(*request, lane);
            }
            ++sinceBatch;
            request = next;
        }
        // Whoever waits for the end of a batch waits no longer than for one batch of requests.
        if (left == 0 || sinceBatch >= kBatchMax) {
            lane.endBatch();
            sinceBatch = 0;
        }
    }
    lane.endBatch();
}

bool BoundedExecutor::waitedTooLong(const ServerRequest& request, MonotonicTime now) const noexcept {
    return spec_.maxQueueWait.count() > 0 && now - request.queuedAt_ > spec_.maxQueueWait;
}

void BoundedExecutor::refuse(ServerRequest& request, MonotonicTime now, std::size_t queued) noexcept {
    refusedLate_.fetch_add(1, std::memory_order_relaxed);
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - request.queuedAt_).count();
    plugin::Response response(protocol::ResponseCode::SystemBusy,
                              "[TIMEOUT_CLEAN_QUEUE]" + std::string(kFlowControl) + std::to_string(waited) +
                                  "ms, size of queue: " + std::to_string(queued) + ", executor " + spec_.name + ", limit executor." + spec_.name +
                                  ".maxQueueWait " + std::to_string(spec_.maxQueueWait.count()) + "ms");
    request.answer(response);
}

bool BoundedExecutor::expire(MonotonicTime now) noexcept {
    while (true) {
        ServerRequest* request = nullptr;
        std::size_t left = 0;
        {
            const std::lock_guard lock(mutex_);
            if (first_ == nullptr) return false;
            if (!waitedTooLong(*first_, now)) return true;
            left = queued_;
            request = take(1);
        }
        refuse(*request, now, left);
    }
}

bool BoundedExecutor::armExpiry() noexcept {
    if (spec_.maxQueueWait.count() <= 0 || expiryArmed_.load(std::memory_order_seq_cst)) return false;
    return !expiryArmed_.exchange(true, std::memory_order_seq_cst);
}

void BoundedExecutor::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    filled_.notify_all();
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    ServerRequest* left = nullptr;
    {
        const std::lock_guard lock(mutex_);
        left = take(queued_);
    }
    while (left != nullptr) {
        auto* const request = std::exchange(left, left->next_);
        plugin::Response response(protocol::ResponseCode::SystemBusy, "the broker is stopping");
        request->answer(response);
    }
}

}  // namespace patchbay::kernel

#include "Delivery.h"

#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <chrono>

namespace patchbay::plugins::delay {

namespace {

/// Levels whose messages have to be delivered: the configured ones, and those that an earlier configuration had.
std::int32_t levelCount(const LevelContext& context, const DelayLevels& levels) {
    std::int32_t count = levels.max();
    const auto offsets = context.progress.offsets();
    if (!offsets.empty()) count = std::max(count, offsets.rbegin()->first);
    for (const auto& queue : context.store.queues()) {
        if (queue.topic == protocol::kTopicSchedule) count = std::max(count, queue.queueId + 1);
    }
    return count;
}

}  // namespace

Delivery::Delivery(LevelContext context, plugin::Timers& timers, const DelayLevels& levels) : context_(context), timers_(timers) {
    const std::int32_t count = levelCount(context_, levels);
    LevelOwner& owner = *this;
    for (std::int32_t level = 1; level <= count; ++level) {
        levels_.push_back(std::make_unique<LevelQueue>(context_, owner, level, levels.delayMs(level)));
    }
}

void Delivery::start() {
    {
        const std::lock_guard lock(mutex_);
        running_ = true;
    }
    context_.store.addListener(*this);
    lookSoon();
}

void Delivery::drain() noexcept {
    const std::lock_guard lock(mutex_);
    running_ = false;
}

void Delivery::stop() noexcept {
    drain();
    context_.store.removeListener(*this);
    std::unique_lock lock(mutex_);
    allEnded_.wait(lock, [this] { return appends_ == 0; });
    for (auto& level : levels_) level->settle();
}

void Delivery::appended(std::span<const service::AppendedRecord> records) noexcept {
    for (const auto& record : records) {
        if (record.topic != protocol::kTopicSchedule) continue;
        const auto queue = static_cast<std::size_t>(record.queueId);
        if (queue < levels_.size() && levels_[queue]->wake()) lookSoon();
    }
}

void Delivery::appendStarts() noexcept {
    const std::lock_guard lock(mutex_);
    ++appends_;
}

void Delivery::appendEnded() noexcept {
    // Everything under the lock, the signal too: stop() destroys this object next.
    const std::lock_guard lock(mutex_);
    post();
    if (--appends_ == 0) allEnded_.notify_all();
}

void Delivery::lookSoon() noexcept {
    const std::lock_guard lock(mutex_);
    post();
}

void Delivery::post() noexcept {
    if (posted_ || !running_) return;
    posted_ = true;
    timers_.post([this] { look(); });
}

void Delivery::look() {
    {
        const std::lock_guard lock(mutex_);
        posted_ = false;
        if (!running_) return;
    }
    MonotonicTime earliest = MonotonicTime::max();
    for (auto& level : levels_) earliest = std::min(earliest, level->step());
    arm(earliest);
}

void Delivery::arm(MonotonicTime at) {
    const MonotonicTime now = context_.clock.now();
    if (at == timerAt_ && at > now) return;
    timers_.cancel(timer_);
    timerAt_ = at;
    if (at == MonotonicTime::max()) return;
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(at - now);
    timer_ = timers_.after(std::max(wait, std::chrono::milliseconds(0)), [this] {
        timerAt_ = MonotonicTime::max();
        lookSoon();
    });
}

}  // namespace patchbay::plugins::delay

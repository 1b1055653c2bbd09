#include "Delivery.h"

#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <chrono>

namespace patchbay::plugins::delay {

namespace {

// As late as a message may be, for the sake of those that come with it.
constexpr std::chrono::milliseconds kTogether{15};
// So many in one append are a stream.
constexpr std::size_t kMany = 4;

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
    for (std::int32_t level = 1; level <= count; ++level) {
        levels_.push_back(std::make_unique<LevelQueue>(context_, level, levels.delayMs(level)));
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
    {
        std::unique_lock lock(mutex_);
        allEnded_.wait(lock, [this] { return !appending_; });
    }
    settle();
}

void Delivery::appended(std::span<const service::AppendedRecord> records) noexcept {
    for (const auto& record : records) {
        if (record.topic != protocol::kTopicSchedule) continue;
        const auto queue = static_cast<std::size_t>(record.queueId);
        if (queue < levels_.size() && levels_[queue]->wake()) lookSoon();
    }
}

void Delivery::done() noexcept {
    ended_.store(true, std::memory_order_release);
    // Everything under the lock, the signal too: stop() is followed by destruction.
    const std::lock_guard lock(mutex_);
    appending_ = false;
    if (lookWhenDone_) post();
    allEnded_.notify_all();
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
    settle();
    while (!inFlight_) {
        if (context_.clock.now() < notBefore_) return arm(notBefore_);
        MonotonicTime again = MonotonicTime::max();
        if (!gather(again)) return arm(again);
        if (!submit()) return;
        settle();
        // Other plugins have their turn.
        if (full_) return lookSoon();
    }
}

bool Delivery::submit() {
    inFlight_ = true;
    failure = Status::ok();
    {
        const std::lock_guard lock(mutex_);
        appending_ = true;
        lookWhenDone_ = false;
    }
    context_.store.append(*this);
    const std::lock_guard lock(mutex_);
    lookWhenDone_ = appending_;
    return !appending_;
}

bool Delivery::gather(MonotonicTime& again) {
    items.clear();
    shares_.clear();
    full_ = false;
    for (auto& level : levels_) {
        const std::size_t before = items.size();
        const MonotonicTime next = level->gather(items);
        shares_.push_back(items.size() - before);
        if (items.size() == before) again = std::min(again, next);
        full_ = full_ || level->isFull();
    }
    notBefore_ = items.size() >= kMany && !full_ ? context_.clock.now() + kTogether : MonotonicTime{};
    return !items.empty();
}

void Delivery::settle() {
    if (!inFlight_ || !ended_.exchange(false, std::memory_order_acquire)) return;
    inFlight_ = false;
    const std::span<const service::AppendItem> all(items);
    std::size_t at = 0;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
        if (shares_[i] > 0) levels_[i]->settle(all.subspan(at, shares_[i]), failure);
        at += shares_[i];
    }
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

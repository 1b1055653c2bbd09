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
std::int32_t levelCount(const LevelContext& context, const protocol::DelayLevels& levels) {
    std::int32_t count = levels.max();
    const auto offsets = context.progress.offsets();
    if (!offsets.empty()) count = std::max(count, offsets.rbegin()->first);
    for (const auto& queue : context.store.queues()) {
        if (queue.topic == protocol::kTopicSchedule) count = std::max(count, queue.queueId + 1);
    }
    return count;
}

}  // namespace

Delivery::Delivery(LevelContext context, plugin::Timers& timers, const protocol::DelayLevels& levels)
    : context_(context), loop_(context.store, timers, [this] { look(); }) {
    const std::int32_t count = levelCount(context_, levels);
    for (std::int32_t level = 1; level <= count; ++level) {
        levels_.push_back(std::make_unique<LevelQueue>(context_, level, levels.delayMs(level)));
    }
}

void Delivery::start() {
    loop_.start();
    context_.store.addListener(*this);
    loop_.lookSoon();
}

void Delivery::drain() noexcept { loop_.drain(); }

void Delivery::stop() noexcept {
    drain();
    context_.store.removeListener(*this);
    loop_.stop();
    settle();
}

void Delivery::appended(std::span<const service::AppendedRecord> records) noexcept {
    for (const auto& record : records) {
        if (record.topic != protocol::kTopicSchedule) continue;
        const auto queue = static_cast<std::size_t>(record.queueId);
        if (queue < levels_.size() && levels_[queue]->wake()) loop_.lookSoon();
    }
}

void Delivery::look() {
    settle();
    while (!loop_.isOnItsWay()) {
        if (context_.clock.now() < notBefore_) return lookAt(notBefore_);
        MonotonicTime again = MonotonicTime::max();
        if (!gather(again)) return lookAt(again);
        if (!loop_.submit()) return;
        settle();
        // Other plugins have their turn.
        if (full_) return loop_.lookSoon();
    }
}

bool Delivery::gather(MonotonicTime& again) {
    auto& items = loop_.items;
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
    if (!loop_.takeEnd()) return;
    const std::span<const service::AppendItem> all(loop_.items);
    std::size_t at = 0;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
        if (shares_[i] > 0) levels_[i]->settle(all.subspan(at, shares_[i]), loop_.failure);
        at += shares_[i];
    }
}

}  // namespace patchbay::plugins::delay

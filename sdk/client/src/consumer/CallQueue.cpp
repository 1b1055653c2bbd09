#include "consumer/CallQueue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace patchbay::client {

using namespace std::chrono_literals;

namespace {

// What waking a thread costs, about.
constexpr std::chrono::nanoseconds kLong = 10us;
// The outcome of a call that took so long is told at once; so are this many of shorter ones.
constexpr std::chrono::nanoseconds kVeryLong = 200us;
constexpr std::size_t kOutcomesMax = 64;
constexpr int kMemory = 8;

}  // namespace

std::size_t CallQueue::add(const QueuePtr& queue, std::vector<ReceivedMessage> messages) {
    const auto calls = (messages.size() + batchMax_ - 1) / batchMax_;
    auto portion = std::make_shared<const Portion>(Portion{queue, std::move(messages)});
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(portion));
    return admit(usual_ >= kLong ? calls : helpers_ == 0 ? 1 : 0);
}

std::size_t CallQueue::admit(std::size_t wanted) noexcept {
    const auto more = std::min(wanted, helpersMax_ - helpers_);
    helpers_ += more;
    return more;
}

std::optional<CallQueue::Call> CallQueue::take(MonotonicTime now) {
    if (waiting_.empty()) {
        --helpers_;
        return std::nullopt;
    }
    const auto& portion = waiting_.front();
    Call call{portion, next_, std::min(batchMax_, portion->messages.size() - next_), now};
    running_.push_back(call);
    next_ += call.count;
    if (next_ == portion->messages.size()) {
        waiting_.pop_front();
        next_ = 0;
    }
    return call;
}

std::optional<CallQueue::Call> CallQueue::next(MonotonicTime now) {
    const std::lock_guard lock(mutex_);
    return take(now);
}

CallQueue::Then CallQueue::ended(Outcome outcome, MonotonicTime now, bool yields, std::optional<Call>& call) {
    const std::chrono::nanoseconds took = now - outcome.call.since;
    const std::lock_guard lock(mutex_);
    std::erase_if(running_, [&](const Call& one) { return one.portion == outcome.call.portion && one.at == outcome.call.at; });
    usual_ += (took - usual_) / kMemory;
    outcomes_.push_back(std::move(outcome));
    Then then;
    if (yields) {
        call.reset();
        --helpers_;
        then.helpers = admit(waiting_.empty() ? 0 : 1);
    } else {
        call = take(now);
    }
    then.tell = !told_ && (!call || took >= kVeryLong || outcomes_.size() >= kOutcomesMax);
    told_ = told_ || then.tell;
    return then;
}

std::vector<CallQueue::Call> CallQueue::overdue(MonotonicTime since) const {
    std::vector<Call> late;
    const std::lock_guard lock(mutex_);
    std::copy_if(running_.begin(), running_.end(), std::back_inserter(late), [since](const Call& call) { return call.since <= since; });
    return late;
}

std::vector<CallQueue::Outcome> CallQueue::takeOutcomes() {
    const std::lock_guard lock(mutex_);
    told_ = false;
    return std::exchange(outcomes_, {});
}

std::size_t CallQueue::oneMore() {
    const std::lock_guard lock(mutex_);
    return admit(waiting_.empty() ? 0 : 1);
}

bool CallQueue::isIdle() const {
    const std::lock_guard lock(mutex_);
    return waiting_.empty() && helpers_ == 0 && outcomes_.empty();
}

}  // namespace patchbay::client

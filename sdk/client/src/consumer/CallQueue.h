// CallQueue: calls of a concurrent listener, those that wait for a thread and what came of those that were made.
#pragma once

#include "consumer/QueueConsumer.h"
#include "patchbay/base/Clock.h"
#include "patchbay/client/PushConsumer.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace patchbay::client {

/// Any thread. A helper is a thread that makes call after call until none waits. How many there are depends on how long calls take: one is enough for
/// a listener that takes less time than waking another thread; one that blocks gets a thread for each call that waits, up to the limit.
class CallQueue {
public:
    /// Messages that came together.
    struct Portion {
        QueuePtr queue;
        std::vector<ReceivedMessage> messages;
    };
    struct Call {
        std::shared_ptr<const Portion> portion;
        std::size_t at = 0;
        std::size_t count = 0;
        MonotonicTime since{};     ///< when a helper got it
        [[nodiscard]] std::span<const ReceivedMessage> messages() const { return std::span(portion->messages).subspan(at, count); }
    };
    struct Outcome {
        Call call;
        ConsumeResult result = ConsumeResult::Later;
        int delayLevel = 0;
        std::size_t succeeded = SIZE_MAX;
    };
    struct Then {
        bool tell = false;         ///< somebody has to call takeOutcomes()
        std::size_t helpers = 0;   ///< to be started
    };

    CallQueue(std::size_t batchMax, std::size_t helpersMax) noexcept : batchMax_(batchMax), helpersMax_(helpersMax) {}

    /// How many helpers are to be started for them.
    [[nodiscard]] std::size_t add(const QueuePtr& queue, std::vector<ReceivedMessage> messages);
    /// For a helper that begins. Nothing: it ends.
    [[nodiscard]] std::optional<Call> next(MonotonicTime now);
    /// A helper's call has ended; `call` becomes the next one, or nothing: then the helper ends. One that `yields` ends, and is started again if it is needed.
    [[nodiscard]] Then ended(Outcome outcome, MonotonicTime now, bool yields, std::optional<Call>& call);
    /// Calls that are being made since then or longer.
    [[nodiscard]] std::vector<Call> overdue(MonotonicTime since) const;
    [[nodiscard]] std::vector<Outcome> takeOutcomes();
    /// 1 when a call waits, as all helpers take longer than they used to, and there may be another one.
    [[nodiscard]] std::size_t oneMore();
    /// No call waits or is being made, and all outcomes were taken.
    [[nodiscard]] bool isIdle() const;

private:
    [[nodiscard]] std::optional<Call> take(MonotonicTime now);
    [[nodiscard]] std::size_t admit(std::size_t wanted) noexcept;

    const std::size_t batchMax_;
    const std::size_t helpersMax_;
    mutable std::mutex mutex_;
    std::deque<std::shared_ptr<const Portion>> waiting_;
    std::size_t next_ = 0;  // message of the first portion
    std::vector<Call> running_;  // one a helper at most
    std::vector<Outcome> outcomes_;
    std::chrono::nanoseconds usual_{1'000'000};  // of a call; until it is known, a long time
    std::size_t helpers_ = 0;
    bool told_ = false;
};

}  // namespace patchbay::client

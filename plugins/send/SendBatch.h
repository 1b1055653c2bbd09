// SendBatch: the sends of one turn of a lane, on their way through the store.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Plugin.h"
#include "patchbay/plugin/Request.h"
#include "patchbay/plugin/Runtime.h"
#include "patchbay/service/MessageStore.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugins::send {

/// What is the same in every answer of this broker. Owned by the processor.
struct AnswerFacts {
    std::string region;
    bool traceOn;
    const std::atomic<std::int64_t>& bodyBytesMax;
    /// Adds MSG_REGION and TRACE_ON, which every answer to a send carries.
    void write(protocol::FieldList& fields) const;
};

class SendBatchPool;

/// Appended as one batch; answers its requests when the store is done. Owned by the pool before and after, by the store
/// in between. Filled by one lane; done() may run on a thread of the store.
class SendBatch final : public service::AppendBatch {
public:
    explicit SendBatch(SendBatchPool& pool) : pool_(pool) {}

    /// A request and the items that belong to it; uniqueKey and recallHandle must live as long as the batch or the request. queueId is
    /// the one that the producer is told: a message that is put aside first is stored in another.
    void add(plugin::Request request, std::size_t itemCount, std::string_view uniqueKey, bool batch, std::int32_t queueId,
             std::string_view recallHandle = {});
    /// Text that lives until done().
    std::string_view keepText(std::string text) { return texts_.emplace_back(std::move(text)); }
    [[nodiscard]] std::size_t bodyBytes() const noexcept { return bodyBytes_; }
    void countBody(std::size_t bytes) noexcept { bodyBytes_ += bytes; }
    /// Of an empty batch: what refused requests have left behind.
    void dropTexts() noexcept { texts_.clear(); }

    void done() noexcept override;

private:
    friend class SendBatchPool;
    struct Sent {
        plugin::Request request;
        std::string_view uniqueKey;
        std::string_view recallHandle;
        std::uint32_t firstItem;
        std::uint32_t itemCount;
        std::int32_t queueId;
        bool batch;
    };
    void answer(Sent& sent);
    void reset() noexcept;

    SendBatchPool& pool_;
    std::vector<Sent> sent_;
    std::deque<std::string> texts_;  // a deque: handed-out views stay valid
    std::size_t bodyBytes_ = 0;
    std::atomic<MonotonicTime> submittedAt_{};   // zero = it is being filled
    SendBatch* older_ = nullptr;                 // guarded by the pool's lock, like the next
    SendBatch* newer_ = nullptr;
};

/// Batches that are used again. Owned by the processor, outlives all appends. Thread-safe.
class SendBatchPool {
public:
    SendBatchPool(const AnswerFacts& facts, plugin::PluginContext& context)
        : facts_(facts), clock_(context.clock()), log_(context.log()),
          untold_(context.metrics().counter("send_oneway_refused_total", "One-way messages that were refused, which no producer is told.")) {}
    [[nodiscard]] SendBatch* take();
    void giveBack(SendBatch* batch) noexcept;
    /// Returns once the store has given back every batch that was submitted; nothing may be submitted meanwhile.
    void awaitIdle() noexcept;
    [[nodiscard]] const AnswerFacts& facts() const noexcept { return facts_; }
    /// Messages handed to the store and not yet done.
    [[nodiscard]] std::int64_t inFlight() const noexcept { return inFlight_.load(std::memory_order_relaxed); }
    /// How long the oldest batch has been in the store.
    [[nodiscard]] std::chrono::milliseconds oldestWait() noexcept;
    /// A refusal that nobody is told of.
    void untold(const plugin::Request& request, std::string_view remark) noexcept;
    void submitted(SendBatch& batch) noexcept {
        batch.submittedAt_.store(clock_.now(), std::memory_order_relaxed);
        inFlight_.fetch_add(static_cast<std::int64_t>(batch.items.size()), std::memory_order_relaxed);
    }

private:
    const AnswerFacts& facts_;
    const Clock& clock_;
    plugin::Logger& log_;
    plugin::Counter& untold_;
    std::atomic<std::int64_t> inFlight_{0};
    std::mutex mutex_;
    SendBatch* oldest_ = nullptr;   // of those that were taken
    SendBatch* newest_ = nullptr;
    std::condition_variable idle_;
    std::vector<std::unique_ptr<SendBatch>> all_;
    std::vector<SendBatch*> free_;
};

}  // namespace patchbay::plugins::send

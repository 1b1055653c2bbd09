// MemoryStore: a MessageStore without files, for tests of everything that stands on a store.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/service/MessageStore.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::testkit {

/// Keeps everything in memory, and passes the same contract suite as real stores. Owned by the test; the clock must outlive it.
/// Thread-safe. It starts no thread: append() completes a batch before it returns, unless the test holds it back.
class MemoryStore final : public service::MessageStore {
public:
    explicit MemoryStore(const Clock& clock) : clock_(clock) {}

    /// Manual: appended batches stay invisible and unanswered until complete(), as in a store that waits for its disk.
    void setManual(bool manual);
    /// Completes up to `batches` held batches, oldest first; how many there were.
    std::size_t complete(std::size_t batches = SIZE_MAX);
    /// The next `batches` batches are refused with this status and reason.
    void refuse(std::size_t batches, service::AppendStatus status, Status why);
    /// False: reads with hotOnly answer NotResident, as for messages that only the disk has.
    void setResident(bool resident);
    /// False: so they do for any offset, as where the queues themselves were not looked at yet.
    void setLoaded(bool loaded);
    /// True: reads of messages answer Failed, as on a disk that fails.
    void setUnreadable(bool unreadable);
    /// What reads say in ReadResult::farBehind.
    void setFarBehind(bool farBehind);
    /// What it says of itself; a record counts as one message whatever is in it. Before plugins start.
    void setInnerBatches(bool innerBatches) noexcept { innerBatches_ = innerBatches; }

    [[nodiscard]] service::StoreCapabilities capabilities() const override;
    void append(service::AppendBatch& batch) noexcept override;
    void read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
              const service::ReadFilter* filter, service::ReadResult& result) noexcept override;
    [[nodiscard]] service::OffsetRange range(std::string_view topic, std::int32_t queueId) const noexcept override;
    [[nodiscard]] Result<std::int64_t> offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timeMs,
                                               service::Bound bound) const override;
    [[nodiscard]] Result<std::int64_t> storeTimeAt(std::string_view topic, std::int32_t queueId, std::int64_t offset) const override;
    [[nodiscard]] Result<Slice> at(std::int64_t physicalOffset) const override;
    [[nodiscard]] Result<service::KeyHits> findByKey(const service::KeyQuery& query) const override;
    [[nodiscard]] std::vector<service::QueueKey> queues() const override;
    Status deleteTopic(std::string_view topic) override;
    void addListener(service::AppendListener& listener) override;
    void removeListener(service::AppendListener& listener) noexcept override;
    Status flush() override;
    Status trim(std::int64_t physicalOffset) override;
    [[nodiscard]] service::StoreStats stats() const override;

private:
    struct Entry {
        Slice record;
        std::int64_t physicalOffset;
        std::int64_t tagsCode;
        std::int64_t storeTimestamp;
    };
    struct Queue {
        std::deque<Entry> entries;
        std::int64_t min = 0;
        std::int64_t next = 0;  // the offset of the next append; messages that are not visible yet have theirs already
        [[nodiscard]] std::int64_t max() const noexcept { return min + static_cast<std::int64_t>(entries.size()); }
    };
    using QueueName = std::pair<std::string, std::int32_t>;
    struct Held {
        service::AppendBatch* batch;
        std::vector<std::pair<QueueName, Entry>> entries;
    };

    void store(service::AppendItem& item, Held& held);
    void publish(std::unique_lock<std::mutex>& lock);
    void readFrom(const Queue& queue, std::int64_t offset, const service::ReadLimits& limits, const service::ReadFilter* filter,
                  service::ReadResult& result) const;
    [[nodiscard]] const Queue* find(std::string_view topic, std::int32_t queueId) const;
    void index(const Entry& entry);

    const Clock& clock_;

    mutable std::mutex mutex_;
    std::condition_variable idle_;
    std::map<QueueName, Queue> queues_;
    std::map<std::int64_t, Slice> byPhysical_;
    std::multimap<std::string, std::int64_t, std::less<>> byKey_;
    std::set<service::AppendListener*> listeners_;
    std::deque<Held> held_;
    std::size_t allowed_ = 0;  // held batches that complete() lets go, in manual mode
    std::int64_t nextPhysical_ = 0;
    std::int64_t minPhysical_ = 0;
    std::int64_t lastIndexedMs_ = 0;
    std::int64_t lastIndexedPhysical_ = 0;
    std::int64_t appended_ = 0;
    std::int64_t bytes_ = 0;
    std::int64_t refused_ = 0;
    std::int64_t messagesRead_ = 0;
    std::int64_t readsFound_ = 0;
    std::int64_t readsMissed_ = 0;
    service::StoreTimes times_;
    std::size_t refusals_ = 0;
    service::AppendStatus refusalStatus_ = service::AppendStatus::Failed;
    Status refusal_;
    bool manual_ = false;
    bool publishing_ = false;
    bool resident_ = true;
    bool loaded_ = true;
    bool unreadable_ = false;
    bool farBehind_ = false;
    bool innerBatches_ = false;
};

}  // namespace patchbay::testkit

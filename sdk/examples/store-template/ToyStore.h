// ToyStore: all messages in memory, and in one file from which they are read at the start.
#pragma once

#include "ToyLog.h"

#include "patchbay/base/Clock.h"
#include "patchbay/service/MessageStore.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace toy {

/// A complete store for those who want to write one: everything that a broker asks for, nothing that makes it quick or small. The file
/// only grows; what is trimmed leaves the memory. Owned by the plugin; files and clock must outlive it.
/// Threads: one of its own makes all changes, in the order in which they were asked for; everybody else reads.
/// Failure: a batch that cannot be written is refused as a whole; see ToyLog for what happens then.
class ToyStore final : public patchbay::service::MessageStore {
public:
    ToyStore(std::string directory, patchbay::FileSystem& files, const patchbay::Clock& clock, bool syncFlush)
        : directory_(std::move(directory)), files_(files), clock_(clock), syncFlush_(syncFlush), log_(files) {}
    ~ToyStore() override { close(); }

    /// Locks the directory, reads the file and starts the thread.
    patchbay::Status open();
    /// What open() found behind the last whole entry and left out: to be told to the operator.
    [[nodiscard]] std::size_t tornBytes() const noexcept { return log_.tornBytes(); }
    /// Writes what was accepted. Afterwards appends are refused; may be called again.
    void close() noexcept;

    [[nodiscard]] patchbay::service::StoreCapabilities capabilities() const override;
    void append(patchbay::service::AppendBatch& batch) noexcept override;
    void read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const patchbay::service::ReadLimits& limits,
              const patchbay::service::ReadFilter* filter, patchbay::service::ReadResult& result) noexcept override;
    [[nodiscard]] patchbay::service::OffsetRange range(std::string_view topic, std::int32_t queueId) const noexcept override;
    [[nodiscard]] patchbay::Result<std::int64_t> offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timeMs,
                                                         patchbay::service::Bound bound) const override;
    [[nodiscard]] patchbay::Result<std::int64_t> storeTimeAt(std::string_view topic, std::int32_t queueId, std::int64_t offset) const override;
    [[nodiscard]] patchbay::Result<patchbay::Slice> at(std::int64_t physicalOffset) const override;
    [[nodiscard]] patchbay::Result<patchbay::service::KeyHits> findByKey(const patchbay::service::KeyQuery& query) const override;
    [[nodiscard]] std::vector<patchbay::service::QueueKey> queues() const override;
    patchbay::Status deleteTopic(std::string_view topic) override;
    void addListener(patchbay::service::AppendListener& listener) override;
    void removeListener(patchbay::service::AppendListener& listener) noexcept override;
    patchbay::Status flush() override;
    patchbay::Status trim(std::int64_t physicalOffset) override;
    [[nodiscard]] patchbay::service::StoreStats stats() const override;

private:
    /// Keeps its record alive by itself, so that readers may hold it longer than the store does.
    struct Entry {
        patchbay::Slice record;
        std::int64_t physicalOffset;
        std::int64_t storeTime;
        std::int64_t tagsCode;
    };
    struct Queue {
        std::deque<Entry> entries;
        std::int64_t min = 0;
        [[nodiscard]] std::int64_t max() const noexcept { return min + static_cast<std::int64_t>(entries.size()); }
    };
    using QueueName = std::pair<std::string, std::int32_t>;
    struct Work {
        patchbay::service::AppendBatch* batch = nullptr;
        std::function<patchbay::Status()> command{};
    };

    // The store's own thread.
    void loop() noexcept;
    void write(patchbay::service::AppendBatch& batch);
    void encode(patchbay::service::AppendItem& item);
    void publish();
    patchbay::Status change(ToyLog::Kind kind, const std::string& text);

    patchbay::Status run(std::function<patchbay::Status()> command);
    void replay(ToyLog::Kind kind, std::string_view text);
    void readFrom(const Queue& queue, std::int64_t offset, const patchbay::service::ReadLimits& limits,
                  const patchbay::service::ReadFilter* filter, patchbay::service::ReadResult& result) const;
    // With the lock held.
    void insert(patchbay::Slice record, std::int64_t tagsCode);
    void forgetTopic(std::string_view topic);
    void forgetBelow(std::int64_t physicalOffset);
    [[nodiscard]] const Queue* find(std::string_view topic, std::int32_t queueId) const;

    const std::string directory_;
    patchbay::FileSystem& files_;
    const patchbay::Clock& clock_;
    const bool syncFlush_;
    std::unique_ptr<patchbay::FileLock> lock_;
    ToyLog log_;                                         // the store's own thread, once it runs
    std::map<QueueName, std::int64_t> next_;             // offsets of the batch that is being written; its own thread
    std::int64_t physical_ = 0;                          // the same for physical offsets
    std::string group_;                                  // of that batch, as it is written
    std::vector<std::pair<patchbay::Slice, std::int64_t>> records_;  // of that batch, with their tags codes

    std::thread thread_;
    std::mutex workMutex_;
    std::condition_variable wake_;
    std::deque<Work> work_;
    bool running_ = false;

    std::mutex listenersMutex_;                          // held while listeners are told: removeListener() waits for them
    std::vector<patchbay::service::AppendListener*> listeners_;

    mutable std::mutex mutex_;                           // guards all below
    std::map<QueueName, Queue> queues_;
    std::map<std::int64_t, patchbay::Slice> byPhysical_;
    std::int64_t minPhysical_ = 0;
    std::int64_t nextPhysical_ = 0;
    patchbay::service::StoreStats counts_;
    patchbay::Status health_;
};

}  // namespace toy

// SqliteStore: messages in one SQLite database.
#pragma once

#include "QueueTable.h"
#include "Readers.h"
#include "StoreSettings.h"
#include "Writer.h"

#include "patchbay/base/Clock.h"
#include "patchbay/base/FileSystem.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Runtime.h"
#include "patchbay/service/MessageStore.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::plugins::sqlite {

/// The store over one directory, which it locks while open. Owned by the plugin; settings, files, clock and log must outlive it.
/// Thread-safe from open() to close(); before and after, appends are refused and nothing is found. Writes happen on one thread
/// of its own, reads on the caller's: what the tail cache holds is answered from memory, the rest by a connection of the pool.
class SqliteStore final : public service::MessageStore {
public:
    SqliteStore(StoreSettings settings, FileSystem& files, const Clock& clock, plugin::Logger& log);
    ~SqliteStore() override;

    /// Busy when another process has the directory; Corrupt, Unsupported, Io with what to do.
    Status open();
    void close() noexcept;
    /// Starts making durable what is not yet; does not wait.
    void flushSoon() { writer_.flushSoon(); }
    /// Trims what is too old or too much. Waits for the writer.
    void removeOld();
    /// How long messages are kept from the next removal on; 0 = for ever. Any thread.
    void setRetention(std::chrono::milliseconds retention) noexcept { retentionMs_.store(retention.count(), std::memory_order_relaxed); }
    /// Where messages are counted that readers asked for and the file could not give. Before open(); must outlive the store.
    void countLostIn(plugin::Counter& counter) noexcept { lost_ = &counter; }
    /// Keeps the broker's own files. Waits for the writer.
    Status keepConfig(const ConfigSnapshot& snapshot) { return writer_.keepConfig(snapshot); }
    /// Names of the files that are kept, and the text of one.
    [[nodiscard]] Result<std::vector<std::string>> keptFiles() const { return readers_.with([](Reader& reader) { return reader.keptFiles(); }); }
    [[nodiscard]] Result<std::string> keptFile(const std::string& name) const { return readers_.with([&](Reader& reader) { return reader.keptFile(name); }); }

    [[nodiscard]] service::StoreCapabilities capabilities() const override;
    void append(service::AppendBatch& batch) noexcept override { writer_.append(batch); }
    void read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
              const service::ReadFilter* filter, service::ReadResult& result) noexcept override;
    [[nodiscard]] service::OffsetRange range(std::string_view topic, std::int32_t queueId) const noexcept override;
    [[nodiscard]] Result<std::int64_t> offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timeMs,
                                               service::Bound bound) const override;
    [[nodiscard]] Result<std::int64_t> storeTimeAt(std::string_view topic, std::int32_t queueId, std::int64_t offset) const override;
    [[nodiscard]] Result<Slice> at(std::int64_t physicalOffset) const override;
    [[nodiscard]] Result<service::KeyHits> findByKey(const service::KeyQuery& query) const override;
    [[nodiscard]] std::vector<service::QueueKey> queues() const override;
    Status deleteTopic(std::string_view topic) override { return writer_.deleteTopic(topic); }
    void addListener(service::AppendListener& listener) override { writer_.addListener(listener); }
    void removeListener(service::AppendListener& listener) noexcept override { writer_.removeListener(listener); }
    Status flush() override { return writer_.flush(); }
    Status trim(std::int64_t physicalOffset) override { return writer_.trim(physicalOffset); }
    [[nodiscard]] service::StoreStats stats() const override;

private:
    Status refuseEmptiedFile(const std::string& path) const;
    /// Wall time that no step of the wall clock has made later.
    [[nodiscard]] std::int64_t nowMs() const noexcept;
    void readFrom(QueueState& queue, std::int64_t offset, const service::ReadLimits& limits, const service::ReadFilter* filter,
                  service::ReadResult& result) noexcept;
    /// Says what a read could not give.
    void report(QueueState& queue, const PassedOver& passed);
    /// False when the tail does not reach back to result.nextOffset.
    static bool readTail(QueueState& queue, std::int64_t end, const service::ReadLimits& limits, const service::ReadFilter* filter,
                         service::ReadResult& result);

    const StoreSettings settings_;
    FileSystem& files_;
    const Clock& clock_;
    plugin::Logger& log_;
    std::unique_ptr<FileLock> lock_;
    QueueTable queues_;
    mutable Readers readers_;
    Writer writer_;
    const std::int64_t wallAtStart_;
    const MonotonicTime startedAt_;
    std::atomic<std::int64_t> retentionMs_;
    std::atomic<std::int64_t> messagesRead_{0};
    std::atomic<std::int64_t> readsFound_{0};
    service::StoreTimes times_;   // of reads
    std::atomic<std::int64_t> readsMissed_{0};
    plugin::Counter ownLost_;
    plugin::Counter* lost_ = &ownLost_;
};

}  // namespace patchbay::plugins::sqlite

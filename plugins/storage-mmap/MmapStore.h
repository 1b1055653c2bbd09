// MmapStore: RocketMQ's own files as a MessageStore.
#pragma once

#include "Appender.h"
#include "Checkpoint.h"
#include "CommitLog.h"
#include "DeletedTopics.h"
#include "ConsumeQueueTable.h"
#include "DiskGuard.h"
#include "Layout.h"
#include "KeyIndex.h"
#include "LogFlusher.h"
#include "LogReader.h"
#include "Publisher.h"
#include "QueueFiles.h"
#include "QueueLoader.h"
#include "ReadWindows.h"
#include "Reader.h"
#include "Retention.h"
#include "StoreConfig.h"
#include "StoreState.h"
#include "Upkeep.h"

#include "patchbay/base/Clock.h"
#include "patchbay/base/FileSystem.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/service/MessageStore.h"

#include <memory>
#include <mutex>
#include <optional>

namespace patchbay::mmapstore {

/// Purpose: puts the parts together and opens and closes them in the right order; decides nothing itself.
/// Owned by the plugin, or by a test. open() and close() by one thread while nobody else calls; everything else any thread.
/// Threads: one for the log's flush (two under SYNC_FLUSH), one that prepares files, one for consume queues and checkpoint,
/// one for the key index, and one after a start that looks at the queues' files.
/// Failure: what cannot be understood at open() refuses the start; later failures are in stats().health.
class MmapStore final : public service::MessageStore {
public:
    MmapStore(FileSystem& files, const Clock& clock, plugin::Logger& log, StoreOptions options);
    ~MmapStore() override;

    /// Locks the directory, recovers, starts the threads. Busy when another process has it. Once.
    Status open();
    /// Flushes everything and leaves the directory as after a clean stop.
    void close() noexcept;
    [[nodiscard]] StoreTunables& tunables() noexcept { return tunables_; }
    /// As flush(), and consume queues and checkpoint are durable as well: what the queues' thread does now and then.
    Status settle();
    /// Looks once for a commit-log file that may go, as the files thread does now and then; how long that has time again.
    std::chrono::milliseconds clean() { return retention_.turn(); }

    [[nodiscard]] service::StoreCapabilities capabilities() const override;
    void append(service::AppendBatch& batch) noexcept override { appender_.append(batch); }
    void read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
              const service::ReadFilter* filter, service::ReadResult& result) noexcept override {
        reader_.read(topic, queueId, offset, limits, filter, result);
    }
    [[nodiscard]] service::OffsetRange range(std::string_view topic, std::int32_t queueId) const noexcept override {
        return reader_.range(topic, queueId);
    }
    [[nodiscard]] Result<std::int64_t> offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timeMs,
                                               service::Bound bound) const override {
        return reader_.offsetAt(topic, queueId, timeMs, bound);
    }
    [[nodiscard]] Result<std::int64_t> storeTimeAt(std::string_view topic, std::int32_t queueId,
                                                  std::int64_t offset) const override {
        return reader_.storeTimeAt(topic, queueId, offset);
    }
    [[nodiscard]] Result<Slice> at(std::int64_t physicalOffset) const override { return reader_.at(physicalOffset); }
    [[nodiscard]] Result<service::KeyHits> findByKey(const service::KeyQuery& query) const override;
    [[nodiscard]] std::vector<service::QueueKey> queues() const override { return queues_.keys(); }
    Status deleteTopic(std::string_view topic) override;
    void addListener(service::AppendListener& listener) override { publisher_.add(listener); }
    void removeListener(service::AppendListener& listener) noexcept override { publisher_.remove(listener); }
    Status flush() override;
    Status trim(std::int64_t physicalOffset) override;
    [[nodiscard]] service::StoreStats stats() const override;

private:
    Status openFiles();
    Status lockRoot();
    Status recover(Checkpoint& checkpoint);
    /// Up to where a crash left all files of the log with their bytes; INT64_MAX: everywhere.
    [[nodiscard]] std::int64_t durableEnd(const Checkpoint& checkpoint) const;
    [[nodiscard]] std::string newIndexName() const;
    Status writeAbort();
    void stopThreads() noexcept;
    void minMoved();
    void markStop() noexcept;
    void addRuntimeInfo(service::StoreStats& stats) const;
    /// 0 when there is no such time.
    [[nodiscard]] std::int64_t msSince(const std::atomic<MonotonicTime>& time) const noexcept;

    FileSystem& files_;
    const Clock& clock_;
    plugin::Logger& log_;
    const StoreOptions options_;
    const Layout layout_;
    StoreTunables tunables_;
    StoreState state_;
    CommitLog commitLog_;
    ReadWindows windows_;
    LogReader records_;
    QueueFiles queueFiles_;
    QueueEnvironment environment_;
    ConsumeQueueTable queues_;
    Publisher publisher_;
    LogFlusher flusher_;
    Upkeep upkeep_;
    DiskGuard guard_;
    Retention retention_;
    std::mutex deletions_;  // one deletion of a topic at a time
    DeletedTopics deleted_;
    Appender appender_;
    Reader reader_;
    mutable KeyIndex index_;
    QueueLoader loader_;
    std::unique_ptr<FileLock> lock_;
    bool running_ = false;
};

}  // namespace patchbay::mmapstore

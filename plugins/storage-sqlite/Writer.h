// Writer: the one thread that changes the database, and what becomes of a batch.
#pragma once

#include "DiskReserve.h"
#include "LogCopier.h"
#include "MessageTables.h"
#include "QueueTable.h"
#include "StoreSettings.h"

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/service/MessageStore.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace patchbay::plugins::sqlite {

/// Counters that any thread may read.
struct WriterStats {
    std::atomic<std::int64_t> minPhysical{0};
    std::atomic<std::int64_t> nextPhysical{0};
    std::atomic<std::int64_t> newestStoreTime{0};
    std::atomic<std::int64_t> messages{0};
    std::atomic<std::int64_t> bytes{0};
    std::atomic<std::int64_t> behindFlushBytes{0};
    std::atomic<std::int64_t> refused{0};
    service::StoreTimes times;   ///< reads are the store's
};

/// Takes batches in order, writes as many as are waiting in one transaction, makes them visible, tells listeners, answers.
/// When nothing waits a batch is written at once; while a transaction is committed the next group gathers. Owned by the store.
/// append(), run() and post() by any thread. A failed transaction is undone whole: its batches are refused and leave no gap.
/// stop() writes what was accepted before.
class Writer {
public:
    Writer(QueueTable& queues, const StoreSettings& settings, FileSystem& files, const Clock& clock, plugin::Logger& log)
        : queues_(queues), settings_(settings), clock_(clock), log_(log), tail_(settings.tailCacheBytes), copier_(log),
          disk_(files, clock, settings.directory, settings.diskFreeBytesMin) {}
    ~Writer() { stop(); }

    /// Opens the database, fills the queue table and starts the thread.
    Status start(const std::string& path);
    void stop() noexcept;

    void append(service::AppendBatch& batch) noexcept;

    /// On the writer's thread, after everything accepted before; waits for the outcome. Unavailable when stopped.
    Status flush();
    Status deleteTopic(std::string_view topic);
    Status trim(std::int64_t physicalOffset);
    Status keepConfig(const ConfigSnapshot& snapshot);
    /// Starts flushing what is not durable, without waiting.
    void flushSoon();

    void addListener(service::AppendListener& listener);
    void removeListener(service::AppendListener& listener) noexcept;

    [[nodiscard]] const WriterStats& stats() const noexcept { return stats_; }
    /// How long the oldest batch has been here that is not answered; 0 when there is none.
    [[nodiscard]] std::chrono::milliseconds oldestWait() const;
    /// Why the last transaction failed; Ok after one that succeeded.
    [[nodiscard]] Status health() const;

private:
    using Command = std::function<Status()>;
    struct Work {
        service::AppendBatch* batch = nullptr;
        Command command{};
        const char* what = "";   ///< the command is for, in lines of the log
    };
    /// A message that was written and is not visible yet. Its item may be gone by then.
    struct Written {
        QueueState* queue;
        std::int64_t queueOffset;
        TailEntry entry;
        std::string_view properties;
        bool queued;
    };

    void loop() noexcept;
    /// Waits for those who were answered just now to send again, so that they share a sync with those who wait already: at most a quarter
    /// of what the last commit took, and not for more messages than were under way then.
    void gather(std::unique_lock<std::mutex>& lock);
    /// The next command, or as many batches as make a group; false at the end.
    bool take(std::vector<service::AppendBatch*>& group, Work& command);
    Status run(const char* what, Command command);
    void enqueue(Work work);
    [[nodiscard]] MonotonicTime oldest() const noexcept;   // with the lock held
    void refuse(service::AppendBatch& batch, service::AppendStatus status, const Status& why);
    [[nodiscard]] static std::size_t bytesOf(const service::AppendBatch& batch) noexcept;

    void writeGroup(std::vector<service::AppendBatch*>& group);
    Status writeBatch(service::AppendBatch& batch);
    Status writeItem(service::AppendItem& item);
    [[nodiscard]] service::AppendStatus check(const service::AppendItem& item) const noexcept;
    Result<QueueState*> queueFor(std::string_view topic, std::int32_t queueId);
    /// Makes visible what was written; `durable` says whether it is on the disk.
    void publish(bool durable);
    void undo(std::vector<service::AppendBatch*>& group, const Status& why);

    Status flushNow();
    Status dropNow(const std::string& topic);
    Status trimNow(std::int64_t physicalOffset);
    void upkeep();
    /// Ok, or why nothing may be written at the moment.
    Status mayWrite();
    Status roomInLog();
    /// Lets the write-ahead log be copied into the database when it is long; says when a reader keeps it from being reused.
    void tendLog();
    /// True when what the copier has left of so long a log is little enough to be copied by the writer, or the log is too long to wait.
    [[nodiscard]] bool mayEndLog(std::int64_t bytes) const;
    void remember(const Status& health);

    QueueTable& queues_;
    const StoreSettings& settings_;
    const Clock& clock_;
    plugin::Logger& log_;
    WriterStats stats_;
    std::thread thread_;

    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Work> work_;
    MonotonicTime writingSince_{};          // when the oldest batch came that is being written; zero = none is
    std::size_t queuedBytes_ = 0;
    std::size_t queuedMessages_ = 0;
    std::size_t wanted_ = 0;                // queued messages for which the writer waits; 0 = any batch
    bool waiting_ = false;
    bool running_ = false;

    mutable std::mutex healthMutex_;
    Status health_;

    std::mutex listenersMutex_;  // held while listeners are told, so that removeListener() waits for them
    std::vector<service::AppendListener*> listeners_;

    // The writer's thread only.
    std::unique_ptr<MessageTables> tables_;
    TailCache tail_;
    LogCopier copier_;
    DiskReserve disk_;
    std::int64_t nextCheckpoint_ = 0;       // bytes of the write-ahead log at which it is copied
    std::vector<Ref<QueueState>> created_;  // queues of the open transaction
    std::vector<Written> written_;
    std::vector<service::AppendedRecord> appended_;
    std::int64_t nextPhysical_ = 0;
    std::int64_t groupTime_ = 0;            // store time of the open transaction's messages
    std::int64_t illegal_ = 0;              // messages of the open transaction's batches that can never be stored
    std::size_t outstanding_ = 0;           // messages that were not answered when the last group was written
    std::chrono::nanoseconds commitTime_{0};
    bool removalsPending_ = false;
    bool removalsPaused_ = false;           // they failed; a group that can be written some time later takes them up again
    MonotonicTime removalsAgain_{};
};

}  // namespace patchbay::plugins::sqlite

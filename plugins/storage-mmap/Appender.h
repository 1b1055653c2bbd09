// Appender: the write path: numbers, encodes and writes the messages of a batch.
#pragma once

#include "AppendWork.h"
#include "ConsumeQueueTable.h"
#include "DiskGuard.h"
#include "LogFlusher.h"
#include "Publisher.h"
#include "StoreConfig.h"
#include "StoreState.h"
#include "Upkeep.h"

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/protocol/message/MessageRecord.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::mmapstore {

/// Purpose: one lock, one buffer, one write a batch (two where it crosses the end of a file).
/// Owned by the store; any thread; calls are serialised by its lock, which is held for the write to the page cache and never
/// for a sync. Under ASYNC_FLUSH messages become visible here, otherwise the flusher publishes them.
/// Failure: nothing of the batch is visible or acknowledged, numbers and positions are taken back, and what was written of it
/// is zeroed before anything else is written, so that a crash cannot bring it back.
class Appender {
public:
    struct Parts {
        const StoreOptions& options;
        const StoreTunables& tunables;
        const Clock& clock;
        plugin::Logger& log;
        CommitLog& commitLog;
        ConsumeQueueTable& queues;
        StoreState& state;
        Publisher& publisher;
        LogFlusher& flusher;
        Upkeep& upkeep;
        DiskGuard& guard;
    };
    explicit Appender(const Parts& parts) noexcept : p_(parts) {}

    void append(service::AppendBatch& batch) noexcept;
    /// From now on everything is accepted, or refused.
    void open() noexcept { setOpen(true); }
    void close() noexcept { setOpen(false); }
    /// Runs `action` while no batch is under way.
    template <typename Action>
    auto exclusively(Action action) {
        const std::lock_guard lock(mutex_);
        return action();
    }

private:
    void setOpen(bool open) noexcept;
    /// A line in the log when a full disk begins to hold messages up, and one when it is over.
    void noteDisk(const Status& outcome) noexcept;
    /// Whether what holds messages up is over.
    bool retry();
    /// Ok, or why nothing can be written now.
    Status admit(std::int64_t nowMs);
    /// Without the lock: looks at the files of queues that were not used since the start. What fails is said later.
    void loadQueues(const service::AppendBatch& batch) const;
    [[nodiscard]] service::AppendStatus check(const service::AppendItem& item, std::string& why) const;
    /// Checks a group that begins at `from`, returns one past its end; marks all of it when it is refused.
    std::size_t checkGroup(service::AppendBatch& batch, std::size_t from, std::size_t& bytes, std::size_t& groups) const;
    void encode(service::AppendBatch& batch, AppendWork& work, std::int64_t now);
    /// Whether the group's queue can be used; it is then the one of the last run of `work`.
    bool findQueue(service::AppendBatch& batch, std::size_t from, std::size_t to, AppendWork& work);
    /// The list of names of further queues that the message goes to as well; empty for nearly all.
    [[nodiscard]] std::string_view furtherNames(const service::AppendItem& item) const noexcept;
    Status findFurther(std::string_view names);
    /// What is stored in the place of an item's own properties, because the store changes them.
    struct Texts {
        std::string properties;
        std::string brokerProperties;
        bool changed = false;
    };
    struct Further {
        Ref<ConsumeQueue> queue;
        std::int64_t offset = -1;
    };
    /// Gives the message its offset, and finds out its size.
    void number(service::AppendItem& item, AppendWork& work, Texts& texts);
    [[nodiscard]] protocol::RecordFields fieldsOf(const service::AppendItem& item, const Texts& texts) const noexcept;
    /// Bytes that number() may add to the properties.
    [[nodiscard]] std::size_t addedBytesMax(const service::AppendItem& item) const noexcept;
    void encodeItem(service::AppendItem& item, AppendWork& work, const Texts& texts, std::int64_t position, std::int64_t now);
    void endFile(AppendWork& work, std::int64_t& position);
    Status write(const AppendWork& work);
    void takeBack(service::AppendBatch& batch, const AppendWork& work, service::AppendStatus status, const Status& why) noexcept;
    Status clearAbandoned();
    void commit(AppendWork& work) noexcept;

    const Parts p_;
    std::mutex mutex_;
    bool open_ = false;            // guarded by mutex_, like everything below
    bool diskFull_ = false;        // and the log says so
    MonotonicTime nextRetry_{};
    AppendWork reused_;            // ASYNC_FLUSH
    std::vector<Texts> texts_;     // of a group, while it is encoded
    std::vector<Further> further_;  // of a group, each queue once
    std::int64_t lastRecord_ = 0;
    std::int64_t abandonedFrom_ = 0;  // bytes of a failed batch that are still to be zeroed
    std::int64_t abandonedTo_ = 0;
};

}  // namespace patchbay::mmapstore

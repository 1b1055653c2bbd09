// MessageTables: every change of the database, as prepared statements.
#pragma once

#include "ConfigSnapshot.h"
#include "Database.h"
#include "LogBundling.h"
#include "MessageRow.h"
#include "Stamps.h"
#include "StoreSettings.h"
#include "TailCache.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::plugins::sqlite {

/// What the file says at start.
struct LoadedState {
    std::vector<Ref<QueueState>> queues;
    std::int64_t minPhysical = 0;
    std::int64_t nextPhysical = 0;
    std::int64_t newestStoreTime = 0;
    bool removalsPending = false;
};

/// The writer's connection. Owned by Writer, used by its thread alone (by the opening thread before that). A failed call leaves
/// an open transaction to rollback(). Nothing here is visible to readers before commit().
class MessageTables {
public:
    /// Opens the file, makes or checks the schema, and sets the journal up.
    static Result<MessageTables> open(const std::string& path, const StoreSettings& settings);
    Result<LoadedState> load();

    Status begin();
    Status commit();
    /// Nothing when there was no begin() since the last commit().
    void rollback() noexcept;

    /// The new row's id.
    Result<std::int64_t> addQueue(std::string_view topic, std::int32_t queueId);
    /// Adds a message with all offsets assigned. `properties` is the whole text, as stored; `bodyCrc` is what its record says.
    Status insert(const service::AppendItem& item, std::int64_t queueRef, std::string_view properties, std::int32_t bodyCrc);

    /// Takes a topic's queues away; removeSome() removes the messages.
    Status dropTopic(std::string_view topic);
    /// The first offset of a queue whose message lies at or after a physical offset, in [queue.min, queue.next].
    Result<std::int64_t> firstAtOrAfter(const QueueState& queue, std::int64_t physicalOffset);
    Status setQueueOffsets(std::int64_t queueRef, std::int64_t min, std::int64_t next);
    Status setTrimmed(std::int64_t minPhysical, std::int64_t nextPhysical);
    /// Removes a part of what was trimmed or dropped, in a transaction of its own; false when nothing is left.
    Result<bool> removeSome(std::int64_t minPhysical);
    /// Gives a part of the unused pages back to the file system; false when there is no need.
    Result<bool> shrinkSome();

    /// Whether commits from now on wait for the disk; between transactions.
    Status setWaiting(bool waits);
    /// Makes all earlier commits durable; commits wait for the disk afterwards as they did before.
    Status flush();

    /// Bytes in the write-ahead log since it was last begun anew.
    [[nodiscard]] std::int64_t walBytes() const noexcept;
    /// Copies what it may of the write-ahead log into the database; readers and their snapshots are never waited for.
    Status checkpoint();
    /// Copies all of it and empties it; Busy when a reader is in the way, without waiting for it.
    Status emptyLog();

    /// Takes over what has changed in consumer groups, and which configuration files are gone. In a transaction of its own.
    Status keepConfig(const ConfigSnapshot& snapshot);
    /// The same for the text of a file.
    Status keepFile(const std::string& name, const std::string& text, std::int64_t savedMs);

private:
    Status prepareAll();
    Status loadStamps();
    Status sayLogLimit(std::int64_t bytes);
    /// The stamp of a message, made when it is worth it; null for none.
    Result<const Stamp*> stampFor(const service::AppendItem& item, std::string_view properties);
    Status insertKeys(const service::AppendItem& item, const IndexedProperties& indexed);
    Result<std::int64_t> removeRows(Statement& select, std::int64_t key);
    Status replaceOffsets(const ConfigSnapshot& snapshot);
    Status forgetFiles(const std::vector<std::string>& names);

    std::chrono::milliseconds busyTimeout_{0};
    bool waiting_ = false;                   // commits wait for the disk
    std::unique_ptr<LogBundling> bundling_;  // outlives the connection
    std::int64_t pageBytes_ = 0;
    std::unique_ptr<int> walPages_;  // SQLite's callback writes to it; must not move
    Stamps stamps_;
    std::size_t stampsBefore_ = 0;   // before the open transaction
    bool begun_ = false;             // also when SQLite has taken the transaction back itself
    std::int64_t transactions_ = 0;
    Database database_;
    Statement insertMessage_;
    Statement insertKey_;
    Statement insertStamp_;
    Statement insertQueue_;
    Statement dropQueues_;
    Statement deleteQueues_;
    Statement physicalFrom_;
    Statement setQueue_;
    Statement setMeta_;
    Statement trimmedRows_;
    Statement droppedRows_;
    Statement droppedQueue_;
    Statement forgetDropped_;
    Statement deleteMessage_;
    Statement deleteKey_;
    HostText bornHost_;
    HostText storeHost_;
};

}  // namespace patchbay::plugins::sqlite

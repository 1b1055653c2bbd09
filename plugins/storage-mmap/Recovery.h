// Recovery: finds the end of the log and makes the consume queues fit it, before anything else happens.
#pragma once

#include "Checkpoint.h"
#include "CommitLog.h"
#include "ConsumeQueueTable.h"
#include "DeletedTopics.h"
#include "LogScan.h"
#include "StopMark.h"
#include "StoreConfig.h"

#include "patchbay/base/Clock.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace patchbay::mmapstore {

/// Purpose: what RocketMQ does at a start (normal exit and after a crash), with its quirks that lose messages left out:
/// a queue that lacks units, or is not as the last clean stop left it, is rebuilt from the oldest file whatever the exit was; what
/// lies behind a cut is named, and saved when there are whole messages in it.
/// Lives for one start; one thread, and some more to look at queues. Work is bounded by what came after the checkpoint; only
/// damage leads to a scan of all. What takes longer than a second says how far it is. After a crash everything that was found is
/// durable when it returns.
class Recovery {
public:
    struct Outcome {
        std::int64_t end = 0;                ///< where the next record goes
        std::int64_t lastRecord = 0;         ///< where the last one starts
        std::int64_t lastStoreTime = 0;
        bool clean = true;
        std::int64_t looked = 0;             ///< bytes of the log that had to be looked at
        bool dropped = false;                ///< the checkpoint is gone: a further crash would lead to a look at all of it
    };

    Recovery(FileSystem& files, const Clock& clock, plugin::Logger& log, const StoreOptions& options, const Layout& layout, CommitLog& commitLog,
             ConsumeQueueTable& queues, QueueEnvironment& environment, const DeletedTopics& deleted) noexcept
        : files_(files), clock_(clock), log_(log), options_(options), layout_(layout), commitLog_(commitLog), queues_(queues), env_(environment),
          deleted_(deleted) {}

    /// The log has been opened, the table too. `touched` gets the queues that have units to be written.
    [[nodiscard]] Result<Outcome> run(const Checkpoint& checkpoint, std::vector<Ref<ConsumeQueue>>& touched);
    /// What the last clean stop left, when this start follows it and nothing else wrote meanwhile.
    [[nodiscard]] const StopMark* mark() const noexcept { return mark_ ? &*mark_ : nullptr; }

private:
    struct Counts {
        std::int64_t records = 0;
        std::int64_t added = 0;
        std::int64_t replaced = 0;
        std::int64_t skipped = 0;
    };
    using QueueId = std::pair<std::string, std::int32_t>;

    [[nodiscard]] std::int64_t chooseStart(const Checkpoint& checkpoint) const;
    /// Whether a whole record that knows its place starts there.
    [[nodiscard]] bool isRecordAt(std::int64_t position) const;
    /// Whether what the scan found is what was written.
    [[nodiscard]] bool isSound(const LogScan& scan) const noexcept;
    /// Names what lies behind the end of the log in its last file; saves it when whole records are in it.
    Result<bool> nameCut();
    [[nodiscard]] Result<std::int64_t> dataEnd(File& file, std::int64_t from) const;
    [[nodiscard]] Result<std::int64_t> findRecord(File& file, std::int64_t from, std::int64_t to) const;
    Status save(const File& from, std::int64_t begin, std::int64_t end, const std::string& to);
    /// Compares the queues with the mark; those that differ begin anew, and are complete again after a rebuild.
    Status checkQueues();
    /// Queues that lack messages which no record after the checkpoint would tell of. After a crash the mark is out of date, but the
    /// queues that it names had these messages, and a directory without its first file had more.
    void findMissing();
    Status rebuildIncomplete(std::vector<Ref<ConsumeQueue>>& touched);
    void progress(std::string_view what, std::int64_t position, std::int64_t from, std::int64_t to);
    Status findEnd(std::int64_t from);
    /// Looks at every record from `from` on. With `only`, at those of these queues, which then may begin anywhere.
    Status rebuild(std::int64_t from, const std::set<QueueId>* only, std::vector<Ref<ConsumeQueue>>& touched);
    /// A message's place in a queue; a message may have several.
    struct Place {
        std::string_view topic;
        std::int32_t queueId;
        std::int64_t offset;
        std::int32_t messages = 1;
    };
    Status restore(const protocol::RecordView& record, const Place& place, bool fromOldest, bool listed,
                   std::vector<Ref<ConsumeQueue>>& touched);
    [[nodiscard]] std::vector<Place> placesOf(const protocol::RecordView& record) const;
    /// What earlier lives left behind the ends of the queues is gone afterwards.
    /// Those whose files do not fit together are set aside and begin anew.
    Status clearQueues();
    Status replaceQueue(const QueueId& id, const Status& reason);
    /// A killed process left what was read here in the page cache, and nobody knows which of it reached the disk: from now on the
    /// checkpoint may name any of it, and numbers behind it are given out.
    Status syncFound();

    FileSystem& files_;
    const Clock& clock_;
    plugin::Logger& log_;
    const StoreOptions& options_;
    const Layout& layout_;
    CommitLog& commitLog_;
    ConsumeQueueTable& queues_;
    QueueEnvironment& env_;
    const DeletedTopics& deleted_;
    Outcome outcome_;
    Counts counts_;
    bool noQueues_ = false;
    std::set<QueueId> incomplete_;
    std::map<QueueId, std::int64_t> beginsAt_;  // of those that begin anew: offsets below it were given out
    std::optional<StopMark> mark_;
    std::vector<const StopMark::Queue*> changed_;  // into mark_
    std::uint32_t steps_ = 0;
    MonotonicTime begun_{};
    MonotonicTime said_{};
};

/// The tags code of a message as RocketMQ builds it: the hash of its tags, or the time of delivery for delay levels.
[[nodiscard]] std::int64_t tagsCodeOf(const protocol::RecordView& record, const protocol::DelayLevels& levels) noexcept;

}  // namespace patchbay::mmapstore

// Recovery: finds the end of the log and makes the consume queues fit it, before anything else happens.
#pragma once

#include "Checkpoint.h"
#include "CommitLog.h"
#include "ConsumeQueueTable.h"
#include "DeletedTopics.h"
#include "LogScan.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace patchbay::mmapstore {

/// Purpose: what RocketMQ does at a start (normal exit and after a crash), with its quirks that lose messages left out:
/// a queue that lacks units is rebuilt from the oldest file whatever the exit was, and what lies behind a cut is zeroed.
/// Lives for one start; one thread. Work is bounded by the files from the checkpoint on; only damage leads to a scan of all.
class Recovery {
public:
    struct Outcome {
        std::int64_t end = 0;                ///< where the next record goes
        std::int64_t lastRecord = 0;         ///< where the last one starts
        std::int64_t lastStoreTime = 0;
        bool clean = true;
    };

    Recovery(FileSystem& files, plugin::Logger& log, const Layout& layout, CommitLog& commitLog, ConsumeQueueTable& queues,
             QueueEnvironment& environment, const DeletedTopics& deleted) noexcept
        : files_(files), log_(log), layout_(layout), commitLog_(commitLog), queues_(queues), env_(environment),
          deleted_(deleted) {}

    /// The log has been opened, the table too. `touched` gets the queues that have units to be written.
    [[nodiscard]] Result<Outcome> run(const Checkpoint& checkpoint, std::vector<Ref<ConsumeQueue>>& touched);

private:
    struct Counts {
        std::int64_t records = 0;
        std::int64_t added = 0;
        std::int64_t replaced = 0;
        std::int64_t skipped = 0;
    };
    using QueueId = std::pair<std::string, std::int32_t>;

    [[nodiscard]] std::int64_t chooseStart(const Checkpoint& checkpoint) const;
    Status findEnd(std::int64_t from);
    /// Looks at every record from `from` on. With `only`, at those of these queues, which then may begin anywhere.
    Status rebuild(std::int64_t from, const std::set<QueueId>* only, std::vector<Ref<ConsumeQueue>>& touched);
    Status restore(const protocol::RecordView& record, bool fromOldest, bool listed, std::vector<Ref<ConsumeQueue>>& touched);
    /// What earlier lives left behind the ends of the queues is gone for good afterwards.
    Status clearQueues();

    FileSystem& files_;
    plugin::Logger& log_;
    const Layout& layout_;
    CommitLog& commitLog_;
    ConsumeQueueTable& queues_;
    QueueEnvironment& env_;
    const DeletedTopics& deleted_;
    Outcome outcome_;
    Counts counts_;
    bool noQueues_ = false;
    std::set<QueueId> incomplete_;
};

/// The tags code of a message as RocketMQ builds it: the hash of its tags, or the time of delivery for delay levels.
[[nodiscard]] std::int64_t tagsCodeOf(const protocol::RecordView& record) noexcept;

}  // namespace patchbay::mmapstore

#include "Recovery.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/util/Hash.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace patchbay::mmapstore {

using protocol::RecordCheck;
using protocol::RecordView;

namespace {

constexpr std::int64_t kOffsetMax = std::int64_t{1} << 50;  // larger queue offsets are nonsense

// RocketMQ's default levels: 1s 5s 10s 30s, 1m to 10m, 20m 30m 1h 2h.
constexpr std::array<std::int64_t, 18> kDelayLevelSeconds = {1,   5,   10,  30,  60,  120, 180,  240,  300,
                                                             360, 420, 480, 540, 600, 1200, 1800, 3600, 7200};

bool isDispatched(std::int32_t sysFlag) noexcept {
    const std::int32_t type = protocol::transactionType(sysFlag);
    return type == protocol::kSysFlagNotTransactional || type == protocol::kSysFlagCommit;
}

}  // namespace

std::int64_t tagsCodeOf(const RecordView& record) noexcept {
    if (record.topic == protocol::kTopicSchedule) {
        const std::string_view text = protocol::findProperty(record.properties, protocol::kPropertyDelayLevel);
        std::int64_t level = 0;
        (void)std::from_chars(text.data(), text.data() + text.size(), level);
        if (level > 0) {
            const auto index = std::min<std::size_t>(static_cast<std::size_t>(level), kDelayLevelSeconds.size()) - 1;
            return record.storeTimestamp + kDelayLevelSeconds[index] * 1000;
        }
    }
    return protocol::tagsCode(protocol::findProperty(record.properties, protocol::kPropertyTags));
}

Result<Recovery::Outcome> Recovery::run(const Checkpoint& checkpoint, std::vector<Ref<ConsumeQueue>>& touched) {
    outcome_.clean = !files_.exists(layout_.abort());
    env_.afterCrash = !outcome_.clean;
    noQueues_ = queues_.size() == 0;
    const std::vector<std::int64_t> segments = commitLog_.segments();
    const std::int64_t from = segments.empty() ? 0 : chooseStart(checkpoint);
    if (!segments.empty()) {
        if (Status found = findEnd(from); !found) return found;
    } else if (!noQueues_) {
        log_.warn("there are consume queues but no commit log", {{"queues", queues_.size()}});
    }
    env_.logEndAtStart = outcome_.end;
    if (Status cut = commitLog_.cut(outcome_.end, !outcome_.clean); !cut) return cut;
    if (!segments.empty()) {
        if (Status built = rebuild(from, nullptr, touched); !built) return built;
        if (!incomplete_.empty()) {
            log_.warn("consume queues lack messages; rebuilding them from the oldest commit-log file",
                      {{"queues", incomplete_.size()}});
            const std::set<QueueId> only = std::exchange(incomplete_, {});
            if (Status built = rebuild(segments.front(), &only, touched); !built) return built;
        }
    }
    if (!outcome_.clean) {
        // What a power cut left behind the end of the log has to go before numbers are given out again.
        if (Status synced = commitLog_.sync(); !synced) return synced;
        if (Status cleared = clearQueues(); !cleared) return cleared;
    }
    log_.info("commit log recovered", {{"clean", outcome_.clean}, {"end", outcome_.end}, {"records", counts_.records},
                                       {"unitsAdded", counts_.added}, {"unitsReplaced", counts_.replaced},
                                       {"recordsWithoutQueue", counts_.skipped}});
    return outcome_;
}

std::int64_t Recovery::chooseStart(const Checkpoint& checkpoint) const {
    const std::vector<std::int64_t> segments = commitLog_.segments();
    if (noQueues_) return segments.front();
    for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
        LogScan scan(commitLog_, *segment, RecordCheck::BodyCrc);
        if (scan.next(*segment + 1) != LogScan::Step::Record || scan.record().storeTimestamp == 0) continue;
        if (scan.record().physicalOffset != *segment) continue;
        if (!outcome_.clean) {
            if (scan.record().storeTimestamp <= checkpoint.safeTime()) return *segment;
            continue;
        }
        // After a clean stop any start of a record near the end will do; the checkpoint names one.
        const std::int64_t hint = checkpoint.confirmPosition;
        if (hint > *segment && hint < *segment + commitLog_.segmentBytes()) {
            LogScan probe(commitLog_, hint, RecordCheck::BodyCrc);
            if (probe.next() == LogScan::Step::Record && probe.position() == hint && probe.record().physicalOffset == hint) {
                return hint;
            }
        }
        return *segment;
    }
    return segments.front();
}

Status Recovery::findEnd(std::int64_t from) {
    LogScan scan(commitLog_, from, RecordCheck::BodyCrc);
    LogScan::Step step = scan.next();
    for (; step == LogScan::Step::Record; step = scan.next()) {
        // Bytes of an earlier life of the file may look right, but they name another place.
        if (scan.record().physicalOffset != scan.position()) break;
        outcome_.lastRecord = scan.position();
        outcome_.lastStoreTime = scan.record().storeTimestamp;
    }
    if (step == LogScan::Step::Failed) return scan.failure();
    outcome_.end = scan.position();
    return Status::ok();
}

Status Recovery::rebuild(std::int64_t from, const std::set<QueueId>* only, std::vector<Ref<ConsumeQueue>>& touched) {
    const bool fromOldest = from == commitLog_.min();
    LogScan scan(commitLog_, from, RecordCheck::Layout);
    LogScan::Step step = LogScan::Step::End;
    while ((step = scan.next(outcome_.end)) == LogScan::Step::Record) {
        const RecordView& record = scan.record();
        if (only != nullptr && !only->contains({std::string(record.topic), record.queueId})) continue;
        ++counts_.records;
        if (Status good = restore(record, fromOldest, only != nullptr, touched); !good) return good;
    }
    return step == LogScan::Step::Failed ? scan.failure() : Status::ok();
}

Status Recovery::restore(const RecordView& record, bool fromOldest, bool listed, std::vector<Ref<ConsumeQueue>>& touched) {
    if (!isDispatched(record.sysFlag)) return Status::ok();
    // Queues of RocketMQ's batch kind are left as they are.
    if ((record.sysFlag & protocol::kSysFlagInnerBatch) != 0 || queues_.isBatchTopic(record.topic)) return Status::ok();
    if (record.queueId < 0 || record.queueOffset < 0 || record.queueOffset > kOffsetMax || record.topic.empty()) {
        ++counts_.skipped;
        return Status::ok();
    }
    if (deleted_.contains(record.topic, record.physicalOffset)) return Status::ok();
    Ref<ConsumeQueue> queue = queues_.find(record.topic, record.queueId);
    if (!queue) {
        // Without a directory a Java broker deleted the topic, unless the crash came before its first write or everything is
        // rebuilt.
        const bool lost = fromOldest || (!outcome_.clean && record.queueOffset == 0);
        if (!lost || (outcome_.clean && !noQueues_)) {
            ++counts_.skipped;
            return Status::ok();
        }
        queue = queues_.obtain(record.topic, record.queueId);
    }
    if (Status loaded = queue->load(); !loaded) {
        ++counts_.skipped;
        return loaded.code() == StatusCode::Corrupt ? Status::ok() : loaded;
    }
    const Unit unit{record.physicalOffset, record.size, tagsCodeOf(record)};
    const Result<ConsumeQueue::Restored> restored = queue->restore(record.queueOffset, unit, fromOldest);
    if (!restored) return restored.error();
    switch (*restored) {
        case ConsumeQueue::Restored::Known: return Status::ok();
        case ConsumeQueue::Restored::Gap:
            if (listed) {
                ++counts_.skipped;
            } else {
                incomplete_.insert({std::string(record.topic), record.queueId});
            }
            return Status::ok();
        case ConsumeQueue::Restored::Added: ++counts_.added; break;
        case ConsumeQueue::Restored::Replaced: ++counts_.replaced; break;
    }
    if (queue->list()) touched.push_back(queue);
    return Status::ok();
}

Status Recovery::clearQueues() {
    for (const Ref<ConsumeQueue>& queue : queues_.all()) {
        // A queue that cannot be understood has been reported and says so to everybody who asks.
        if (Status loaded = queue->load(); !loaded && loaded.code() != StatusCode::Corrupt) return loaded;
        if (Status synced = queue->sync(); !synced) return synced;
    }
    return Status::ok();
}

}  // namespace patchbay::mmapstore

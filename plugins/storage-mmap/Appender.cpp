#include "Appender.h"

#include "InnerBatch.h"
#include "MultiDispatch.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/service/AppendRecord.h"

#include <algorithm>
#include <utility>

namespace patchbay::mmapstore {

using service::AppendBatch;
using service::AppendItem;
using service::AppendStatus;

namespace {

constexpr std::size_t kTopicBytesMax = 127;
constexpr std::size_t kRetryTopicBytesMax = 255;
constexpr std::int64_t kRecordExtraBytes = 65'536;  // a record may be that much longer than the longest body
constexpr std::chrono::milliseconds kRetryInterval{500};
constexpr std::size_t kReusedBytesMax = 2U << 20;

bool isQueued(const AppendItem& item) noexcept { return service::isQueued(item.sysFlag); }

/// A topic is a directory.
bool isUsableName(std::string_view topic) noexcept {
    return !topic.empty() && topic != "." && topic != ".." && topic.find('/') == std::string_view::npos &&
           topic.find('\0') == std::string_view::npos;
}

constexpr std::size_t kOffsetDigitsMax = 19;
constexpr std::string_view kCrcPlace = "0000000000";  // until the record is whole

/// Tells others since when the append lock is held, and since when whoever holds it has been at it.
class Appending {
public:
    Appending(StoreState& state, MonotonicTime begun, MonotonicTime locked) noexcept : state_(state) {
        state_.appendingSince.store(begun, std::memory_order_relaxed);
        state_.lockedSince.store(locked, std::memory_order_relaxed);
    }
    ~Appending() {
        state_.appendingSince.store({}, std::memory_order_relaxed);
        state_.lockedSince.store({}, std::memory_order_relaxed);
    }
    Appending(const Appending&) = delete;
    Appending& operator=(const Appending&) = delete;

private:
    StoreState& state_;
};

bool isInnerBatch(const AppendItem& item) noexcept {
    return (item.sysFlag & protocol::kSysFlagInnerBatch) != 0;
}

}  // namespace

void Appender::setOpen(bool open) noexcept {
    const std::lock_guard lock(mutex_);
    open_ = open;
    lastRecord_ = p_.state.lastRecord.load();
    // Before the first send: who looks at the log of a start wants to see it there.
    if (open) noteDisk(p_.guard.check());
}

void Appender::noteDisk(const Status& outcome) noexcept {
    if (outcome.code() == StatusCode::Full) {
        if (std::exchange(diskFull_, true)) return;
        p_.log.limited(plugin::LogLevel::Error, "messages are refused until there is room on the disk", {{"reason", outcome.message()}});
    } else if (outcome && std::exchange(diskFull_, false)) {
        p_.log.limited(plugin::LogLevel::Info, "there is room on the disk again; messages are accepted");
    }
}

void Appender::append(AppendBatch& batch) noexcept {
    batch.begun = p_.clock.now();
    if (p_.queues.anyUnloaded()) loadQueues(batch);
    std::unique_ptr<AppendWork> pooled = p_.options.syncFlush ? p_.flusher.take() : nullptr;
    {
        const std::lock_guard lock(mutex_);
        const Appending appending(p_.state, batch.begun, p_.clock.now());
        AppendWork& work = pooled ? *pooled : reused_;
        work.clear();
        for (AppendItem& item : batch.items) item.status = AppendStatus::Failed;
        AppendStatus refusal = AppendStatus::ServiceNotAvailable;
        const std::int64_t now = p_.clock.wallMs();
        Status outcome = admit(now);
        if (outcome.code() == StatusCode::Busy) refusal = AppendStatus::Busy;
        if (outcome) encode(batch, work, now);
        if (outcome && !work.chunks.empty()) {
            outcome = write(work);
            if (outcome.code() == StatusCode::Io) refusal = AppendStatus::Failed;
        }
        if (!outcome) {
            takeBack(batch, work, refusal, outcome);
        } else if (!work.chunks.empty()) {
            if (diskFull_) noteDisk(outcome);
            commit(work);
            if (pooled) {
                const bool waits = std::any_of(batch.items.begin(), batch.items.end(), [](const AppendItem& item) {
                    return item.waitStored && isStored(item.status);
                });
                work.batch = waits ? &batch : nullptr;
                p_.flusher.submit(std::move(pooled));
                if (waits) return;
            } else {
                p_.publisher.publish(work);
                p_.flusher.wrote();
                if (work.capacity > kReusedBytesMax) work = AppendWork();
            }
        }
    }
    if (pooled) p_.flusher.giveBack(std::move(pooled));
    p_.state.times.appended(batch.items.size(), p_.clock.now() - batch.begun);
    batch.done();
}

Status Appender::admit(std::int64_t nowMs) {
    if (!open_) return {StatusCode::Unavailable, "the message store is not running"};
    if (!p_.state.writable() && !retry()) return p_.state.health();
    if (Status space = p_.guard.check(); !space) return space;
    if (p_.options.syncFlush && p_.flusher.isFull()) {
        return {StatusCode::Busy, std::to_string(p_.flusher.queuedBytes()) + " bytes wait for the disk, the oldest for " +
                                      std::to_string(p_.flusher.oldestWait().count()) + "ms, limit syncFlushQueuedBytes " +
                                      std::to_string(p_.options.syncFlushQueuedBytes)};
    }
    // The checkpoint's own margin covers small steps.
    if (nowMs + Checkpoint::kMarginMs < p_.state.checkpointTime.load(std::memory_order_relaxed)) p_.upkeep.clockWentBack(nowMs);
    return clearAbandoned();
}

bool Appender::retry() {
    const MonotonicTime now = p_.clock.now();
    if (p_.state.failed() || now < nextRetry_) return false;
    nextRetry_ = now + kRetryInterval;
    return p_.upkeep.retry();
}

void Appender::loadQueues(const AppendBatch& batch) const {
    const auto load = [&](std::string_view topic, std::int32_t queueId) {
        if (const Ref<ConsumeQueue> queue = p_.queues.find(topic, queueId)) (void)queue->load();
    };
    for (const AppendItem& item : batch.items) {
        load(item.topic, item.queueId);
        forEachName(furtherNames(item), [&](std::string_view name) { load(name, 0); });
    }
}

std::string_view Appender::furtherNames(const AppendItem& item) const noexcept {
    if (!p_.options.furtherQueues || !isQueued(item) || isInnerBatch(item) || !hasFurtherQueues(item.topic)) return {};
    return furtherNamesOf(item.properties);
}

AppendStatus Appender::check(const AppendItem& item, std::string& why) const {
    const std::int64_t bodyMax = p_.tunables.maxMessageBytes.load(std::memory_order_relaxed);
    const std::size_t topicMax = protocol::isRetryTopic(item.topic) ? kRetryTopicBytesMax : kTopicBytesMax;
    if (item.topic.size() > topicMax || !isUsableName(item.topic)) {
        why = "the topic is longer than " + std::to_string(topicMax) + " bytes or not fit to be one";
        return AppendStatus::MessageIllegal;
    }
    if (item.queueId < 0) {
        why = "the queue id is negative";
        return AppendStatus::MessageIllegal;
    }
    if (isInnerBatch(item) && p_.queues.kindOf(item.topic) != QueueKind::Batch) {
        why = "topic " + std::string(item.topic) + " has no batch consume queues (queue.type=BatchCQ), and the message is a batch in one record";
        return AppendStatus::MessageIllegal;
    }
    if (isInnerBatch(item) && !innerMessagesOf(item.properties)) {
        why = "INNER_NUM is not a number from 1 to " + std::to_string(kInnerMessagesMax);
        return AppendStatus::MessageIllegal;
    }
    bool unusable = false;
    forEachName(furtherNames(item), [&](std::string_view name) {
        unusable = unusable || !isFurtherName(name) || p_.queues.kindOf(name) != QueueKind::Simple;
    });
    if (unusable || (item.groupSize > 1 && !furtherNames(item).empty())) {
        why = "INNER_MULTI_DISPATCH is not a list of names that begin with %LMQ% and can be directories, or it is that of a batch";
        return AppendStatus::MessageIllegal;
    }
    if (static_cast<std::int64_t>(item.body.size()) > bodyMax) {
        why = "the body has " + std::to_string(item.body.size()) + " bytes, maxMessageSize is " + std::to_string(bodyMax);
        return AppendStatus::MessageIllegal;
    }
    if (item.properties.size() + item.brokerProperties.size() + addedBytesMax(item) > protocol::kRecordPropertiesBytesMax) {
        why = "the properties are longer than " + std::to_string(protocol::kRecordPropertiesBytesMax) + " bytes";
        return AppendStatus::PropertiesSizeExceeded;
    }
    if (static_cast<std::int64_t>(protocol::recordSize(service::recordFields(item))) > bodyMax + kRecordExtraBytes) {
        why = "the record is longer than maxMessageSize and " + std::to_string(kRecordExtraBytes) + " bytes";
        return AppendStatus::MessageIllegal;
    }
    return AppendStatus::PutOk;
}

std::size_t Appender::checkGroup(AppendBatch& batch, std::size_t from, std::size_t& bytes, std::size_t& groups) const {
    const std::size_t to = from + std::max<std::size_t>(1, batch.items[from].groupSize);
    const std::size_t end = std::min(to, batch.items.size());
    AppendStatus status = to == end ? AppendStatus::PutOk : AppendStatus::MessageIllegal;
    std::string why = to == end ? std::string() : "a group is larger than its batch";
    std::size_t size = 0;
    for (std::size_t i = from; i < end && isStored(status); ++i) {
        AppendItem& item = batch.items[i];
        status = check(item, why);
        if (isStored(status) && (item.queueId != batch.items[from].queueId || item.topic != batch.items[from].topic)) {
            status = AppendStatus::MessageIllegal;
            why = "a group is for several queues";
        }
        item.recordBytes = static_cast<std::int32_t>(protocol::recordSize(service::recordFields(item)));
        size += static_cast<std::size_t>(item.recordBytes) + addedBytesMax(item);
    }
    if (isStored(status) && size + protocol::kBlankRecordBytes > static_cast<std::size_t>(p_.options.segmentBytes)) {
        status = AppendStatus::MessageIllegal;
        why = "the group has " + std::to_string(size) + " bytes, mappedFileSizeCommitLog is " +
              std::to_string(p_.options.segmentBytes);
    }
    for (std::size_t i = from; i < end; ++i) batch.items[i].status = status;
    if (isStored(status)) {
        bytes += size;
        ++groups;
    } else {
        batch.failure = {StatusCode::InvalidArgument, why};
        p_.state.refused.fetch_add(static_cast<std::int64_t>(end - from), std::memory_order_relaxed);
    }
    return end;
}

void Appender::encode(AppendBatch& batch, AppendWork& work, std::int64_t now) {
    std::size_t bytes = 0;
    std::size_t groups = 0;
    for (std::size_t i = 0; i < batch.items.size();) i = checkGroup(batch, i, bytes, groups);
    if (groups == 0) return;
    // Each group may be the one that ends a file.
    work.reserve(bytes + groups * protocol::kBlankRecordBytes);
    work.storeTime = now;
    std::int64_t position = p_.state.end.load(std::memory_order_relaxed);
    work.chunks.push_back({position, 0, 0});
    for (std::size_t i = 0; i < batch.items.size();) {
        const std::size_t end = std::min(batch.items.size(), i + std::max<std::size_t>(1, batch.items[i].groupSize));
        if (!isStored(batch.items[i].status) || !findQueue(batch, i, end, work)) {
            i = end;
            continue;
        }
        std::int64_t group = 0;
        if (texts_.size() < end - i) texts_.resize(end - i);
        for (std::size_t k = i; k < end; ++k) {
            number(batch.items[k], work, texts_[k - i]);
            group += batch.items[k].recordBytes;
        }
        if (group + static_cast<std::int64_t>(protocol::kBlankRecordBytes) > p_.commitLog.bytesLeft(position)) {
            endFile(work, position);
        }
        for (std::size_t k = 0; i < end; ++i, ++k) {
            AppendItem& item = batch.items[i];
            encodeItem(item, work, texts_[k], position, now);
            position += item.recordBytes;
            ++work.messages;
        }
    }
    work.chunks.back().to = work.size;
    work.end = position;
    if (work.messages == 0) work.chunks.clear();
}

bool Appender::findQueue(AppendBatch& batch, std::size_t from, std::size_t to, AppendWork& work) {
    const AppendItem& first = batch.items[from];
    further_.clear();
    if (!isQueued(first)) return true;
    const std::string_view names = furtherNames(first);
    if (names.empty() && !work.runs.empty() && work.runs.back().queue->id() == first.queueId && work.runs.back().queue->topic() == first.topic) {
        return true;
    }
    Ref<ConsumeQueue> queue = p_.queues.obtain(first.topic, first.queueId);
    Status loaded = queue->load();
    if (loaded && !names.empty()) loaded = findFurther(names);
    if (!loaded) {
        batch.failure = loaded;
        for (std::size_t i = from; i < to; ++i) batch.items[i].status = AppendStatus::Failed;
        return false;
    }
    work.runs.push_back({std::move(queue), work.records.size(), work.records.size(), 0});
    return true;
}

Status Appender::findFurther(std::string_view names) {
    Status result;
    forEachName(names, [&](std::string_view name) {
        const bool known = std::any_of(further_.begin(), further_.end(), [&](const Further& f) { return f.queue->topic() == name; });
        if (known || !result) return;
        further_.push_back({p_.queues.obtain(name, 0), -1});
        result = further_.back().queue->load();
    });
    return result;
}

std::size_t Appender::addedBytesMax(const AppendItem& item) const noexcept {
    std::size_t bytes = p_.options.appendCrc ? protocol::kPropertyCrcBytes : 0;
    if (isInnerBatch(item)) bytes += protocol::propertyBytes(protocol::kPropertyInnerBase, {}) + kOffsetDigitsMax;
    if (const std::string_view names = furtherNames(item); !names.empty()) {
        const auto count = static_cast<std::size_t>(1 + std::count(names.begin(), names.end(), ','));
        bytes += protocol::propertyBytes(protocol::kPropertyInnerMultiQueueOffset, {}) + count * (kOffsetDigitsMax + 1);
    }
    return bytes > 0 ? bytes + 1 : 0;  // and perhaps a separator
}

protocol::RecordFields Appender::fieldsOf(const AppendItem& item, const Texts& texts) const noexcept {
    protocol::RecordFields fields = service::recordFields(item);
    if (!texts.changed) return fields;
    fields.properties = texts.properties;
    fields.brokerProperties = texts.brokerProperties;
    return fields;
}

void Appender::number(AppendItem& item, AppendWork& work, Texts& texts) {
    texts.changed = p_.options.appendCrc || isInnerBatch(item) || !further_.empty();
    if (texts.changed) {
        texts.properties = item.properties;
        texts.brokerProperties = item.brokerProperties;
    }
    std::string& tail = texts.brokerProperties;
    const auto add = [&](std::string_view name, std::string_view value) {
        if (tail.empty() && protocol::needsPropertySeparator(texts.properties)) tail = protocol::kPropertyEnd;
        protocol::appendProperty(tail, name, value);
    };
    item.queueOffset = 0;
    if (isQueued(item)) {
        AppendWork::Run& run = work.runs.back();
        const std::int32_t messages = isInnerBatch(item) ? innerMessagesOf(item.properties).value_or(1) : 1;
        item.queueOffset = run.queue->reserve(messages);
        run.end = item.queueOffset + messages;
        if (isInnerBatch(item)) add(protocol::kPropertyInnerBase, std::to_string(item.queueOffset));
    }
    if (!further_.empty()) {
        std::string offsets;
        for (Further& further : further_) further.offset = further.queue->reserve();
        forEachName(furtherNames(item), [&](std::string_view name) {
            const auto at = std::find_if(further_.begin(), further_.end(), [&](const Further& f) { return f.queue->topic() == name; });
            offsets.append(offsets.empty() ? "" : ",").append(std::to_string(at->offset));
        });
        add(protocol::kPropertyInnerMultiQueueOffset, offsets);
    }
    if (p_.options.appendCrc) {
        // A message that was stored before has one, of the record that it was then.
        for (std::string* text : {&texts.properties, &tail}) {
            if (text->find(protocol::kPropertyCrc32) != std::string::npos) *text = protocol::withoutProperty(*text, protocol::kPropertyCrc32);
        }
        add(protocol::kPropertyCrc32, kCrcPlace);
    }
    if (texts.changed) item.recordBytes = static_cast<std::int32_t>(protocol::recordSize(fieldsOf(item, texts)));
}

void Appender::encodeItem(AppendItem& item, AppendWork& work, const Texts& texts, std::int64_t position, std::int64_t now) {
    item.physicalOffset = position;
    item.storeTimestamp = now;
    const protocol::RecordFields fields = fieldsOf(item, texts);
    char* const record = work.bytes.get() + work.size;
    const std::size_t size = protocol::encodeRecord(record, fields);
    if (p_.options.appendCrc) protocol::writePropertyCrc(record, size);
    work.size += size;
    if (!isQueued(item)) return;
    // The record ends with topic, two bytes of length, properties.
    const std::size_t properties = fields.properties.size() + fields.brokerProperties.size();
    const char* const end = record + size;
    const std::string_view text(end - properties, properties);
    std::int64_t code = item.tagsCode;
    // Whoever asked for the delay did not know yet when the message is stored, from which on it counts.
    if (item.topic == protocol::kTopicSchedule) code = p_.options.delayLevels.dueMs(text, now).value_or(code);
    work.records.push_back({{end - properties - 2 - item.topic.size(), item.topic.size()}, text,
                            item.queueOffset, position, code, now, item.queueId, item.recordBytes});
    work.runs.back().to = work.records.size();
    for (Further& further : further_) {
        service::AppendedRecord again = work.records.back();
        again.topic = further.queue->topic();
        again.queueId = 0;
        again.queueOffset = further.offset;
        const std::size_t at = work.records.size();
        work.records.push_back(again);
        work.runs.push_back({std::move(further.queue), at, at + 1, further.offset + 1});
    }
    further_.clear();
}

void Appender::endFile(AppendWork& work, std::int64_t& position) {
    const std::int64_t left = p_.commitLog.bytesLeft(position);
    protocol::encodeBlankRecord(work.bytes.get() + work.size, static_cast<std::int32_t>(left));
    work.size += protocol::kBlankRecordBytes;
    work.chunks.back().to = work.size;
    position += left;
    work.chunks.push_back({position, work.size, work.size});
}

Status Appender::write(const AppendWork& work) {
    for (const AppendWork::Chunk& chunk : work.chunks) {
        if (Status rolled = p_.commitLog.roll(p_.commitLog.segmentStart(chunk.position)); !rolled) return rolled;
    }
    for (const AppendWork::Chunk& chunk : work.chunks) {
        const std::string_view bytes(work.bytes.get() + chunk.from, chunk.to - chunk.from);
        if (Status written = p_.commitLog.write(chunk.position, bytes); !written) return written;
    }
    return Status::ok();
}

void Appender::takeBack(AppendBatch& batch, const AppendWork& work, AppendStatus status, const Status& why) noexcept {
    for (AppendItem& item : batch.items) {
        if (item.status != AppendStatus::PutOk && work.size > 0) continue;  // refused for a reason of its own
        item.status = status;
        item.queueOffset = item.physicalOffset = -1;
        item.storeTimestamp = 0;
    }
    for (auto run = work.runs.rbegin(); run != work.runs.rend(); ++run) {
        if (run->to > run->from) run->queue->unreserve(work.records[run->from].queueOffset);
    }
    p_.state.refused.fetch_add(static_cast<std::int64_t>(batch.items.size()), std::memory_order_relaxed);
    batch.failure = p_.guard.explain(why);
    noteDisk(batch.failure);
    if (work.size == 0) return;
    p_.log.limited(plugin::LogLevel::Error, "messages could not be written", {{"error", batch.failure.toString()}});
    abandonedFrom_ = p_.state.end.load(std::memory_order_relaxed);
    abandonedTo_ = work.end;
}

Status Appender::clearAbandoned() {
    static constexpr std::int64_t kZeroBytes = 16'384;
    static constexpr char kZeros[kZeroBytes] = {};
    while (abandonedFrom_ < abandonedTo_) {
        if (!p_.commitLog.isWritable(abandonedFrom_)) break;  // the file was never made
        const std::int64_t part =
            std::min({kZeroBytes, abandonedTo_ - abandonedFrom_, p_.commitLog.bytesLeft(abandonedFrom_)});
        if (Status cleared = p_.commitLog.write(abandonedFrom_, {kZeros, static_cast<std::size_t>(part)}); !cleared) {
            return cleared;
        }
        abandonedFrom_ += part;
    }
    abandonedFrom_ = abandonedTo_ = 0;
    return Status::ok();
}

void Appender::commit(AppendWork& work) noexcept {
    if (!work.records.empty()) lastRecord_ = work.records.back().physicalOffset;
    if (work.chunks.size() > 1) p_.commitLog.settle(work.end);
    p_.state.end.store(work.end, std::memory_order_release);
    for (const AppendWork::Run& run : work.runs) {
        run.queue->append(std::span(work.records).subspan(run.from, run.to - run.from), run.end);
        if (run.queue->list()) p_.upkeep.add(run.queue);
    }
    p_.state.lastRecord.store(lastRecord_, std::memory_order_release);
    p_.state.storeTime.store(work.storeTime, std::memory_order_release);
    p_.state.appended.fetch_add(work.messages, std::memory_order_relaxed);
    p_.state.appendedBytes.fetch_add(static_cast<std::int64_t>(work.size), std::memory_order_relaxed);
    p_.upkeep.appended();
}

}  // namespace patchbay::mmapstore

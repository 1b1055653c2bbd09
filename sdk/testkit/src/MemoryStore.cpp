#include "patchbay/testkit/MemoryStore.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/service/AppendRecord.h"

#include <algorithm>
#include <limits>
#include <thread>

namespace patchbay::testkit {

using service::AppendItem;
using service::AppendStatus;
using service::Bound;
using service::ReadStatus;

namespace {

constexpr std::size_t kBodyBytesMax = 4U << 20;
constexpr std::size_t kTopicBytesMax = 127;
constexpr std::size_t kRetryTopicBytesMax = 255;

AppendStatus check(const AppendItem& item) noexcept {
    const std::size_t topicMax = protocol::isRetryTopic(item.topic) ? kRetryTopicBytesMax : kTopicBytesMax;
    if (item.topic.empty() || item.topic.size() > topicMax || item.queueId < 0) return AppendStatus::MessageIllegal;
    if (item.body.size() > kBodyBytesMax) return AppendStatus::MessageIllegal;
    if (item.properties.size() + item.brokerProperties.size() > protocol::kRecordPropertiesBytesMax) return AppendStatus::PropertiesSizeExceeded;
    return AppendStatus::PutOk;
}

std::string encode(const AppendItem& item) {
    const auto fields = service::recordFields(item);
    std::string record(protocol::recordSize(fields), '\0');
    protocol::encodeRecord(record.data(), fields);
    return record;
}

protocol::RecordView parsed(const Slice& record) {
    protocol::RecordView view;
    PATCHBAY_ASSERT(protocol::RecordView::parse(record.bytes, view, protocol::RecordCheck::Layout) == protocol::RecordStatus::Message);
    return view;
}

std::string indexKey(std::string_view topic, std::string_view key) { return std::string(topic) + '#' + std::string(key); }

/// Length of the group that starts at `first`, cut at the end of the batch.
std::size_t groupLength(const std::vector<AppendItem>& items, std::size_t first) {
    return std::min<std::size_t>(std::max<std::uint16_t>(items[first].groupSize, 1), items.size() - first);
}

thread_local const MemoryStore* publishingHere = nullptr;

}  // namespace

void MemoryStore::setManual(bool manual) {
    std::unique_lock lock(mutex_);
    manual_ = manual;
    allowed_ = 0;
    publish(lock);
}

std::size_t MemoryStore::complete(std::size_t batches) {
    std::unique_lock lock(mutex_);
    allowed_ = std::min(batches, held_.size());
    const std::size_t count = allowed_;
    publish(lock);
    return count;
}

void MemoryStore::refuse(std::size_t batches, AppendStatus status, Status why) {
    const std::lock_guard lock(mutex_);
    refusals_ = batches;
    refusalStatus_ = status;
    refusal_ = std::move(why);
}

void MemoryStore::setLoaded(bool loaded) {
    const std::lock_guard lock(mutex_);
    loaded_ = loaded;
}

void MemoryStore::setUnreadable(bool unreadable) {
    const std::lock_guard lock(mutex_);
    unreadable_ = unreadable;
}

void MemoryStore::setResident(bool resident) {
    const std::lock_guard lock(mutex_);
    resident_ = resident;
}

void MemoryStore::setFarBehind(bool farBehind) {
    const std::lock_guard lock(mutex_);
    farBehind_ = farBehind;
}

service::StoreCapabilities MemoryStore::capabilities() const {
    service::StoreCapabilities can;
    can.name = "memory";
    can.zeroCopyRead = true;
    can.keyIndex = true;
    can.innerBatches = innerBatches_;
    return can;
}

void MemoryStore::store(AppendItem& item, Held& held) {
    const QueueName name(item.topic, item.queueId);
    Queue& queue = queues_[name];
    item.status = AppendStatus::PutOk;
    item.queueOffset = service::isQueued(item.sysFlag) ? queue.next++ : 0;
    item.physicalOffset = nextPhysical_;
    item.storeTimestamp = clock_.wallMs();
    Entry entry{Slice::own(encode(item)), item.physicalOffset, item.tagsCode, item.storeTimestamp};
    item.recordBytes = static_cast<std::int32_t>(entry.record.bytes.size());
    nextPhysical_ += item.recordBytes;
    held.entries.emplace_back(name, std::move(entry));
}

void MemoryStore::append(service::AppendBatch& batch) noexcept {
    batch.begun = clock_.now();
    std::unique_lock lock(mutex_);
    Held held{&batch, {}};
    if (refusals_ > 0) {
        --refusals_;
        refused_ += static_cast<std::int64_t>(batch.items.size());
        for (auto& item : batch.items) item.status = refusalStatus_;
        batch.failure = refusal_;
    } else {
        for (std::size_t first = 0, length = 0; first < batch.items.size(); first += length) {
            length = groupLength(batch.items, first);
            AppendStatus status = AppendStatus::PutOk;
            for (std::size_t i = first; i < first + length && status == AppendStatus::PutOk; ++i) status = check(batch.items[i]);
            for (std::size_t i = first; i < first + length; ++i) {
                if (status == AppendStatus::PutOk) {
                    store(batch.items[i], held);
                } else {
                    batch.items[i].status = status;
                    ++refused_;
                }
            }
        }
    }
    held_.push_back(std::move(held));
    publish(lock);
}

void MemoryStore::index(const Entry& entry) {
    const auto view = parsed(entry.record);
    byPhysical_[entry.physicalOffset] = entry.record;
    if (protocol::transactionType(view.sysFlag) == protocol::kSysFlagRollback) return;
    lastIndexedMs_ = entry.storeTimestamp;
    lastIndexedPhysical_ = entry.physicalOffset;
    const auto unique = protocol::findProperty(view.properties, protocol::kPropertyUniqueKey);
    if (!unique.empty()) byKey_.emplace(indexKey(view.topic, unique), entry.physicalOffset);
    std::string_view keys = protocol::findProperty(view.properties, protocol::kPropertyKeys);
    while (!keys.empty()) {
        const auto end = std::min(keys.find(' '), keys.size());
        if (end > 0 && keys.substr(0, end) != unique) byKey_.emplace(indexKey(view.topic, keys.substr(0, end)), entry.physicalOffset);
        keys.remove_prefix(std::min(end + 1, keys.size()));
    }
}

// One thread at a time publishes; others, and appends made by done(), leave their batches to it.
void MemoryStore::publish(std::unique_lock<std::mutex>& lock) {
    if (publishing_) return;
    publishing_ = true;
    publishingHere = this;
    while (!held_.empty() && (!manual_ || allowed_ > 0)) {
        if (manual_) --allowed_;
        Held held = std::move(held_.front());
        held_.pop_front();
        std::vector<service::AppendedRecord> records;
        for (auto& [name, entry] : held.entries) {
            const auto view = parsed(entry.record);
            Queue& queue = queues_[name];
            const bool queued = service::isQueued(view.sysFlag);
            if (queued && queue.max() != view.queueOffset) continue;  // the topic was deleted meanwhile
            ++appended_;
            bytes_ += view.size;
            index(entry);
            if (!queued) continue;
            records.push_back({view.topic, view.properties, view.queueOffset, entry.physicalOffset, entry.tagsCode,
                               entry.storeTimestamp, view.queueId, view.size});
            queue.entries.push_back(entry);
        }
        const auto listeners = listeners_;
        lock.unlock();
        if (!records.empty()) {
            for (auto* listener : listeners) listener->appended(records);
        }
        times_.appended(held.batch->items.size(), clock_.now() - held.batch->begun);
        held.batch->done();
        lock.lock();
    }
    publishing_ = false;
    publishingHere = nullptr;
    idle_.notify_all();
}

const MemoryStore::Queue* MemoryStore::find(std::string_view topic, std::int32_t queueId) const {
    const auto at = queues_.find(QueueName(topic, queueId));
    return at == queues_.end() ? nullptr : &at->second;
}

void MemoryStore::read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
                       const service::ReadFilter* filter, service::ReadResult& result) noexcept {
    result.clear();
    const std::lock_guard lock(mutex_);
    if (const Queue* queue = find(topic, queueId)) {
        if (limits.hotOnly && !loaded_) result.status = ReadStatus::NotResident;
        else readFrom(*queue, offset, limits, filter, result);
    }
    messagesRead_ += result.messages;
    if (result.status == ReadStatus::Found) ++readsFound_;
    else if (result.status != ReadStatus::NotResident && limits.messagesMax > 0) ++readsMissed_;
}

void MemoryStore::readFrom(const Queue& queue, std::int64_t offset, const service::ReadLimits& limits,
                           const service::ReadFilter* filter, service::ReadResult& result) const {
    static constexpr std::int64_t kScanMax = 800;  // entries that one read looks at for a filter, as RocketMQ
    result.minOffset = queue.min;
    result.maxOffset = queue.max();
    result.farBehind = farBehind_;
    result.nextOffset = offset;
    if (queue.max() == 0) {
        result.status = ReadStatus::QueueEmpty;
        result.nextOffset = 0;
    } else if (offset < queue.min) {
        result.status = ReadStatus::OffsetTooSmall;
        result.nextOffset = queue.min;
    } else if (offset == queue.max()) {
        result.status = ReadStatus::OffsetAtEnd;
    } else if (offset > queue.max()) {
        result.status = ReadStatus::OffsetBeyondEnd;
        result.nextOffset = queue.max();
    } else if (unreadable_) {
        result.status = ReadStatus::Failed;
    } else if (limits.hotOnly && !resident_) {
        result.status = ReadStatus::NotResident;
    } else {
        result.status = ReadStatus::NoMatchedMessage;
        const std::int64_t scanEnd = std::min(queue.max(), offset + std::max<std::int64_t>(kScanMax, limits.messagesMax));
        for (; result.nextOffset < scanEnd; ++result.nextOffset) {
            const Entry& entry = queue.entries[static_cast<std::size_t>(result.nextOffset - queue.min)];
            if (filter != nullptr && !filter->matchesTags(entry.tagsCode)) continue;
            if (filter != nullptr && filter->needsRecord() && !filter->matchesRecord(entry.record.bytes)) continue;
            const auto size = static_cast<std::int64_t>(entry.record.bytes.size());
            if (result.messages > 0 && (result.messages >= limits.messagesMax || result.bytes + size > limits.bytesMax)) break;
            result.status = ReadStatus::Found;
            result.pieces.push_back(entry.record.bytes);
            result.keep.push_back(entry.record.keep);
            result.bytes += size;
            ++result.messages;
        }
    }
}

service::OffsetRange MemoryStore::range(std::string_view topic, std::int32_t queueId) const noexcept {
    const std::lock_guard lock(mutex_);
    const Queue* queue = find(topic, queueId);
    return queue == nullptr ? service::OffsetRange{} : service::OffsetRange{queue->min, queue->max(), true};
}

Result<std::int64_t> MemoryStore::offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timeMs, Bound bound) const {
    const std::lock_guard lock(mutex_);
    const Queue* queue = find(topic, queueId);
    if (queue == nullptr) return 0;
    const auto& entries = queue->entries;
    if (entries.empty()) return queue->max();
    const auto atOrAfter = std::partition_point(entries.begin(), entries.end(), [&](const Entry& e) { return e.storeTimestamp < timeMs; });
    if (bound == Bound::Lower) return queue->min + (atOrAfter - entries.begin());
    const auto after = std::partition_point(atOrAfter, entries.end(), [&](const Entry& e) { return e.storeTimestamp <= timeMs; });
    return queue->min + std::max<std::int64_t>(after - entries.begin() - 1, 0);
}

Result<std::int64_t> MemoryStore::storeTimeAt(std::string_view topic, std::int32_t queueId, std::int64_t offset) const {
    const std::lock_guard lock(mutex_);
    const Queue* queue = find(topic, queueId);
    if (queue == nullptr || offset < queue->min || offset >= queue->max()) return Status(StatusCode::NotFound, "no such message");
    return queue->entries[static_cast<std::size_t>(offset - queue->min)].storeTimestamp;
}

Result<Slice> MemoryStore::at(std::int64_t physicalOffset) const {
    const std::lock_guard lock(mutex_);
    const auto found = byPhysical_.find(physicalOffset);
    if (found == byPhysical_.end()) return Status(StatusCode::NotFound, "no message at " + std::to_string(physicalOffset));
    return found->second;
}

Result<service::KeyHits> MemoryStore::findByKey(const service::KeyQuery& query) const {
    const std::lock_guard lock(mutex_);
    service::KeyHits found;
    found.indexTimestampMs = lastIndexedMs_;
    found.indexPhysicalOffset = lastIndexedPhysical_;
    const auto [begin, end] = byKey_.equal_range(indexKey(query.topic, query.key));
    for (auto at = end; at != begin && static_cast<std::int32_t>(found.hits.size()) < query.messagesMax;) {
        --at;
        const auto record = byPhysical_.find(at->second);
        if (record == byPhysical_.end()) continue;
        const auto view = parsed(record->second);
        if (view.storeTimestamp < query.beginMs || view.storeTimestamp > query.endMs) continue;
        if (query.uniqueKey && protocol::findProperty(view.properties, protocol::kPropertyUniqueKey) != query.key) continue;
        found.hits.push_back({at->second, record->second});
    }
    return found;
}

std::vector<service::QueueKey> MemoryStore::queues() const {
    const std::lock_guard lock(mutex_);
    std::vector<service::QueueKey> all;
    for (const auto& [name, queue] : queues_) all.push_back({name.first, name.second});
    return all;
}

Status MemoryStore::deleteTopic(std::string_view topic) {
    const std::lock_guard lock(mutex_);
    const std::string name(topic);
    const auto begin = queues_.lower_bound(QueueName(name, std::numeric_limits<std::int32_t>::min()));
    const auto end = queues_.upper_bound(QueueName(name, std::numeric_limits<std::int32_t>::max()));
    queues_.erase(begin, end);
    std::erase_if(byPhysical_, [&](const auto& record) { return parsed(record.second).topic == topic; });
    return Status::ok();
}

void MemoryStore::addListener(service::AppendListener& listener) {
    const std::lock_guard lock(mutex_);
    listeners_.insert(&listener);
}

void MemoryStore::removeListener(service::AppendListener& listener) noexcept {
    std::unique_lock lock(mutex_);
    listeners_.erase(&listener);
    if (publishingHere != this) idle_.wait(lock, [this] { return !publishing_; });
}

Status MemoryStore::flush() { return Status::ok(); }

Status MemoryStore::trim(std::int64_t physicalOffset) {
    const std::lock_guard lock(mutex_);
    for (auto& [name, queue] : queues_) {
        while (!queue.entries.empty() && queue.entries.front().physicalOffset < physicalOffset) {
            queue.entries.pop_front();
            ++queue.min;
        }
    }
    byPhysical_.erase(byPhysical_.begin(), byPhysical_.lower_bound(physicalOffset));
    minPhysical_ = std::max(minPhysical_, std::min(physicalOffset, nextPhysical_));
    return Status::ok();
}

service::StoreStats MemoryStore::stats() const {
    const std::lock_guard lock(mutex_);
    service::StoreStats stats;
    stats.minPhysicalOffset = minPhysical_;
    stats.maxPhysicalOffset = nextPhysical_;
    stats.messagesAppended = appended_;
    stats.bytesAppended = bytes_;
    stats.messagesRead = messagesRead_;
    stats.readsFound = readsFound_;
    stats.readsMissed = readsMissed_;
    stats.messagesRefused = refused_;
    stats.times = times_.figures();
    if (!byPhysical_.empty()) stats.earliestMessageMs = parsed(byPhysical_.begin()->second).storeTimestamp;
    stats.queues = static_cast<std::int64_t>(queues_.size());
    return stats;
}

}  // namespace patchbay::testkit

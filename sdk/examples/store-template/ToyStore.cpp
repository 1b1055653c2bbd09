#include "ToyStore.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/util/BigEndian.h"
#include "patchbay/service/AppendRecord.h"

#include <algorithm>
#include <future>
#include <limits>

namespace toy {

using namespace patchbay;
using service::AppendItem;
using service::AppendStatus;
using service::Bound;
using service::ReadStatus;

namespace {

constexpr std::size_t kBodyBytesMax = 4U << 20;
constexpr std::size_t kTopicBytesMax = 127;
constexpr std::size_t kRetryTopicBytesMax = 255;
constexpr std::int64_t kScanMax = 800;  // messages that one read looks at for a filter, as RocketMQ
constexpr std::size_t kTagsCodeBytes = 8;

AppendStatus check(const AppendItem& item) noexcept {
    const std::size_t topicMax = protocol::isRetryTopic(item.topic) ? kRetryTopicBytesMax : kTopicBytesMax;
    if (item.topic.empty() || item.topic.size() > topicMax || item.queueId < 0) return AppendStatus::MessageIllegal;
    if (item.body.size() > kBodyBytesMax) return AppendStatus::MessageIllegal;
    if (item.properties.size() + item.brokerProperties.size() > protocol::kRecordPropertiesBytesMax) return AppendStatus::PropertiesSizeExceeded;
    return AppendStatus::PutOk;
}

AppendStatus refusalOf(const Status& why) noexcept {
    return why.code() == StatusCode::Full || why.code() == StatusCode::Unavailable ? AppendStatus::ServiceNotAvailable : AppendStatus::Failed;
}

protocol::RecordView viewOf(const Slice& record) noexcept {
    protocol::RecordView view;
    static_cast<void>(protocol::RecordView::parse(record.bytes, view, protocol::RecordCheck::Layout));
    return view;
}

}  // namespace

Status ToyStore::open() {
    if (Status made = files_.makeDirectories(directory_); !made) return made;
    auto lock = files_.lock(directory_ + "/lock");
    if (!lock) return lock.error();
    const auto take = [this](ToyLog::Kind kind, std::string_view text) { replay(kind, text); };
    if (Status opened = log_.open(directory_ + "/messages", take); !opened) return opened;
    lock_ = std::move(*lock);
    running_ = true;
    thread_ = std::thread([this] { loop(); });
    return Status::ok();
}

void ToyStore::close() noexcept {
    {
        const std::lock_guard lock(workMutex_);
        running_ = false;
        wake_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
    log_.close();
    lock_.reset();
}

void ToyStore::replay(ToyLog::Kind kind, std::string_view text) {
    const std::lock_guard lock(mutex_);
    switch (kind) {
        case ToyLog::Kind::Group:
            while (!text.empty()) {
                const auto tagsCode = protocol::loadI64(text.data());
                text.remove_prefix(kTagsCodeBytes);
                const auto size = static_cast<std::size_t>(protocol::loadI32(text.data()));  // a record begins with its size
                insert(Slice::copyOf(text.substr(0, size)), tagsCode);
                text.remove_prefix(size);
            }
            break;
        case ToyLog::Kind::TopicDeleted: forgetTopic(text); break;
        case ToyLog::Kind::Trimmed: forgetBelow(protocol::loadI64(text.data())); break;
    }
}

service::StoreCapabilities ToyStore::capabilities() const {
    service::StoreCapabilities can;
    can.name = "toy";
    can.zeroCopyRead = true;
    can.durable = true;
    return can;
}

// ---- changes

void ToyStore::append(service::AppendBatch& batch) noexcept {
    {
        const std::lock_guard lock(workMutex_);
        if (running_) {
            work_.push_back({&batch, {}});
            wake_.notify_one();
            return;
        }
    }
    for (auto& item : batch.items) item.status = AppendStatus::ServiceNotAvailable;
    batch.failure = Status(StatusCode::Unavailable, "the store is stopped");
    batch.done();
}

Status ToyStore::run(std::function<Status()> command) {
    std::promise<Status> outcome;
    auto future = outcome.get_future();
    {
        const std::lock_guard lock(workMutex_);
        if (!running_) return {StatusCode::Unavailable, "the store is stopped"};
        work_.push_back({nullptr, [&] {
            Status status = command();
            outcome.set_value(status);
            return status;
        }});
        wake_.notify_one();
    }
    return future.get();
}

void ToyStore::loop() noexcept {
    for (;;) {
        Work work;
        {
            std::unique_lock lock(workMutex_);
            wake_.wait(lock, [this] { return !work_.empty() || !running_; });
            if (work_.empty()) break;
            work = std::move(work_.front());
            work_.pop_front();
        }
        if (work.batch != nullptr) {
            write(*work.batch);
            work.batch->done();
        } else {
            static_cast<void>(work.command());
        }
    }
    static_cast<void>(log_.sync());
}

void ToyStore::write(service::AppendBatch& batch) {
    next_.clear();
    records_.clear();
    physical_ = nextPhysical_;  // only this thread changes it
    auto& items = batch.items;
    for (std::size_t first = 0, length = 0; first < items.size(); first += length) {
        length = std::min<std::size_t>(std::max<std::uint16_t>(items[first].groupSize, 1), items.size() - first);
        AppendStatus allowed = AppendStatus::PutOk;  // a group is stored whole or not at all
        for (std::size_t i = first; i < first + length && allowed == AppendStatus::PutOk; ++i) allowed = check(items[i]);
        group_.clear();
        for (std::size_t i = first; i < first + length; ++i) {
            items[i].status = allowed;
            if (allowed == AppendStatus::PutOk) encode(items[i]);
        }
        if (!group_.empty()) log_.add(ToyLog::Kind::Group, group_);
    }
    if (records_.empty()) return;
    Status written = log_.write();
    if (written && syncFlush_) written = log_.sync();
    {
        const std::lock_guard lock(mutex_);
        health_ = written;
    }
    if (written) return publish();
    for (auto& item : items) item.status = refusalOf(written);
    batch.failure = written;
}

void ToyStore::encode(AppendItem& item) {
    item.queueOffset = 0;
    if (service::isQueued(item.sysFlag)) {
        const auto [next, first] = next_.emplace(QueueName(item.topic, item.queueId), 0);
        if (first) next->second = range(item.topic, item.queueId).max;
        item.queueOffset = next->second++;
    }
    item.physicalOffset = physical_;
    item.storeTimestamp = clock_.wallMs();
    const auto fields = service::recordFields(item);
    std::string record(protocol::recordSize(fields), '\0');
    item.recordBytes = static_cast<std::int32_t>(protocol::encodeRecord(record.data(), fields));
    physical_ += item.recordBytes;
    char tagsCode[kTagsCodeBytes];
    protocol::storeI64(tagsCode, item.tagsCode);
    group_.append(tagsCode, sizeof tagsCode).append(record);
    records_.emplace_back(Slice::own(std::move(record)), item.tagsCode);
}

void ToyStore::publish() {
    std::vector<service::AppendedRecord> appended;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [record, tagsCode] : records_) {
            const auto view = viewOf(record);
            insert(record, tagsCode);
            if (service::isQueued(view.sysFlag)) {
                appended.push_back({view.topic, view.properties, view.queueOffset, view.physicalOffset, tagsCode, view.storeTimestamp, view.queueId, view.size});
            }
            ++counts_.messagesAppended;
            counts_.bytesAppended += view.size;
            if (!syncFlush_) counts_.behindFlushBytes += view.size;
        }
    }
    if (appended.empty()) return;
    const std::lock_guard lock(listenersMutex_);
    for (auto* listener : listeners_) listener->appended(appended);
}

void ToyStore::insert(Slice record, std::int64_t tagsCode) {
    const auto view = viewOf(record);
    byPhysical_[view.physicalOffset] = record;
    nextPhysical_ = view.physicalOffset + view.size;
    if (!service::isQueued(view.sysFlag)) return;
    Queue& queue = queues_[QueueName(view.topic, view.queueId)];
    if (queue.entries.empty()) queue.min = view.queueOffset;
    queue.entries.push_back({std::move(record), view.physicalOffset, view.storeTimestamp, tagsCode});
}

void ToyStore::forgetTopic(std::string_view topic) {
    const auto begin = queues_.lower_bound(QueueName(topic, std::numeric_limits<std::int32_t>::min()));
    auto end = begin;
    while (end != queues_.end() && end->first.first == topic) ++end;
    queues_.erase(begin, end);
    std::erase_if(byPhysical_, [&](const auto& record) { return viewOf(record.second).topic == topic; });
}

void ToyStore::forgetBelow(std::int64_t physicalOffset) {
    for (auto& [name, queue] : queues_) {
        while (!queue.entries.empty() && queue.entries.front().physicalOffset < physicalOffset) {
            queue.entries.pop_front();
            ++queue.min;
        }
    }
    byPhysical_.erase(byPhysical_.begin(), byPhysical_.lower_bound(physicalOffset));
    minPhysical_ = std::max(minPhysical_, std::min(physicalOffset, nextPhysical_));
}

Status ToyStore::change(ToyLog::Kind kind, const std::string& text) {
    log_.add(kind, text);
    Status written = log_.write();
    if (written) written = log_.sync();
    if (written) replay(kind, text);
    return written;
}

Status ToyStore::deleteTopic(std::string_view topic) {
    return run([this, name = std::string(topic)] { return change(ToyLog::Kind::TopicDeleted, name); });
}

Status ToyStore::trim(std::int64_t physicalOffset) {
    return run([this, physicalOffset] {
        std::string text(8, '\0');
        protocol::storeI64(text.data(), physicalOffset);
        return change(ToyLog::Kind::Trimmed, text);
    });
}

Status ToyStore::flush() {
    return run([this] {
        Status synced = log_.sync();
        const std::lock_guard lock(mutex_);
        if (synced) counts_.behindFlushBytes = 0;
        return synced;
    });
}

void ToyStore::addListener(service::AppendListener& listener) {
    const std::lock_guard lock(listenersMutex_);
    listeners_.push_back(&listener);
}

void ToyStore::removeListener(service::AppendListener& listener) noexcept {
    const std::lock_guard lock(listenersMutex_);
    std::erase(listeners_, &listener);
}

// ---- reading

const ToyStore::Queue* ToyStore::find(std::string_view topic, std::int32_t queueId) const {
    const auto at = queues_.find(QueueName(topic, queueId));
    return at == queues_.end() ? nullptr : &at->second;
}

void ToyStore::read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
                    const service::ReadFilter* filter, service::ReadResult& result) noexcept {
    result.clear();
    const std::lock_guard lock(mutex_);
    if (const Queue* queue = find(topic, queueId)) readFrom(*queue, offset, limits, filter, result);
    counts_.messagesRead += result.messages;
    if (result.status == ReadStatus::Found) ++counts_.readsFound;
    else if (limits.messagesMax > 0) ++counts_.readsMissed;   // a read of no messages asks for the ends of the queue
}

void ToyStore::readFrom(const Queue& queue, std::int64_t offset, const service::ReadLimits& limits, const service::ReadFilter* filter,
                        service::ReadResult& result) const {
    result.minOffset = queue.min;
    result.maxOffset = queue.max();
    result.nextOffset = std::clamp(offset, result.minOffset, result.maxOffset);
    if (offset < result.minOffset) {
        result.status = ReadStatus::OffsetTooSmall;
    } else if (offset >= result.maxOffset) {
        result.status = offset == result.maxOffset ? ReadStatus::OffsetAtEnd : ReadStatus::OffsetBeyondEnd;
    } else {
        result.status = ReadStatus::NoMatchedMessage;
        const std::int64_t end = std::min(result.maxOffset, offset + std::max<std::int64_t>(kScanMax, limits.messagesMax));
        for (; result.nextOffset < end; ++result.nextOffset) {
            const Entry& entry = queue.entries[static_cast<std::size_t>(result.nextOffset - queue.min)];
            if (filter != nullptr && !filter->matchesTags(entry.tagsCode)) continue;
            if (filter != nullptr && filter->needsRecord() && !filter->matchesRecord(entry.record.bytes)) continue;
            const auto bytes = static_cast<std::int64_t>(entry.record.bytes.size());
            if (result.messages > 0 && (result.messages >= limits.messagesMax || result.bytes + bytes > limits.bytesMax)) break;
            result.status = ReadStatus::Found;
            result.pieces.push_back(entry.record.bytes);
            result.keep.push_back(entry.record.keep);
            result.bytes += bytes;
            ++result.messages;
        }
    }
}

service::OffsetRange ToyStore::range(std::string_view topic, std::int32_t queueId) const noexcept {
    const std::lock_guard lock(mutex_);
    const Queue* queue = find(topic, queueId);
    return queue == nullptr ? service::OffsetRange{} : service::OffsetRange{queue->min, queue->max(), true};
}

Result<std::int64_t> ToyStore::offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timeMs, Bound bound) const {
    const std::lock_guard lock(mutex_);
    const Queue* queue = find(topic, queueId);
    if (queue == nullptr) return 0;
    const auto& entries = queue->entries;
    if (entries.empty()) return queue->max();
    if (bound == Bound::Lower) {
        const auto first = std::partition_point(entries.begin(), entries.end(), [&](const Entry& e) { return e.storeTime < timeMs; });
        return queue->min + (first - entries.begin());
    }
    const auto later = std::partition_point(entries.begin(), entries.end(), [&](const Entry& e) { return e.storeTime <= timeMs; });
    return queue->min + std::max<std::int64_t>(later - entries.begin() - 1, 0);
}

Result<std::int64_t> ToyStore::storeTimeAt(std::string_view topic, std::int32_t queueId, std::int64_t offset) const {
    const std::lock_guard lock(mutex_);
    const Queue* queue = find(topic, queueId);
    if (queue == nullptr || offset < queue->min || offset >= queue->max()) return Status(StatusCode::NotFound, "no message at that offset");
    return queue->entries[static_cast<std::size_t>(offset - queue->min)].storeTime;
}

Result<Slice> ToyStore::at(std::int64_t physicalOffset) const {
    const std::lock_guard lock(mutex_);
    const auto found = byPhysical_.find(physicalOffset);
    if (found == byPhysical_.end()) return Status(StatusCode::NotFound, "no message at " + std::to_string(physicalOffset));
    return found->second;
}

Result<service::KeyHits> ToyStore::findByKey(const service::KeyQuery&) const {
    return Status(StatusCode::Unsupported, "storage-toy has no key index");
}

std::vector<service::QueueKey> ToyStore::queues() const {
    const std::lock_guard lock(mutex_);
    std::vector<service::QueueKey> all;
    for (const auto& [name, queue] : queues_) all.push_back({name.first, name.second});
    return all;
}

service::StoreStats ToyStore::stats() const {
    const std::lock_guard lock(mutex_);
    service::StoreStats stats = counts_;
    stats.minPhysicalOffset = minPhysical_;
    stats.maxPhysicalOffset = nextPhysical_;
    stats.queues = static_cast<std::int64_t>(queues_.size());
    if (!byPhysical_.empty()) stats.earliestMessageMs = viewOf(byPhysical_.begin()->second).storeTimestamp;
    stats.health = health_;
    stats.writable = health_.isOk();
    return stats;
}

}  // namespace toy

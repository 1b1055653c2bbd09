#include "Writer.h"

#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <future>
#include <pthread.h>

namespace patchbay::plugins::sqlite {

using service::AppendItem;
using service::AppendStatus;

namespace {

constexpr std::size_t kTopicBytesMax = 127;
constexpr std::size_t kRetryTopicBytesMax = 255;
constexpr std::size_t kOffsetsOfAPart = 5'000;
constexpr std::chrono::seconds kRemovalsPause{10};
constexpr std::int64_t kLongLog = 4;  // times sqliteWalBytes

AppendStatus appendStatusOf(const Status& failure) noexcept {
    switch (failure.code()) {
        case StatusCode::Busy: return AppendStatus::Busy;
        case StatusCode::Full:
        case StatusCode::Denied:
        case StatusCode::Unavailable: return AppendStatus::ServiceNotAvailable;
        default: return AppendStatus::Failed;
    }
}


}  // namespace

Status Writer::start(const std::string& path) {
    auto tables = MessageTables::open(path, settings_);
    if (!tables) return tables.error();
    auto state = tables->load();
    if (!state) return state.error();
    tables_ = std::make_unique<MessageTables>(std::move(*tables));
    if (Status opened = copier_.open(path, settings_); !opened) return opened;
    for (auto& queue : state->queues) queues_.add(std::move(queue));
    nextPhysical_ = state->nextPhysical;
    removalsPending_ = state->removalsPending;
    stats_.minPhysical = state->minPhysical;
    stats_.nextPhysical = state->nextPhysical;
    stats_.newestStoreTime = state->newestStoreTime;
    {
        const std::lock_guard lock(mutex_);
        running_ = true;
    }
    thread_ = std::thread([this] { loop(); });
    pthread_setname_np(thread_.native_handle(), "sqlite-writer");
    return Status::ok();
}

void Writer::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        running_ = false;
        wake_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
    copier_.stop();
    tables_.reset();
}

std::size_t Writer::bytesOf(const service::AppendBatch& batch) noexcept {
    std::size_t bytes = 0;
    for (const auto& item : batch.items) bytes += item.body.size() + item.properties.size() + item.brokerProperties.size();
    return bytes;
}

void Writer::refuse(service::AppendBatch& batch, AppendStatus status, const Status& why) {
    for (auto& item : batch.items) item.status = status;
    batch.failure = why;
    stats_.refused += static_cast<std::int64_t>(batch.items.size());
}

MonotonicTime Writer::oldest() const noexcept {
    if (writingSince_ != MonotonicTime()) return writingSince_;
    const auto first = std::ranges::find_if(work_, [](const Work& work) { return work.batch != nullptr; });
    return first == work_.end() ? MonotonicTime() : first->batch->begun;
}

std::chrono::milliseconds Writer::oldestWait() const {
    const MonotonicTime now = clock_.now();
    const std::lock_guard lock(mutex_);
    const MonotonicTime since = oldest();
    if (since == MonotonicTime() || since > now) return {};
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - since);
}

void Writer::append(service::AppendBatch& batch) noexcept {
    const std::size_t bytes = bytesOf(batch);
    batch.begun = clock_.now();
    {
        const std::lock_guard lock(mutex_);
        if (running_ && (queuedBytes_ == 0 || queuedBytes_ + bytes <= settings_.queuedBytesMax)) {
            queuedBytes_ += bytes;
            queuedMessages_ += batch.items.size();
            work_.push_back({&batch, {}});
            if (waiting_ && queuedMessages_ >= wanted_) wake_.notify_one();
            return;
        }
        if (running_) {
            const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(std::max(batch.begun - oldest(), std::chrono::nanoseconds(0)));
            refuse(batch, AppendStatus::Busy,
                   Status(StatusCode::Busy, std::to_string(queuedBytes_) + " bytes wait to be written, the oldest for " +
                                                std::to_string(waited.count()) + "ms, limit sqliteQueuedBytes " +
                                                std::to_string(settings_.queuedBytesMax)));
        } else {
            refuse(batch, AppendStatus::ServiceNotAvailable, Status(StatusCode::Unavailable, "the store is stopped"));
        }
    }
    log_.limited(plugin::LogLevel::Warn, "messages are refused", {{"reason", batch.failure.message()}, {"messages", batch.items.size()}});
    batch.done();
}

void Writer::enqueue(Work work) {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    if (waiting_) wake_.notify_one();
}

Status Writer::run(const char* what, Command command) {
    std::promise<Status> outcome;
    auto future = outcome.get_future();
    {
        const std::lock_guard lock(mutex_);
        if (!running_) return {StatusCode::Unavailable, "the store is stopped"};
        work_.push_back({nullptr, [&] {
            Status status = command();
            outcome.set_value(status);
            return status;
        }, what});
        if (waiting_) wake_.notify_one();
    }
    return future.get();
}

Status Writer::flush() { return run("flush", [this] { return flushNow(); }); }
Status Writer::deleteTopic(std::string_view topic) { return run("delete a topic", [this, name = std::string(topic)] { return dropNow(name); }); }
// A part at a time, so that messages are written between them.
Status Writer::keepConfig(const ConfigSnapshot& snapshot) {
    ConfigSnapshot part;
    part.allOffsets = snapshot.allOffsets;
    part.goneOffsets = snapshot.goneOffsets;
    const auto inRoom = [&](const Command& command) {
        return run("keep the files of config/", [&] {
            const Status room = roomInLog();
            return room ? command() : room;
        });
    };
    const auto keep = [&] {
        const Status kept = inRoom([&] { return tables_->keepConfig(part); });
        part = {};
        return kept;
    };
    for (const auto& offset : snapshot.offsets) {
        part.offsets.push_back(offset);
        if (part.offsets.size() < kOffsetsOfAPart) continue;
        if (Status kept = keep(); !kept) return kept;
    }
    part.goneFiles = snapshot.goneFiles;
    Status kept = part.empty() ? Status::ok() : keep();
    for (const auto& file : snapshot.files) {
        if (kept) kept = inRoom([&] { return tables_->keepFile(file.first, file.second, clock_.wallMs()); });
    }
    return kept;
}
Status Writer::trim(std::int64_t physicalOffset) { return run("remove old messages", [this, physicalOffset] { return trimNow(physicalOffset); }); }

void Writer::flushSoon() {
    if (stats_.behindFlushBytes == 0) return;
    enqueue({nullptr, [this] { return flushNow(); }, "flush"});
}

void Writer::addListener(service::AppendListener& listener) {
    const std::lock_guard lock(listenersMutex_);
    listeners_.push_back(&listener);
}

void Writer::removeListener(service::AppendListener& listener) noexcept {
    const std::lock_guard lock(listenersMutex_);
    std::erase(listeners_, &listener);
}

Status Writer::health() const {
    const std::lock_guard lock(healthMutex_);
    return health_;
}

void Writer::remember(const Status& health) {
    const std::lock_guard lock(healthMutex_);
    if (health_.code() == health.code()) return;
    if (!health) {
        log_.error("PB-1501 cannot write", {{"reason", health.message()}});
    } else {
        log_.info("writes work again");
    }
    health_ = health;
}

void Writer::gather(std::unique_lock<std::mutex>& lock) {
    const auto atMost = std::min<std::chrono::nanoseconds>(settings_.groupTime, commitTime_ / 4);
    if (!settings_.syncFlush || atMost.count() <= 0) return;
    wanted_ = std::min(outstanding_, settings_.groupMessagesMax);
    waiting_ = true;
    (void)clock_.waitFor(wake_, lock, atMost, [this] { return queuedMessages_ >= wanted_ || !running_; });
    waiting_ = false;
    wanted_ = 0;
}

bool Writer::take(std::vector<service::AppendBatch*>& group, Work& command) {
    group.clear();
    command = {};
    std::unique_lock lock(mutex_);
    if (work_.empty() && !removalsPending_) {
        waiting_ = true;
        wake_.wait(lock, [this] { return !work_.empty() || !running_; });
        waiting_ = false;
    }
    if (work_.empty()) return running_;  // nothing to do but to clean up, or the end
    if (work_.front().batch == nullptr) {
        command = std::move(work_.front());
        work_.pop_front();
        return true;
    }
    gather(lock);
    std::size_t messages = 0;
    while (!work_.empty() && work_.front().batch != nullptr && (group.empty() || messages < settings_.groupMessagesMax)) {
        service::AppendBatch* batch = work_.front().batch;
        messages += batch->items.size();
        queuedBytes_ -= bytesOf(*batch);
        queuedMessages_ -= batch->items.size();
        group.push_back(batch);
        work_.pop_front();
    }
    writingSince_ = group.front()->begun;
    return true;
}

void Writer::loop() noexcept {
    std::vector<service::AppendBatch*> group;
    Work work;
    while (take(group, work)) {
        if (work.command) {
            if (const Status status = work.command(); !status) {
                log_.limited(plugin::LogLevel::Warn, std::string("cannot ") + work.what, {{"reason", status.message()}});
            }
        } else if (!group.empty()) {
            writeGroup(group);
        } else {
            upkeep();
        }
    }
    if (stats_.behindFlushBytes > 0) static_cast<void>(flushNow());
}

AppendStatus Writer::check(const AppendItem& item) const noexcept {
    const std::size_t topicMax = protocol::isRetryTopic(item.topic) ? kRetryTopicBytesMax : kTopicBytesMax;
    if (item.topic.empty() || item.topic.size() > topicMax || item.queueId < 0) return AppendStatus::MessageIllegal;
    if (item.body.size() > settings_.bodyBytesMax) return AppendStatus::MessageIllegal;
    if (item.properties.size() + item.brokerProperties.size() > protocol::kRecordPropertiesBytesMax) return AppendStatus::PropertiesSizeExceeded;
    return AppendStatus::PutOk;
}

void Writer::writeGroup(std::vector<service::AppendBatch*>& group) {
    const auto start = clock_.now();
    groupTime_ = clock_.wallMs();
    illegal_ = 0;
    std::size_t count = 0;
    const bool waits = settings_.syncFlush && std::ranges::any_of(group, [](const auto* batch) {
        return std::ranges::any_of(batch->items, [](const AppendItem& item) { return item.waitStored; });
    });
    Status status = mayWrite();
    if (status) status = tables_->setWaiting(waits);
    if (status) status = tables_->begin();
    // A slow disk must not make a group ever longer: what is over time goes back to the front of the line.
    while (status && count < group.size() && (count == 0 || clock_.now() - start < settings_.groupTime)) {
        status = writeBatch(*group[count]);
        if (status) ++count;
    }
    if (status) status = tables_->commit();
    if (!status) {
        status = disk_.explain(status);
        undo(group, status);
        count = group.size();
    } else {
        stats_.refused += illegal_;
        const std::lock_guard lock(mutex_);
        for (std::size_t left = group.size(); left > count; --left) {
            queuedBytes_ += bytesOf(*group[left - 1]);
            queuedMessages_ += group[left - 1]->items.size();
            work_.push_front({group[left - 1], {}});
        }
    }
    remember(status);
    const auto end = clock_.now();
    // What stops them, a damaged page for instance, may last: not with every group.
    if (status && removalsPaused_ && end >= removalsAgain_) {
        removalsPaused_ = false;
        removalsPending_ = true;
    }
    commitTime_ = end - start;
    // Whoever does not wait for the disk is answered before it; all others see those messages when they are durable, too.
    const bool early = settings_.syncFlush && !waits;
    if (!early) publish(waits);
    {
        const std::lock_guard lock(mutex_);
        writingSince_ = {};
        outstanding_ = queuedMessages_;
        for (std::size_t i = 0; i < count; ++i) outstanding_ += group[i]->items.size();
    }
    for (std::size_t i = 0; i < count; ++i) {
        stats_.times.appended(group[i]->items.size(), end - group[i]->begun);
        group[i]->done();
    }
    if (early) {
        // They are in the database, so they have to be seen even when the disk refuses.
        Status flushed = tables_->setWaiting(true);
        if (flushed && !written_.empty()) flushed = tables_->flush();
        if (!flushed) remember(flushed);
        publish(flushed.isOk());
    }
    tendLog();
}

Status Writer::mayWrite() {
    if (Status room = roomInLog(); !room) return room;
    return disk_.check();
}

Status Writer::roomInLog() {
    const std::int64_t bytes = tables_->walBytes();
    if (bytes < settings_.walBytesLimit) return Status::ok();
    copier_.wait();
    if (tables_->emptyLog()) return Status::ok();
    return {StatusCode::Unavailable, "the write-ahead log of " + settings_.directory + " has " + std::to_string(bytes) + " bytes, sqliteWalBytesLimit is " +
                                         std::to_string(settings_.walBytesLimit) + "; end the query or program that has held the database open for reading"};
}

bool Writer::mayEndLog(std::int64_t bytes) const {
    const auto step = static_cast<std::int64_t>(settings_.walBytesMax);
    if (bytes >= std::max(nextCheckpoint_, step) + step) return true;
    return !copier_.isBusy() && bytes - copier_.copiedBytes() <= step / 4;
}

void Writer::tendLog() {
    const auto step = static_cast<std::int64_t>(settings_.walBytesMax);
    const std::int64_t bytes = tables_->walBytes();
    // It was begun anew since the last look.
    if (nextCheckpoint_ > bytes + step) {
        nextCheckpoint_ = step;
        copier_.forget();
    }
    if (bytes < std::max(nextCheckpoint_, step)) return;
    if (!mayEndLog(bytes)) return copier_.begin();
    copier_.wait();
    nextCheckpoint_ = bytes + step;
    if (const Status copied = tables_->checkpoint(); !copied) {
        log_.limited(plugin::LogLevel::Error, "PB-1504 the write-ahead log cannot be copied into the database", {{"reason", copied.message()}});
    } else if (bytes >= kLongLog * step) {
        log_.limited(plugin::LogLevel::Warn, "PB-1503 a query or program that has held the database open keeps the write-ahead log from being reused",
                     {{"directory", settings_.directory}, {"bytes", bytes}, {"refusedAt", settings_.walBytesLimit}});
    }
}

Status Writer::writeBatch(service::AppendBatch& batch) {
    auto& items = batch.items;
    for (std::size_t first = 0, length = 0; first < items.size(); first += length) {
        length = std::min<std::size_t>(std::max<std::uint16_t>(items[first].groupSize, 1), items.size() - first);
        AppendStatus allowed = AppendStatus::PutOk;
        for (std::size_t i = first; i < first + length && allowed == AppendStatus::PutOk; ++i) allowed = check(items[i]);
        for (std::size_t i = first; i < first + length; ++i) {
            items[i].status = allowed;
            if (allowed != AppendStatus::PutOk) {
                ++illegal_;
                continue;
            }
            if (Status status = writeItem(items[i]); !status) return status;
        }
    }
    return Status::ok();
}

Result<QueueState*> Writer::queueFor(std::string_view topic, std::int32_t queueId) {
    if (const auto found = queues_.find(topic, queueId)) return found.get();  // the table keeps it; only this thread removes
    for (const auto& queue : created_) {
        if (queue->topic == topic && queue->queueId == queueId) return queue.get();
    }
    const auto id = tables_->addQueue(topic, queueId);
    if (!id) return id.error();
    created_.push_back(Ref<QueueState>::adopt(new QueueState(*id, std::string(topic), queueId, 0, 0)));
    return created_.back().get();
}

Status Writer::writeItem(AppendItem& item) {
    const auto queue = queueFor(item.topic, item.queueId);
    if (!queue) return queue.error();
    const bool queued = service::isQueued(item.sysFlag);
    item.queueOffset = queued ? (*queue)->next : 0;
    item.physicalOffset = nextPhysical_;
    item.storeTimestamp = groupTime_;
    const auto fields = service::recordFields(item);
    const std::size_t bytes = protocol::recordSize(fields);
    item.recordBytes = static_cast<std::int32_t>(bytes);
    char* const record = tail_.reserve(bytes);
    protocol::encodeRecord(record, fields);
    // Properties are the end of a record, where both parts of them are joined already.
    const std::size_t propertiesBytes = item.properties.size() + item.brokerProperties.size();
    const std::string_view properties(record + bytes - propertiesBytes, propertiesBytes);
    if (Status status = tables_->insert(item, (*queue)->id, properties, protocol::loadI32(record + protocol::kRecordBodyCrcAt)); !status) return status;
    if (queued) ++(*queue)->next;
    nextPhysical_ += item.recordBytes;
    written_.push_back({*queue, item.queueOffset, {&tail_.block(), record, item.physicalOffset, groupTime_, item.tagsCode, item.recordBytes}, properties, queued});
    return Status::ok();
}

void Writer::undo(std::vector<service::AppendBatch*>& group, const Status& why) {
    tables_->rollback();
    for (auto& written : written_) written.queue->next = written.queue->max;
    written_.clear();
    created_.clear();
    nextPhysical_ = stats_.nextPhysical;
    // What was reserved stays until its block goes, and blocks go here and in publish() only.
    tail_.trim();
    for (auto* batch : group) refuse(*batch, appendStatusOf(why), why);
}

void Writer::publish(bool durable) {
    for (auto& queue : std::exchange(created_, {})) queues_.add(std::move(queue));
    std::int64_t bytes = 0;
    appended_.clear();
    for (auto& [queue, queueOffset, entry, properties, queued] : written_) {
        bytes += entry.bytes;
        if (!queued) continue;
        entry.block->owners.push_back(Ref<QueueState>::share(queue));
        {
            const std::lock_guard lock(queue->mutex);
            queue->tail.add(entry);
            queue->max = queueOffset + 1;
        }
        appended_.push_back({queue->topic, properties, queueOffset, entry.physicalOffset, entry.tagsCode, entry.storeTime,
                             queue->queueId, entry.bytes});
    }
    if (written_.empty()) return;
    stats_.nextPhysical = nextPhysical_;
    stats_.newestStoreTime = groupTime_;
    stats_.messages += static_cast<std::int64_t>(written_.size());
    stats_.bytes += bytes;
    if (!durable) stats_.behindFlushBytes += bytes;
    if (!appended_.empty()) {
        const std::lock_guard lock(listenersMutex_);
        for (auto* listener : listeners_) listener->appended(appended_);
    }
    written_.clear();
    tail_.trim();
}

Status Writer::flushNow() {
    Status status = settings_.syncFlush && stats_.behindFlushBytes == 0 ? Status::ok() : tables_->flush();
    if (status) stats_.behindFlushBytes = 0;
    return status;
}

Status Writer::dropNow(const std::string& topic) {
    Status status = tables_->begin();
    if (status) status = tables_->dropTopic(topic);
    // Its messages may be the newest; when their rows are gone nothing else says how far physical offsets have come.
    if (status) status = tables_->setTrimmed(stats_.minPhysical, nextPhysical_);
    if (status) status = tables_->commit();
    if (!status) {
        tables_->rollback();
        return status;
    }
    for (const auto& queue : queues_.removeTopic(topic)) {
        const std::lock_guard lock(queue->mutex);
        queue->tail.clear();
        queue->dropped = true;
        removalsPending_ = true;
    }
    return status;
}

Status Writer::trimNow(std::int64_t physicalOffset) {
    const std::int64_t cut = std::min(physicalOffset, nextPhysical_);
    if (cut <= stats_.minPhysical) return Status::ok();
    std::vector<std::pair<Ref<QueueState>, std::int64_t>> moved;
    Status status = tables_->begin();
    for (auto& queue : queues_.all()) {
        if (!status) break;
        const auto first = tables_->firstAtOrAfter(*queue, cut);
        status = first.error();
        if (!first || *first == queue->min) continue;
        status = tables_->setQueueOffsets(queue->id, *first, queue->next);
        moved.emplace_back(std::move(queue), *first);
    }
    if (status) status = tables_->setTrimmed(cut, nextPhysical_);
    if (status) status = tables_->commit();
    if (!status) {
        tables_->rollback();
        return status;
    }
    for (auto& [queue, min] : moved) {
        const std::lock_guard lock(queue->mutex);
        queue->min = min;
        while (queue->max - static_cast<std::int64_t>(queue->tail.size()) < min && !queue->tail.empty()) queue->tail.dropFirst();
    }
    stats_.minPhysical = cut;
    removalsPending_ = true;
    return status;
}

void Writer::upkeep() {
    const Status room = roomInLog();  // removing writes, too
    auto more = room ? tables_->removeSome(stats_.minPhysical) : Result<bool>(room);
    if (more && !*more) more = tables_->shrinkSome();
    if (!more) log_.limited(plugin::LogLevel::Warn, "cannot remove old messages", {{"reason", more.error().message()}});
    removalsPending_ = more && *more;
    removalsPaused_ = !more;
    if (removalsPaused_) removalsAgain_ = clock_.now() + kRemovalsPause;
    tendLog();
}

}  // namespace patchbay::plugins::sqlite

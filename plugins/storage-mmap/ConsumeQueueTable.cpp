#include "ConsumeQueueTable.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace patchbay::mmapstore {

namespace {

std::optional<std::int32_t> parseQueueId(std::string_view name) noexcept {
    std::int32_t id = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error != std::errc() || end != name.data() + name.size() || id < 0) return std::nullopt;
    return id;
}

}  // namespace

Status ConsumeQueueTable::open() {
    if (Status made = env_.files.makeDirectories(env_.layout.queues()); !made) return made;
    const Result<std::vector<FileInfo>> topics = env_.files.list(env_.layout.queues());
    if (!topics) return topics.error();
    for (const FileInfo& topic : *topics) {
        if (!topic.directory) continue;
        if (Status listed = listTopic(topic.name); !listed) return listed;
    }
    if (const Result<std::vector<FileInfo>> batch = env_.files.list(env_.layout.batchQueues())) {
        for (const FileInfo& topic : *batch) {
            if (topic.directory) batchTopics_.insert(topic.name);
        }
    }
    return removeTree(env_.files, env_.layout.discarded());
}

Status ConsumeQueueTable::listTopic(const std::string& topic) {
    const Result<std::vector<FileInfo>> queues = env_.files.list(env_.layout.topic(topic));
    if (!queues) return queues.error();
    const std::unique_lock lock(mutex_);
    for (const FileInfo& queue : *queues) {
        const std::optional<std::int32_t> id = parseQueueId(queue.name);
        if (queue.directory && id) add(topic, *id, true);
    }
    return Status::ok();
}

void ConsumeQueueTable::clear() {
    const std::unique_lock lock(mutex_);
    topics_.clear();
    batchTopics_.clear();
    queues_ = 0;
}

std::vector<Ref<ConsumeQueue>>::const_iterator ConsumeQueueTable::place(const Topic& topic, std::int32_t queueId) {
    // Queues are numbered from 0 without holes as a rule.
    const auto guess = static_cast<std::size_t>(queueId);
    if (guess < topic.queues.size() && topic.queues[guess]->id() == queueId) {
        return topic.queues.begin() + static_cast<std::ptrdiff_t>(guess);
    }
    return std::lower_bound(topic.queues.begin(), topic.queues.end(), queueId,
                            [](const Ref<ConsumeQueue>& queue, std::int32_t id) { return queue->id() < id; });
}

Ref<ConsumeQueue> ConsumeQueueTable::find(std::string_view topic, std::int32_t queueId) const {
    if (queueId < 0) return {};
    const std::shared_lock lock(mutex_);
    const auto known = topics_.find(topic);
    if (known == topics_.end()) return {};
    const auto at = place(known->second, queueId);
    return at != known->second.queues.end() && (*at)->id() == queueId ? *at : Ref<ConsumeQueue>();
}

Ref<ConsumeQueue> ConsumeQueueTable::obtain(std::string_view topic, std::int32_t queueId) {
    if (Ref<ConsumeQueue> known = find(topic, queueId)) return known;
    const std::unique_lock lock(mutex_);
    return add(topic, queueId, false);
}

Ref<ConsumeQueue> ConsumeQueueTable::add(std::string_view topic, std::int32_t queueId, bool onDisk) {
    auto known = topics_.find(topic);
    if (known == topics_.end()) {
        Topic fresh{Ref<TopicName>::adopt(new TopicName(topic)), {}};
        const std::string_view key = fresh.name->text;
        known = topics_.emplace(key, std::move(fresh)).first;
    }
    Topic& entry = known->second;
    const auto at = place(entry, queueId);
    if (at != entry.queues.end() && (*at)->id() == queueId) return *at;
    ++queues_;
    return *entry.queues.insert(at, Ref<ConsumeQueue>::adopt(new ConsumeQueue(env_, entry.name, queueId, onDisk)));
}

bool ConsumeQueueTable::hasTopic(std::string_view topic) const {
    const std::shared_lock lock(mutex_);
    return topics_.contains(topic);
}

std::vector<service::QueueKey> ConsumeQueueTable::keys() const {
    const std::shared_lock lock(mutex_);
    std::vector<service::QueueKey> keys;
    keys.reserve(queues_);
    for (const auto& [name, topic] : topics_) {
        for (const Ref<ConsumeQueue>& queue : topic.queues) {
            if (queue->everUsed()) keys.push_back({topic.name->text, queue->id()});
        }
    }
    return keys;
}

std::vector<Ref<ConsumeQueue>> ConsumeQueueTable::all() const {
    const std::shared_lock lock(mutex_);
    std::vector<Ref<ConsumeQueue>> queues;
    queues.reserve(queues_);
    for (const auto& [name, topic] : topics_) queues.insert(queues.end(), topic.queues.begin(), topic.queues.end());
    return queues;
}

std::size_t ConsumeQueueTable::size() const {
    const std::shared_lock lock(mutex_);
    std::size_t used = 0;
    for (const auto& [name, topic] : topics_) {
        used += static_cast<std::size_t>(std::count_if(topic.queues.begin(), topic.queues.end(),
                                                       [](const Ref<ConsumeQueue>& queue) { return queue->everUsed(); }));
    }
    return used;
}

Status ConsumeQueueTable::reset(std::string_view topic, std::int32_t queueId) {
    (void)obtain(topic, queueId);
    const std::unique_lock lock(mutex_);
    Topic& entry = topics_.find(topic)->second;
    const auto at = entry.queues.begin() + (place(entry, queueId) - entry.queues.cbegin());
    (*at)->discard();
    *at = Ref<ConsumeQueue>::adopt(new ConsumeQueue(env_, entry.name, queueId, false));
    const std::string path = env_.layout.queue(topic, queueId);
    if (!env_.files.exists(path)) return Status::ok();
    if (Status made = env_.files.makeDirectories(env_.layout.discarded()); !made) return made;
    if (Status moved = env_.files.rename(path, env_.layout.discarded() + "/" + std::to_string(removals_++)); !moved) return moved;
    return env_.files.syncDirectory(env_.layout.topic(topic));
}

Result<std::string> ConsumeQueueTable::takeOut(std::string_view topic) {
    std::uint64_t number = 0;
    {
        const std::unique_lock lock(mutex_);
        const auto known = topics_.find(topic);
        if (known == topics_.end()) return std::string();
        for (const Ref<ConsumeQueue>& queue : known->second.queues) queue->discard();
        queues_ -= known->second.queues.size();
        // The key lies in the value: both have to go together.
        const auto gone = topics_.extract(known);
        number = removals_++;
    }
    std::string aside = env_.layout.discarded() + "/" + std::to_string(number);
    const Status moved = env_.files.rename(env_.layout.topic(topic), aside);
    if (moved.code() == StatusCode::NotFound) return std::string();  // nothing was written yet
    return moved ? Result<std::string>(std::move(aside)) : moved;
}

Status ConsumeQueueTable::removeAside(const std::string& aside) {
    if (aside.empty()) return Status::ok();
    if (Status synced = env_.files.syncDirectory(env_.layout.queues()); !synced) return synced;
    return removeTree(env_.files, aside);
}

Status removeTree(FileSystem& files, const std::string& path) {
    const Result<std::vector<FileInfo>> entries = files.list(path);
    if (!entries) return entries.error().code() == StatusCode::NotFound ? Status::ok() : entries.error();
    for (const FileInfo& entry : *entries) {
        const std::string child = path + "/" + entry.name;
        if (Status removed = entry.directory ? removeTree(files, child) : files.remove(child); !removed) return removed;
    }
    return files.remove(path);
}

}  // namespace patchbay::mmapstore

#include "ConsumeQueueTable.h"

#include "Aside.h"

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
    for (const QueueKind kind : {QueueKind::Batch, QueueKind::Simple}) {
        if (Status listed = list(kind); !listed) return listed;
    }
    return removeTree(env_.files, env_.layout.discarded());
}

Status ConsumeQueueTable::list(QueueKind kind) {
    const Result<std::vector<FileInfo>> topics = env_.files.list(env_.layout.queues(kind));
    if (!topics) return topics.error().code() == StatusCode::NotFound ? Status::ok() : topics.error();
    for (const FileInfo& topic : *topics) {
        if (!topic.directory) continue;
        // A Java broker would not start. The topic's attribute decides.
        const bool both = kind == QueueKind::Batch ? env_.files.exists(env_.layout.topic(topic.name)) : hasTopic(topic.name);
        if (both && (kind == QueueKind::Simple || !isBatchTopic_ || !isBatchTopic_(topic.name))) {
            env_.log.warn("a topic has consume queues of both kinds; those that do not fit its attribute queue.type are left alone",
                          {{"topic", topic.name}, {"leftAlone", env_.layout.topic(topic.name, kind)}});
            continue;
        }
        if (Status listed = listTopic(topic.name, kind); !listed) return listed;
    }
    return Status::ok();
}

Status ConsumeQueueTable::listTopic(const std::string& topic, QueueKind kind) {
    const Result<std::vector<FileInfo>> queues = env_.files.list(env_.layout.topic(topic, kind));
    if (!queues) return queues.error();
    const std::unique_lock lock(mutex_);
    for (const FileInfo& queue : *queues) {
        const std::optional<std::int32_t> id = parseQueueId(queue.name);
        if (queue.directory && id) add(topic, *id, kind, true);
    }
    return Status::ok();
}

QueueKind ConsumeQueueTable::kindOf(std::string_view topic) const {
    {
        const std::shared_lock lock(mutex_);
        if (const auto known = topics_.find(topic); known != topics_.end()) return known->second.kind;
    }
    return isBatchTopic_ && isBatchTopic_(topic) ? QueueKind::Batch : QueueKind::Simple;
}

void ConsumeQueueTable::clear() {
    const std::unique_lock lock(mutex_);
    topics_.clear();
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
    const QueueKind kind = kindOf(topic);
    const std::unique_lock lock(mutex_);
    return add(topic, queueId, kind, false);
}

Ref<ConsumeQueue> ConsumeQueueTable::add(std::string_view topic, std::int32_t queueId, QueueKind kind, bool onDisk) {
    auto known = topics_.find(topic);
    if (known == topics_.end()) {
        Topic fresh{Ref<TopicName>::adopt(new TopicName(topic)), kind, {}};
        const std::string_view key = fresh.name->text;
        known = topics_.emplace(key, std::move(fresh)).first;
    }
    Topic& entry = known->second;
    const auto at = place(entry, queueId);
    if (at != entry.queues.end() && (*at)->id() == queueId) return *at;
    ++queues_;
    return *entry.queues.insert(at, Ref<ConsumeQueue>::adopt(new ConsumeQueue(env_, entry.name, queueId, entry.kind, onDisk)));
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

bool ConsumeQueueTable::isUnderstood(const std::string& directory, QueueKind kind) const {
    const std::int64_t bytes = kind == QueueKind::Simple ? env_.fileBytes : env_.batchFileBytes;
    const Result<std::vector<FileInfo>> listed = env_.files.list(directory);
    return listed && std::all_of(listed->begin(), listed->end(), [&](const FileInfo& info) {
        const std::optional<std::int64_t> start = parseFileName(info.name);
        return !info.directory && start && *start % bytes == 0 && info.size <= static_cast<std::uint64_t>(bytes);
    });
}

Result<std::string> ConsumeQueueTable::reset(std::string_view topic, std::int32_t queueId, bool keep) {
    (void)obtain(topic, queueId);
    const std::unique_lock lock(mutex_);
    Topic& entry = topics_.find(topic)->second;
    const auto at = entry.queues.begin() + (place(entry, queueId) - entry.queues.cbegin());
    (*at)->discard();
    *at = Ref<ConsumeQueue>::adopt(new ConsumeQueue(env_, entry.name, queueId, entry.kind, false));
    const std::string path = env_.layout.queue(topic, queueId, entry.kind);
    if (Status made = env_.files.makeDirectories(env_.layout.discarded()); !made) return made;
    std::string kept;
    if (env_.files.exists(path) && (keep || !isUnderstood(path, entry.kind))) {
        Result<std::string> moved = setAside(env_.files, env_.layout, path);
        if (!moved) return moved;
        kept = std::move(*moved);
    }
    for (const std::string& from : {env_.layout.extension(topic, queueId), path}) {
        if (!env_.files.exists(from)) continue;
        if (Status moved = env_.files.rename(from, env_.layout.discarded() + "/" + std::to_string(removals_++)); !moved) return moved;
    }
    const std::string parent = env_.layout.topic(topic, entry.kind);
    if (Status synced = env_.files.exists(parent) ? env_.files.syncDirectory(parent) : Status::ok(); !synced) return synced;
    return kept;
}

Result<std::vector<ConsumeQueueTable::Aside>> ConsumeQueueTable::takeOut(std::string_view topic) {
    std::uint64_t number = 0;
    {
        const std::unique_lock lock(mutex_);
        const auto known = topics_.find(topic);
        if (known == topics_.end()) return std::vector<Aside>();
        for (const Ref<ConsumeQueue>& queue : known->second.queues) queue->discard();
        queues_ -= known->second.queues.size();
        // The key lies in the value: both have to go together.
        const auto gone = topics_.extract(known);
        number = removals_++;
    }
    std::vector<Aside> asides;
    for (const std::string& from : {env_.layout.queues(), env_.layout.queues(QueueKind::Batch), env_.layout.extensions()}) {
        std::string to = env_.layout.discarded() + "/" + std::to_string(number) + "-" + std::to_string(asides.size());
        const Status moved = env_.files.rename(from + "/" + std::string(topic), to);
        if (moved.code() == StatusCode::NotFound) continue;  // nothing was written yet
        if (!moved) return moved;
        asides.push_back({from, std::move(to)});
    }
    return asides;
}

Status ConsumeQueueTable::removeAside(const std::vector<Aside>& asides) {
    for (const Aside& aside : asides) {
        if (Status synced = env_.files.syncDirectory(aside.from); !synced) return synced;
        if (Status removed = removeTree(env_.files, aside.to); !removed) return removed;
    }
    return Status::ok();
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

#include "OffsetTable.h"

#include <algorithm>

namespace patchbay::plugins::consumer_offsets {

namespace {

bool before(const service::QueueProgress& queue, std::int32_t id) noexcept { return queue.queueId < id; }

}  // namespace

const OffsetTable::QueueList* OffsetTable::list(const Shard& shard, std::string_view group, std::string_view topic) noexcept {
    const auto topics = shard.groups.find(group);
    if (topics == shard.groups.end()) return nullptr;
    const auto queues = topics->second.find(topic);
    return queues == topics->second.end() ? nullptr : &queues->second;
}

const OffsetTable::Queue* OffsetTable::find(const Shard& shard, std::string_view group, std::string_view topic,
                                            std::int32_t queueId) noexcept {
    const QueueList* queues = list(shard, group, topic);
    if (queues == nullptr) return nullptr;
    const auto at = std::lower_bound(queues->begin(), queues->end(), queueId, before);
    return at != queues->end() && at->queueId == queueId ? &*at : nullptr;
}

OffsetTable::Queue& OffsetTable::obtain(Shard& shard, std::string_view group, std::string_view topic, std::int32_t queueId) {
    auto topics = shard.groups.find(group);
    if (topics == shard.groups.end()) topics = shard.groups.emplace(group, Topics{}).first;
    auto queues = topics->second.find(topic);
    if (queues == topics->second.end()) queues = topics->second.emplace(topic, QueueList{}).first;
    auto at = std::lower_bound(queues->second.begin(), queues->second.end(), queueId, before);
    if (at == queues->second.end() || at->queueId != queueId) {
        at = queues->second.insert(at, Queue{});
        at->queueId = queueId;
    }
    return *at;
}

CommitOutcome OffsetTable::store(Queue& queue, std::int64_t offset) noexcept {
    const CommitOutcome outcome{queue.committed, offset < queue.committed};
    if (queue.committed != offset) {
        queue.committed = offset;
        changed();
    }
    return outcome;
}

std::int64_t OffsetTable::committed(std::string_view group, std::string_view topic, std::int32_t queueId) const noexcept {
    const Shard& shard = shardOf(group);
    const std::lock_guard lock(shard.mutex);
    const Queue* queue = find(shard, group, topic, queueId);
    return queue == nullptr ? -1 : queue->committed;
}

std::optional<CommitOutcome> OffsetTable::commit(std::string_view group, std::string_view topic, std::int32_t queueId,
                                                 std::int64_t offset, MonotonicTime now, IfReset ifReset) {
    Shard& shard = shardOf(group);
    const std::lock_guard lock(shard.mutex);
    Queue& queue = obtain(shard, group, topic, queueId);
    if (queue.reset >= 0 && ifReset == IfReset::Leave) return std::nullopt;
    queue.committedAt = now;
    return store(queue, offset);
}

std::int64_t OffsetTable::pulled(std::string_view group, std::string_view topic, std::int32_t queueId) const noexcept {
    const Shard& shard = shardOf(group);
    const std::lock_guard lock(shard.mutex);
    const Queue* queue = find(shard, group, topic, queueId);
    return queue == nullptr || queue->pull.outcome == service::PullOutcome::None ? -1 : queue->pull.nextOffset;
}

void OffsetTable::notePull(std::string_view group, std::string_view topic, std::int32_t queueId, const service::PullNote& note,
                           MonotonicTime now) {
    Shard& shard = shardOf(group);
    const std::lock_guard lock(shard.mutex);
    Queue& queue = obtain(shard, group, topic, queueId);
    const service::PullNote before = queue.pull;
    queue.pull = note;
    queue.pull.delivered += before.delivered;
    queue.pull.filtered += before.filtered;
    queue.pull.bytes += before.bytes;
    queue.pull.readUs = before.readUs + (note.delivered > 0 ? note.readUs : 0);
    queue.pull.calls = before.calls + (note.delivered > 0 ? 1 : 0);
    queue.pulledAt = now;
}

CommitOutcome OffsetTable::setReset(std::string_view group, std::string_view topic, std::int32_t queueId, std::int64_t offset) {
    if (offset < 0) return {};
    Shard& shard = shardOf(group);
    const std::lock_guard lock(shard.mutex);
    Queue& queue = obtain(shard, group, topic, queueId);
    if (queue.reset < 0) resets_.fetch_add(1, std::memory_order_acq_rel);
    queue.reset = offset;
    return store(queue, offset);
}

std::optional<std::int64_t> OffsetTable::reset(std::string_view group, std::string_view topic, std::int32_t queueId) const noexcept {
    if (resets_.load(std::memory_order_acquire) == 0) return std::nullopt;
    const Shard& shard = shardOf(group);
    const std::lock_guard lock(shard.mutex);
    const Queue* queue = find(shard, group, topic, queueId);
    if (queue == nullptr || queue->reset < 0) return std::nullopt;
    return queue->reset;
}

std::optional<std::int64_t> OffsetTable::takeReset(std::string_view group, std::string_view topic, std::int32_t queueId) noexcept {
    if (resets_.load(std::memory_order_acquire) == 0) return std::nullopt;
    Shard& shard = shardOf(group);
    const std::lock_guard lock(shard.mutex);
    Queue* queue = const_cast<Queue*>(find(shard, group, topic, queueId));
    if (queue == nullptr || queue->reset < 0) return std::nullopt;
    resets_.fetch_sub(1, std::memory_order_acq_rel);
    return std::exchange(queue->reset, -1);
}

std::vector<service::QueueProgress> OffsetTable::progress(std::string_view group, std::string_view topic) const {
    const Shard& shard = shardOf(group);
    const std::lock_guard lock(shard.mutex);
    const QueueList* queues = list(shard, group, topic);
    return queues == nullptr ? std::vector<service::QueueProgress>{} : *queues;
}

OffsetTable::Queues OffsetTable::queues(std::string_view group, std::string_view topic) const {
    Queues result;
    for (const Queue& queue : progress(group, topic)) {
        if (queue.committed >= 0) result.emplace(queue.queueId, queue.committed);
    }
    return result;
}

std::vector<std::string> OffsetTable::topicsOf(std::string_view group) const {
    std::vector<std::string> result;
    const Shard& shard = shardOf(group);
    const std::lock_guard lock(shard.mutex);
    const auto topics = shard.groups.find(group);
    if (topics == shard.groups.end()) return result;
    for (const auto& [topic, list] : topics->second) {
        if (std::any_of(list.begin(), list.end(), [](const Queue& queue) { return queue.committed >= 0; })) result.push_back(topic);
    }
    std::sort(result.begin(), result.end());
    return result;
}

std::vector<std::string> OffsetTable::groupsOf(std::string_view topic) const {
    std::vector<std::string> result;
    for (const Shard& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        for (const auto& [group, topics] : shard.groups) {
            const auto list = topics.find(topic);
            if (list == topics.end()) continue;
            if (std::any_of(list->second.begin(), list->second.end(), [](const Queue& q) { return q.committed >= 0; })) {
                result.push_back(group);
            }
        }
    }
    std::sort(result.begin(), result.end());
    return result;
}

void OffsetTable::forget(const QueueList& queues) noexcept {
    for (const Queue& queue : queues) {
        if (queue.reset >= 0) resets_.fetch_sub(1, std::memory_order_acq_rel);
    }
}

void OffsetTable::removeGroup(std::string_view group) {
    Shard& shard = shardOf(group);
    const std::lock_guard lock(shard.mutex);
    const auto topics = shard.groups.find(group);
    if (topics == shard.groups.end()) return;
    for (const auto& [topic, list] : topics->second) forget(list);
    shard.groups.erase(topics);
    changed();
}

void OffsetTable::removeTopic(std::string_view topic) {
    for (Shard& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        for (auto& [group, topics] : shard.groups) {
            const auto list = topics.find(topic);
            if (list == topics.end()) continue;
            forget(list->second);
            topics.erase(list);
            changed();
        }
        std::erase_if(shard.groups, [](const auto& entry) { return entry.second.empty(); });
    }
}

void OffsetTable::revise(const Revise& f) {
    for (Shard& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        for (auto& [group, topics] : shard.groups) {
            for (auto& [topic, list] : topics) {
                for (Queue& queue : list) {
                    if (queue.committed >= 0) store(queue, f(group, topic, queue.queueId, queue.committed));
                }
            }
        }
    }
}

void OffsetTable::load(const protocol::ConsumerOffsets& file) {
    for (const auto& [key, queues] : file.offsetTable) {
        // Topics have no @; a group may, for offsets that the broker keeps of broadcasting clients.
        const std::size_t at = key.find('@');
        if (at == std::string::npos) {
            foreign_.emplace(key, queues);
            continue;
        }
        const std::string_view topic = std::string_view(key).substr(0, at);
        const std::string_view group = std::string_view(key).substr(at + 1);
        for (const auto& [queueId, offset] : queues) commit(group, topic, queueId, offset, {});
    }
    changes_.store(0, std::memory_order_release);
}

std::map<std::string, OffsetTable::Queues, std::less<>> OffsetTable::snapshot() const {
    auto table = foreign_;
    for (const Shard& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        for (const auto& [group, topics] : shard.groups) {
            for (const auto& [topic, list] : topics) {
                Queues queues;
                for (const Queue& queue : list) {
                    if (queue.committed >= 0) queues.emplace_hint(queues.end(), queue.queueId, queue.committed);
                }
                if (!queues.empty()) table.insert_or_assign(topic + "@" + group, std::move(queues));
            }
        }
    }
    return table;
}

}  // namespace patchbay::plugins::consumer_offsets

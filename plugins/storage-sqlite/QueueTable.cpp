#include "QueueTable.h"

namespace patchbay::plugins::sqlite {

Ref<QueueState> QueueTable::find(std::string_view topic, std::int32_t queueId) const {
    const std::shared_lock lock(mutex_);
    const auto at = queues_.find(Name{topic, queueId});
    return at == queues_.end() ? Ref<QueueState>() : at->second;
}

void QueueTable::add(Ref<QueueState> queue) {
    const std::unique_lock lock(mutex_);
    const Name name{queue->topic, queue->queueId};
    queues_[name] = std::move(queue);
}

std::vector<Ref<QueueState>> QueueTable::removeTopic(std::string_view topic) {
    std::vector<Ref<QueueState>> removed;
    const std::unique_lock lock(mutex_);
    for (auto at = queues_.begin(); at != queues_.end();) {
        if (at->first.topic == topic) {
            removed.push_back(at->second);
            at = queues_.erase(at);
        } else {
            ++at;
        }
    }
    return removed;
}

std::vector<Ref<QueueState>> QueueTable::all() const {
    std::vector<Ref<QueueState>> all;
    const std::shared_lock lock(mutex_);
    all.reserve(queues_.size());
    for (const auto& [name, queue] : queues_) all.push_back(queue);
    return all;
}

std::size_t QueueTable::size() const {
    const std::shared_lock lock(mutex_);
    return queues_.size();
}

}  // namespace patchbay::plugins::sqlite

#include "BroadcastOffsets.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace patchbay::plugins::consumer_offsets {

namespace {

/// The entry of that name, made when it is missing; a name that is known costs no string.
template <typename Value>
Value& obtain(NameMap<Value>& table, std::string_view name) {
    const auto at = table.find(name);
    return at != table.end() ? at->second : table.emplace(name, Value{}).first->second;
}

}  // namespace

void BroadcastOffsets::note(const service::BroadcastPull& pull, std::int64_t offset, MonotonicTime now) {
    const std::lock_guard lock(mutex_);
    Client& client = obtain(obtain(obtain(groups_, pull.group), pull.topic), pull.clientId);
    client.seen = now;
    client.viaProxy = pull.viaProxy;
    const auto [at, added] = client.offsets.try_emplace(pull.queueId, offset);
    if (!added) at->second = std::max(at->second, offset);
}

std::optional<BroadcastOffsets::Known> BroadcastOffsets::find(const service::BroadcastPull& pull) const {
    const std::lock_guard lock(mutex_);
    const auto topics = groups_.find(pull.group);
    if (topics == groups_.end()) return std::nullopt;
    const auto clients = topics->second.find(pull.topic);
    if (clients == topics->second.end()) return std::nullopt;
    const auto client = clients->second.find(pull.clientId);
    if (client == clients->second.end()) return std::nullopt;
    const auto offset = client->second.offsets.find(pull.queueId);
    return Known{offset == client->second.offsets.end() ? -1 : offset->second, client->second.viaProxy};
}

void BroadcastOffsets::expire(MonotonicTime since) {
    const std::lock_guard lock(mutex_);
    for (auto& [group, topics] : groups_) {
        for (auto& [topic, clients] : topics) {
            std::erase_if(clients, [since](const auto& entry) { return entry.second.seen < since; });
        }
        std::erase_if(topics, [](const auto& entry) { return entry.second.empty(); });
    }
    std::erase_if(groups_, [](const auto& entry) { return entry.second.empty(); });
}

void BroadcastOffsets::lowest(const Visit& f) const {
    std::vector<std::tuple<std::string, std::string, std::int32_t, std::int64_t>> found;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& [group, topics] : groups_) {
            for (const auto& [topic, clients] : topics) {
                std::map<std::int32_t, std::int64_t> least;
                for (const auto& [id, client] : clients) {
                    for (const auto& [queue, offset] : client.offsets) {
                        const auto [at, added] = least.try_emplace(queue, offset);
                        if (!added) at->second = std::min(at->second, offset);
                    }
                }
                for (const auto& [queue, offset] : least) found.emplace_back(group, topic, queue, offset);
            }
        }
    }
    for (const auto& [group, topic, queue, offset] : found) f(group, topic, queue, offset);
}

void BroadcastOffsets::removeGroup(std::string_view group) {
    const std::lock_guard lock(mutex_);
    if (const auto at = groups_.find(group); at != groups_.end()) groups_.erase(at);
}

void BroadcastOffsets::removeTopic(std::string_view topic) {
    const std::lock_guard lock(mutex_);
    for (auto& [group, topics] : groups_) {
        if (const auto at = topics.find(topic); at != topics.end()) topics.erase(at);
    }
}

}  // namespace patchbay::plugins::consumer_offsets

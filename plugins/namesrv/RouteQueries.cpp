// What a RouteTable answers. Bodies are written straight from the tables: one pass, no copies of routes.
#include "RouteTable.h"

#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <cctype>

namespace patchbay::plugins::namesrv {

using protocol::BrokerData;
using protocol::QueueData;

namespace {

bool equalsIgnoringCase(std::string_view a, std::string_view b) noexcept {
    return std::ranges::equal(a, b, [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
    });
}

bool inZone(const BrokerData& broker, std::string_view zone) noexcept {
    if (!broker.brokerAddrs.contains(protocol::kMasterId)) return true;
    return broker.zoneName && equalsIgnoringCase(*broker.zoneName, zone);
}

/// Whether the smallest id of the group has to be shown as the master of these queues.
bool needsActingMaster(const BrokerData& broker, const QueueData& queues, std::string_view topic) noexcept {
    return broker.enableActingMaster && !broker.brokerAddrs.empty() && !broker.brokerAddrs.contains(protocol::kMasterId) &&
           !protocol::isWriteable(queues.perm) && !topic.starts_with(protocol::kTopicSyncMemberPrefix);
}

BrokerData withActingMaster(BrokerData broker) {
    const auto acting = broker.brokerAddrs.begin();
    broker.brokerAddrs.insert_or_assign(protocol::kMasterId, acting->second);
    broker.brokerAddrs.erase(acting);
    return broker;
}

}  // namespace

void RouteTable::writeFilterServers(json::Writer& out, std::span<const BrokerData* const> brokers) const {
    out.key("filterServerTable");
    out.beginObject();
    if (filterServers_ > 0) {
        for (const BrokerData* broker : brokers) {
            for (const auto& [id, address] : broker->brokerAddrs) {
                const LiveBroker* live = findLive(broker->cluster, address);
                if (live == nullptr || live->filterServers.empty()) continue;
                out.key(address);
                out.beginArray();
                for (const std::string& server : live->filterServers) out.string(server);
                out.endArray();
            }
        }
    }
    out.endObject();
}

bool RouteTable::writeRoute(const RouteQuery& query, std::string& text) const {
    const std::shared_lock guard(lock_);
    const auto topic = topics_.find(query.topic);
    if (topic == topics_.end()) return false;
    const Queues& queues = topic->second;

    // The brokers of `queues` in the same order; null for those that are gone or not asked for.
    std::vector<const BrokerData*> found(queues.size(), nullptr);
    bool any = false;
    for (std::size_t i = 0; i < queues.size(); ++i) {
        const auto broker = brokers_.find(queues[i].brokerName);
        if (broker == brokers_.end()) continue;
        any = true;
        if (query.zone.empty() || inZone(broker->second, query.zone)) found[i] = &broker->second;
    }
    if (!any) return false;

    json::Writer out(text, query.dialect);
    out.beginObject();
    out.key("brokerDatas");
    out.beginArray();
    for (std::size_t i = 0; i < queues.size(); ++i) {
        if (found[i] == nullptr) continue;
        if (query.actingMaster && needsActingMaster(*found[i], queues[i], query.topic)) {
            withActingMaster(*found[i]).write(out);
        } else {
            found[i]->write(out);
        }
    }
    out.endArray();
    std::vector<const BrokerData*> shown;
    if (filterServers_ > 0) std::ranges::copy_if(found, std::back_inserter(shown), [](auto* broker) { return broker != nullptr; });
    writeFilterServers(out, shown);
    if (query.orderConf) out.member("orderTopicConf", *query.orderConf);
    out.key("queueDatas");
    out.beginArray();
    for (std::size_t i = 0; i < queues.size(); ++i) {
        if (found[i] != nullptr || query.zone.empty()) queues[i].write(out);
    }
    out.endArray();
    if (const auto mapping = mappings_.find(query.topic); mapping != mappings_.end()) {
        out.key("topicQueueMappingByBroker");
        out.beginObject();
        for (const auto& [name, info] : mapping->second) {
            out.key(name);
            info.write(out);
        }
        out.endObject();
    }
    out.endObject();
    return true;
}

std::string RouteTable::clusterInfo() const {
    std::string text;
    const std::shared_lock guard(lock_);
    json::Writer out(text);
    out.beginObject();
    out.key("brokerAddrTable");
    out.beginObject();
    for (const auto& [name, broker] : brokers_) {
        out.key(name);
        broker.write(out);
    }
    out.endObject();
    out.key("clusterAddrTable");
    out.beginObject();
    for (const auto& [cluster, names] : clusters_) {
        out.key(cluster);
        out.beginArray();
        for (const std::string& name : names) out.string(name);
        out.endArray();
    }
    out.endObject();
    out.endObject();
    return text;
}

std::string RouteTable::memberGroup(std::string_view cluster, std::string_view name) const {
    protocol::BrokerMemberGroup group;
    group.cluster = cluster;
    group.brokerName = name;
    {
        const std::shared_lock guard(lock_);
        if (const auto broker = brokers_.find(name); broker != brokers_.end()) group.brokerAddrs = broker->second.brokerAddrs;
    }
    return group.toJson();
}

std::vector<std::string> RouteTable::topics() const {
    const std::shared_lock guard(lock_);
    std::vector<std::string> names;
    names.reserve(topics_.size());
    for (const auto& [topic, queues] : topics_) names.push_back(topic);
    return names;
}

std::vector<std::string> RouteTable::topicsOfCluster(std::string_view cluster) const {
    const std::shared_lock guard(lock_);
    std::vector<std::string> names;
    const auto members = clusters_.find(cluster);
    if (members == clusters_.end()) return names;
    for (const auto& [topic, queues] : topics_) {
        if (std::ranges::any_of(queues, [&](const QueueData& data) { return members->second.contains(data.brokerName); })) {
            names.push_back(topic);
        }
    }
    return names;
}

std::vector<std::string> RouteTable::topicsWithFlags(std::int32_t mask, std::int32_t flags) const {
    const std::shared_lock guard(lock_);
    std::vector<std::string> names;
    for (const auto& [topic, queues] : topics_) {
        if (!queues.empty() && (queues.front().topicSysFlag & mask) == flags) names.push_back(topic);
    }
    return names;
}

protocol::TopicList RouteTable::systemTopics() const {
    const std::shared_lock guard(lock_);
    protocol::TopicList list;
    for (const auto& [cluster, names] : clusters_) {
        list.topicList.push_back(cluster);
        list.topicList.insert(list.topicList.end(), names.begin(), names.end());
    }
    for (const auto& [name, broker] : brokers_) {
        if (broker.brokerAddrs.empty()) continue;
        list.brokerAddr = broker.brokerAddrs.begin()->second;
        break;
    }
    return list;
}

}  // namespace patchbay::plugins::namesrv

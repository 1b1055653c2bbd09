#include "RouteTable.h"

#include "patchbay/protocol/message/Names.h"

#include <algorithm>

namespace patchbay::plugins::namesrv {

using protocol::BrokerData;
using protocol::QueueData;

namespace {

constexpr std::int64_t kExpiryMsMax = 10LL * 24 * 3600 * 1000;  // what a broker may ask for; ten days

QueueData* find(std::vector<QueueData>& queues, std::string_view broker) noexcept {
    const auto at = std::ranges::find(queues, broker, &QueueData::brokerName);
    return at == queues.end() ? nullptr : &*at;
}

/// Who hears of a new smallest id: all when a broker left or only one is there, else all but the new one.
std::vector<std::string> recipients(const BrokerData& group, bool offline) {
    std::vector<std::string> addresses;
    for (const auto& [id, address] : group.brokerAddrs) {
        if (offline || group.brokerAddrs.size() == 1 || id != group.brokerAddrs.begin()->first) addresses.push_back(address);
    }
    return addresses;
}

MinBrokerChange changeOf(const BrokerData& group, bool offline) {
    MinBrokerChange change;
    change.recipients = recipients(group, offline);
    change.minBrokerId = group.brokerAddrs.begin()->first;
    change.minBrokerAddr = group.brokerAddrs.begin()->second;
    return change;
}

}  // namespace

/// The exclusive side of the queries' lock, let go from time to time. Iterators stay valid meanwhile, since only holders of
/// writers_ change anything.
class RouteTable::Slices {
public:
    explicit Slices(std::shared_mutex& lock) : lock_(lock) {}
    /// Between two steps of a long change.
    void step() {
        if (++steps_ % kStepsPerSlice != 0) return;
        lock_.unlock();
        lock_.lock();
    }

private:
    static constexpr std::size_t kStepsPerSlice = 256;
    std::unique_lock<std::shared_mutex> lock_;
    std::size_t steps_ = 0;
};

RouteTable::LiveBroker* RouteTable::findLive(std::string_view cluster, std::string_view address) noexcept {
    const auto brokers = live_.find(cluster);
    if (brokers == live_.end()) return nullptr;
    const auto at = brokers->second.find(address);
    return at == brokers->second.end() ? nullptr : &at->second;
}

const RouteTable::LiveBroker* RouteTable::findLive(std::string_view cluster, std::string_view address) const noexcept {
    const auto brokers = live_.find(cluster);
    if (brokers == live_.end()) return nullptr;
    const auto at = brokers->second.find(address);
    return at == brokers->second.end() ? nullptr : &at->second;
}

void RouteTable::eraseLive(std::string_view cluster, std::string_view address) noexcept {
    const auto brokers = live_.find(cluster);
    if (brokers == live_.end()) return;
    const auto at = brokers->second.find(address);
    if (at == brokers->second.end()) return;
    if (!at->second.filterServers.empty()) --filterServers_;
    brokers->second.erase(at);
    if (brokers->second.empty()) live_.erase(brokers);
}

bool RouteTable::losesAgainstOwner(const protocol::RegisterBrokerRequest& broker, const protocol::DataVersion& version) const {
    const auto group = brokers_.find(broker.brokerName);
    if (group == brokers_.end()) return false;
    const auto owner = group->second.brokerAddrs.find(broker.brokerId);
    if (owner == group->second.brokerAddrs.end() || owner->second == broker.brokerAddr) return false;
    const LiveBroker* live = findLive(broker.clusterName, owner->second);
    return live != nullptr && live->version.stateVersion > version.stateVersion;
}

Result<RegisterOutcome> RouteTable::registerBroker(const protocol::RegisterBrokerRequest& broker,
                                                   const protocol::RegisterBrokerBody& body, const Ref<plugin::Peer>& peer,
                                                   MonotonicTime now, std::chrono::milliseconds expiry,
                                                   bool dropUnnamedTopics) {
    const auto& wrapper = body.topicConfigSerializeWrapper;
    const std::lock_guard writer(writers_);
    Slices slices(lock_);
    const auto known = brokers_.find(broker.brokerName);
    const bool idKnown = known != brokers_.end() && known->second.brokerAddrs.contains(broker.brokerId);
    if (!idKnown && wrapper.topicConfigTable.size() == 1) return {StatusCode::Unavailable, "register broker failed"};
    RegisterOutcome outcome;
    if (losesAgainstOwner(broker, wrapper.dataVersion)) {
        eraseLive(broker.clusterName, broker.brokerAddr);
        return outcome;
    }

    clusters_[std::string(broker.clusterName)].emplace(broker.brokerName);
    BrokerData& group = brokers_[std::string(broker.brokerName)];
    if (known == brokers_.end()) {
        group.brokerName = broker.brokerName;
        group.cluster = broker.clusterName;
    }
    group.enableActingMaster = broker.enableActingMaster.value_or(false);
    group.zoneName = broker.zoneName.data() == nullptr ? std::nullopt : std::optional<std::string>(broker.zoneName);
    const bool minChanged = !group.brokerAddrs.empty() && broker.brokerId < group.brokerAddrs.begin()->first;
    // A slave that became the master has the same address under a new id.
    std::erase_if(group.brokerAddrs,
                  [&](const auto& member) { return member.second == broker.brokerAddr && member.first != broker.brokerId; });
    group.brokerAddrs.insert_or_assign(broker.brokerId, std::string(broker.brokerAddr));

    const bool master = broker.brokerId == protocol::kMasterId;
    const bool firstSlave = broker.enableActingMaster.has_value() && !master && group.brokerAddrs.begin()->first == broker.brokerId;
    if (master || firstSlave) {
        if (dropUnnamedTopics && wrapper.topicQueueMappingInfoMap.empty()) {
            dropTopicsNotIn(wrapper.topicConfigTable, broker.brokerName, slices);
        }
        const LiveBroker* before = findLive(broker.clusterName, broker.brokerAddr);
        const bool changed = !idKnown || before == nullptr || before->version != wrapper.dataVersion;
        applyTopics(broker, wrapper, changed, firstSlave && group.enableActingMaster, slices);
    }
    touchLive(broker, body, peer, now, expiry);

    if (!master) {
        const auto masterAt = group.brokerAddrs.find(protocol::kMasterId);
        if (masterAt != group.brokerAddrs.end()) {
            if (const LiveBroker* live = findLive(broker.clusterName, masterAt->second); live != nullptr) {
                outcome.haServerAddr = live->haServerAddr;
                outcome.masterAddr = masterAt->second;
            }
        }
    }
    if (minChanged) {
        outcome.change = changeOf(group, false);
        outcome.change->haBrokerAddr = broker.haServerAddr;
    }
    return outcome;
}

void RouteTable::applyTopics(const protocol::RegisterBrokerRequest& broker,
                             const protocol::TopicConfigSerializeWrapper& wrapper, bool all, bool readOnly, Slices& slices) {
    for (const auto& [topic, config] : wrapper.topicConfigTable) {
        slices.step();
        Queues& queues = topics_[topic];
        QueueData* data = find(queues, broker.brokerName);
        if (data != nullptr && !all) continue;
        if (data == nullptr) {
            data = &queues.emplace_back();
            data->brokerName = broker.brokerName;
        }
        data->readQueueNums = config.readQueueNums;
        data->writeQueueNums = config.writeQueueNums;
        data->perm = readOnly ? config.perm & ~protocol::kPermWrite : config.perm;
        data->topicSysFlag = config.topicSysFlag;
    }
    if (!all) return;
    for (const auto& [topic, mapping] : wrapper.topicQueueMappingInfoMap) {
        slices.step();
        mappings_[topic].insert_or_assign(mapping.bname, mapping);
    }
}

void RouteTable::dropTopicsNotIn(const protocol::TopicConfigTable& named, std::string_view broker, Slices& slices) {
    for (auto topic = topics_.begin(); topic != topics_.end();) {
        slices.step();
        if (!named.contains(topic->first)) {
            std::erase_if(topic->second, [&](const QueueData& data) { return data.brokerName == broker; });
        }
        topic = topic->second.empty() ? topics_.erase(topic) : std::next(topic);
    }
}

void RouteTable::dropMappings(std::string_view broker, Slices& slices) {
    for (auto at = mappings_.begin(); at != mappings_.end();) {
        slices.step();
        if (const auto mapping = at->second.find(broker); mapping != at->second.end()) at->second.erase(mapping);
        at = at->second.empty() ? mappings_.erase(at) : std::next(at);
    }
}

void RouteTable::touchLive(const protocol::RegisterBrokerRequest& broker, const protocol::RegisterBrokerBody& body,
                           const Ref<plugin::Peer>& peer, MonotonicTime now, std::chrono::milliseconds expiry) {
    LiveBroker& live = live_[std::string(broker.clusterName)][std::string(broker.brokerAddr)];
    live.name = broker.brokerName;
    live.id = broker.brokerId;
    live.expiry = broker.heartbeatTimeoutMillis
                      ? std::chrono::milliseconds(std::clamp(*broker.heartbeatTimeoutMillis, std::int64_t{1}, kExpiryMsMax))
                      : expiry;
    live.version = body.topicConfigSerializeWrapper.dataVersion;
    live.peer = peer;
    live.haServerAddr = broker.haServerAddr;
    live.lastSeen.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    if (!body.filterServersSaid) return;
    if (!live.filterServers.empty()) --filterServers_;
    live.filterServers = body.filterServerList;
    if (!live.filterServers.empty()) ++filterServers_;
}

template <typename Change>
std::int32_t RouteTable::forEachQueueOf(std::string_view broker, Slices& slices, Change change) {
    std::int32_t count = 0;
    for (auto& [topic, queues] : topics_) {
        slices.step();
        if (QueueData* data = find(queues, broker); data != nullptr) {
            change(*data);
            ++count;
        }
    }
    return count;
}

void RouteTable::removeLocked(std::string_view cluster, std::string_view name, std::string_view address, Slices& slices,
                              UnregisterOutcome& outcome) {
    eraseLive(cluster, address);
    const auto group = brokers_.find(name);
    if (group == brokers_.end()) return;
    auto& members = group->second.brokerAddrs;
    const std::int64_t minBefore = members.empty() ? 0 : members.begin()->first;
    const auto removed = std::erase_if(members, [&](const auto& member) {
        if (member.second != address) return false;
        outcome.gone.push_back(std::string(name) + " " + std::to_string(member.first) + " " + member.second);
        return true;
    });
    if (removed == 0) return;
    if (members.empty()) {
        brokers_.erase(group);
        for (auto at = clusters_.begin(); at != clusters_.end();) {
            if (const auto member = at->second.find(name); member != at->second.end()) at->second.erase(member);
            at = at->second.empty() ? clusters_.erase(at) : std::next(at);
        }
        dropTopicsNotIn({}, name, slices);
        dropMappings(name, slices);
        return;
    }
    if (!group->second.enableActingMaster) return;
    if (!members.contains(protocol::kMasterId)) {
        forEachQueueOf(name, slices, [](QueueData& data) { data.perm &= ~protocol::kPermWrite; });
    }
    if (members.begin()->first != minBefore) {
        MinBrokerChange change = changeOf(group->second, true);
        change.offlineBrokerAddr = address;
        outcome.changes.push_back(std::move(change));
    }
}

UnregisterOutcome RouteTable::unregisterBroker(std::string_view cluster, std::string_view name, std::string_view address) {
    UnregisterOutcome outcome;
    const std::lock_guard writer(writers_);
    Slices slices(lock_);
    removeLocked(cluster, name, address, slices, outcome);
    return outcome;
}

namespace {

struct Departure {
    std::string cluster;
    std::string name;
    std::string address;
};

}  // namespace

UnregisterOutcome RouteTable::unregisterPeer(const plugin::Peer& peer) {
    UnregisterOutcome outcome;
    const std::lock_guard writer(writers_);
    std::vector<Departure> departures;
    for (const auto& [cluster, brokers] : live_) {
        for (const auto& [address, live] : brokers) {
            if (live.peer.get() == &peer) departures.push_back({cluster, live.name, address});
        }
    }
    Slices slices(lock_);
    for (const auto& [cluster, name, address] : departures) removeLocked(cluster, name, address, slices, outcome);
    return outcome;
}

UnregisterOutcome RouteTable::expire(MonotonicTime now) {
    UnregisterOutcome outcome;
    const std::lock_guard writer(writers_);
    std::vector<Departure> departures;
    std::vector<Ref<plugin::Peer>> silent;
    for (const auto& [cluster, brokers] : live_) {
        for (const auto& [address, live] : brokers) {
            const std::chrono::nanoseconds age(now.time_since_epoch().count() - live.lastSeen.load(std::memory_order_relaxed));
            if (age <= live.expiry) continue;
            departures.push_back({cluster, live.name, address});
            if (live.peer) silent.push_back(live.peer);
        }
    }
    if (departures.empty()) return outcome;
    {
        Slices slices(lock_);
        for (const auto& [cluster, name, address] : departures) removeLocked(cluster, name, address, slices, outcome);
    }
    for (const auto& peer : silent) peer->close("the broker behind it sent no sign of life");
    return outcome;
}

bool RouteTable::isBroker(const plugin::Peer& peer) const {
    const std::shared_lock guard(lock_);
    for (const auto& [cluster, brokers] : live_) {
        for (const auto& [address, live] : brokers) {
            if (live.peer.get() == &peer) return true;
        }
    }
    return false;
}

void RouteTable::heartbeat(std::string_view cluster, std::string_view address, MonotonicTime now) noexcept {
    const std::shared_lock guard(lock_);
    if (LiveBroker* live = findLive(cluster, address); live != nullptr) {
        live->lastSeen.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    }
}

std::optional<protocol::DataVersion> RouteTable::dataVersion(std::string_view cluster, std::string_view address,
                                                             MonotonicTime now) noexcept {
    const std::shared_lock guard(lock_);
    LiveBroker* live = findLive(cluster, address);
    if (live == nullptr) return std::nullopt;
    live->lastSeen.store(now.time_since_epoch().count(), std::memory_order_relaxed);
    return live->version;
}

std::int32_t RouteTable::wipeWritePermission(std::string_view name) {
    const std::lock_guard writer(writers_);
    Slices slices(lock_);
    return forEachQueueOf(name, slices, [](QueueData& data) { data.perm &= ~protocol::kPermWrite; });
}

std::int32_t RouteTable::addWritePermission(std::string_view name) {
    const std::lock_guard writer(writers_);
    Slices slices(lock_);
    return forEachQueueOf(name, slices, [](QueueData& data) { data.perm = protocol::kPermRead | protocol::kPermWrite; });
}

void RouteTable::deleteTopic(std::string_view topic, std::string_view cluster) {
    const std::lock_guard writer(writers_);
    const std::unique_lock guard(lock_);
    const auto at = topics_.find(topic);
    if (at == topics_.end()) return;
    if (!cluster.empty()) {
        const auto members = clusters_.find(cluster);
        if (members == clusters_.end()) return;
        std::erase_if(at->second, [&](const QueueData& data) { return members->second.contains(data.brokerName); });
        if (!at->second.empty()) return;
    }
    topics_.erase(at);
    if (const auto mapping = mappings_.find(topic); mapping != mappings_.end()) mappings_.erase(mapping);
}

void RouteTable::registerTopic(std::string_view topic, std::span<const QueueData> queues) {
    const std::lock_guard writer(writers_);
    const std::unique_lock guard(lock_);
    const bool allKnown = std::ranges::all_of(queues, [&](const QueueData& data) { return brokers_.contains(data.brokerName); });
    auto at = topics_.find(topic);
    if (at == topics_.end()) {
        // A topic nobody had is taken whole or not at all, as RocketMQ does.
        if (!allKnown || queues.empty()) return;
        at = topics_.emplace(topic, Queues()).first;
    }
    for (const QueueData& data : queues) {
        if (!brokers_.contains(data.brokerName)) return;
        if (QueueData* old = find(at->second, data.brokerName); old != nullptr) {
            *old = data;
        } else {
            at->second.push_back(data);
        }
    }
}

}  // namespace patchbay::plugins::namesrv

#include "Registry.h"

#include "patchbay/protocol/headers/Client.h"

#include <algorithm>

namespace patchbay::plugins::clients {

Registry::Registry(plugin::PluginContext& context, const ClientsConfig& config, service::SubscriptionGroups& groups)
    : context_(context), config_(config), groups_(groups) {}

Registry::Connection& Registry::connect(const Sender& from) {
    const auto [at, added] = connections_.try_emplace(from.peer.id());
    Connection& connection = at->second;
    if (!added && connection.clientId != from.clientId) dropClientId(connection.clientId, from.peer.id());
    connection.clientId = from.clientId;
    auto named = clients_.find(from.clientId);
    if (named == clients_.end()) named = clients_.emplace(from.clientId, Peers{}).first;
    Peers& peers = named->second;
    if (!peers.empty() && peers.back().get() == &from.peer) return connection;
    std::erase_if(peers, [&](const auto& peer) { return peer.get() == &from.peer; });
    peers.push_back(Ref<plugin::Peer>::share(&from.peer));
    return connection;
}

void Registry::dropClientId(std::string_view clientId, std::uint64_t peerId) {
    const auto named = clients_.find(clientId);
    if (named == clients_.end()) return;
    std::erase_if(named->second, [&](const auto& peer) { return peer->id() == peerId; });
    if (named->second.empty()) clients_.erase(named);
}

Registry::Peers Registry::twins(const ConsumerGroup& group, std::string_view clientId, std::uint64_t peerId) const {
    Peers found;
    const auto named = clients_.find(clientId);
    if (named == clients_.end()) return found;
    for (const auto& other : named->second) {
        if (other->id() == peerId) continue;
        const auto member = group.members().find(other->id());
        if (member != group.members().end() && member->second.clientId == clientId) found.push_back(other);
    }
    return found;
}

void Registry::warnOfTwins(const Sender& from, std::string_view name, ConsumerGroup& group) {
    const Peers others = twins(group, from.clientId, from.peer.id());
    if (others.empty() || !group.beginTwins(from.clientId)) return;
    // Clients sort the ids and share out the queues by their place: with equal ids some queues are nobody's.
    context_.log().limited(plugin::LogLevel::Warn, "two connections of a group have the same client id",
                           {{"group", name}, {"clientId", from.clientId}, {"peer", from.peer.remote().toString()},
                            {"other", others.front()->remote().toString()}});
}

void Registry::noteLastTwin(ConsumerGroup& group, std::string_view clientId, std::uint64_t peerId) {
    if (twins(group, clientId, peerId).size() == 1) group.endTwins(clientId, context_.clock().now());
}

const Member* Registry::memberOf(std::string_view group, std::uint64_t peerId) const {
    const auto at = consumers_.find(group);
    if (at == consumers_.end()) return nullptr;
    const auto member = at->second.members().find(peerId);
    return member == at->second.members().end() ? nullptr : &member->second;
}

bool Registry::tellsMore(std::uint64_t peerId, const protocol::HeartbeatData& heartbeat) const {
    for (const auto& data : heartbeat.consumerDataSet) {
        const Member* member = memberOf(data.groupName, peerId);
        if (member == nullptr) return true;
        std::size_t said = 0;
        for (const auto& subscription : data.subscriptionDataSet) said += keptBytes(subscription);
        if (said > member->saidBytes) return true;
    }
    for (const auto& group : heartbeat.producerGroups) {
        const auto at = producers_.find(group);
        if (at == producers_.end() || !at->second.contains(peerId)) return true;
    }
    return false;
}

Status Registry::roomFor(const plugin::Peer& peer, const protocol::HeartbeatData& heartbeat) const {
    const std::shared_lock lock(mutex_);
    if (!tellsMore(peer.id(), heartbeat)) return Status::ok();
    const auto beyond = [](std::string_view what, std::string_view key, std::size_t limit) {
        return Status(StatusCode::Busy, std::string(what) + ", limit " + std::string(key) + ' ' + std::to_string(limit));
    };
    std::set<std::string_view> named;
    std::size_t incoming = 0;
    std::size_t replaced = 0;
    std::size_t groups = heartbeat.producerGroups.size();
    std::size_t subscriptions = 0;
    for (const auto& data : heartbeat.consumerDataSet) {
        if (named.insert(data.groupName).second) {
            const Member* member = memberOf(data.groupName, peer.id());
            if (member == nullptr) ++groups;
            else replaced += member->saidBytes;
            if (const auto at = consumers_.find(data.groupName); at != consumers_.end()) replaced += at->second.topicsBytes();
        }
        subscriptions += data.subscriptionDataSet.size();
        for (const auto& subscription : data.subscriptionDataSet) incoming += 2 * keptBytes(subscription);
    }
    if (const auto at = connections_.find(peer.id()); at != connections_.end()) {
        const Connection& connection = at->second;
        groups += connection.consumerGroups.size() + connection.producerGroups.size();
        groups -= static_cast<std::size_t>(std::ranges::count_if(
            heartbeat.producerGroups, [&connection](const auto& group) { return connection.producerGroups.contains(group); }));
        for (const auto& group : connection.consumerGroups) {
            if (named.contains(group)) continue;  // replaced
            if (const Member* member = memberOf(group, peer.id()); member != nullptr) subscriptions += member->says.size();
        }
    }
    if (groups > config_.heartbeatGroupsMax) {
        return beyond("the connection is in too many groups", "heartbeatGroupsMax", config_.heartbeatGroupsMax);
    }
    if (subscriptions > config_.heartbeatSubscriptionsMax) {
        return beyond("the connection has too many subscriptions", "heartbeatSubscriptionsMax", config_.heartbeatSubscriptionsMax);
    }
    if (bytes_ - replaced + incoming > config_.clientsBytesMax) {
        return beyond("the broker has no room for more clients", "clientsBytesMax", config_.clientsBytesMax);
    }
    return Status::ok();
}

bool Registry::registerConsumer(const Sender& from, const protocol::ConsumerData& data, const protocol::HeartbeatData& heartbeat) {
    const bool second = heartbeat.heartbeatFingerprint != 0;
    const bool withSubscriptions = !(second && heartbeat.withoutSub);
    std::vector<Notice> notices;
    bool full = false;
    {
        const std::unique_lock lock(mutex_);
        connect(from).consumerGroups.insert(data.groupName);
        const auto at = consumers_.try_emplace(data.groupName, data.groupName).first;
        ConsumerGroup& group = at->second;
        const auto member = group.members().find(from.peer.id());
        const bool isNew = member == group.members().end();
        if (isNew || member->second.clientId != from.clientId) {
            if (!isNew) noteLastTwin(group, member->second.clientId, from.peer.id());
            warnOfTwins(from, data.groupName, group);
        }
        const std::size_t before = group.bytes();
        const bool changed = group.update(from, data, withSubscriptions, context_.log());
        bytes_ += group.bytes() - before;
        const bool otherFingerprint = group.fingerprintChanged(heartbeat.heartbeatFingerprint);
        // A broker that was restarted knows the members of the second version only without what they subscribe.
        full = !second || otherFingerprint || !group.hasSubscriptions();
        if (changed && !group.broadcasting()) notices.push_back({data.groupName, peersOf(group)});
    }
    notify(notices);
    return full;
}

void Registry::registerProducer(const Sender& from, std::string_view group) {
    const std::unique_lock lock(mutex_);
    auto& joined = connect(from).producerGroups;
    if (!joined.contains(group)) joined.emplace(group);
    auto at = producers_.find(group);
    if (at == producers_.end()) at = producers_.emplace(group, Members{}).first;
    const auto [member, added] = at->second.try_emplace(from.peer.id());
    if (!added) bytes_ -= member->second.bytes(group);
    member->second.refresh(from);
    bytes_ += member->second.bytes(group);
}

Registry::Peers Registry::peersOf(const ConsumerGroup& group) {
    Peers peers;
    peers.reserve(group.members().size());
    for (const auto& [id, member] : group.members()) peers.push_back(member.peer);
    return peers;
}

void Registry::leaveConsumerGroup(std::string_view group, std::uint64_t peerId, std::vector<Notice>& notices) {
    const auto at = consumers_.find(group);
    if (at == consumers_.end()) return;
    const auto member = at->second.members().find(peerId);
    if (member == at->second.members().end()) return;
    noteLastTwin(at->second, member->second.clientId, peerId);
    bytes_ -= at->second.bytes();
    at->second.removeMember(peerId, context_.clock().now(), context_.log());
    if (!at->second.members().empty()) bytes_ += at->second.bytes();
    if (at->second.members().empty()) {
        consumers_.erase(at);
    } else if (!at->second.broadcasting()) {
        notices.push_back({std::string(group), peersOf(at->second)});
    }
}

void Registry::leaveProducerGroup(std::string_view group, std::uint64_t peerId) {
    const auto at = producers_.find(group);
    if (at == producers_.end()) return;
    const auto member = at->second.find(peerId);
    if (member == at->second.end()) return;
    bytes_ -= member->second.bytes(group);
    at->second.erase(member);
    if (at->second.empty()) producers_.erase(at);
}

void Registry::forgetConnection(std::uint64_t peerId) {
    const auto gone = connections_.find(peerId);
    if (gone == connections_.end()) return;
    dropClientId(gone->second.clientId, peerId);
    connections_.erase(gone);
}

void Registry::forgetIfIdle(std::uint64_t peerId) {
    const auto at = connections_.find(peerId);
    if (at == connections_.end()) return;
    if (at->second.consumerGroups.empty() && at->second.producerGroups.empty()) forgetConnection(peerId);
}

void Registry::leaveAll(std::uint64_t peerId, std::vector<Notice>& notices) {
    const auto at = connections_.find(peerId);
    if (at == connections_.end()) return;
    for (const auto& group : at->second.consumerGroups) leaveConsumerGroup(group, peerId, notices);
    for (const auto& group : at->second.producerGroups) leaveProducerGroup(group, peerId);
    forgetConnection(peerId);
}

void Registry::unregisterConsumer(plugin::Peer& peer, std::string_view group) {
    std::vector<Notice> notices;
    {
        const std::unique_lock lock(mutex_);
        leaveConsumerGroup(group, peer.id(), notices);
        if (const auto at = connections_.find(peer.id()); at != connections_.end()) {
            if (const auto name = at->second.consumerGroups.find(group); name != at->second.consumerGroups.end()) {
                at->second.consumerGroups.erase(name);
            }
        }
        forgetIfIdle(peer.id());
    }
    notify(notices);
}

void Registry::unregisterProducer(plugin::Peer& peer, std::string_view group) {
    const std::unique_lock lock(mutex_);
    leaveProducerGroup(group, peer.id());
    if (const auto at = connections_.find(peer.id()); at != connections_.end()) {
        if (const auto name = at->second.producerGroups.find(group); name != at->second.producerGroups.end()) {
            at->second.producerGroups.erase(name);
        }
    }
    forgetIfIdle(peer.id());
}

void Registry::peerClosed(plugin::Peer& peer) noexcept {
    std::vector<Notice> notices;
    {
        const std::unique_lock lock(mutex_);
        leaveAll(peer.id(), notices);
    }
    notify(notices);
}

void Registry::expire() {
    const MonotonicTime now = context_.clock().now();
    std::vector<Notice> notices;
    Peers expired;
    {
        const std::unique_lock lock(mutex_);
        const auto collect = [&](const Members& members, std::chrono::milliseconds age) {
            for (const auto& [id, member] : members) {
                if (now - member.last > age || !member.peer->isOpen()) expired.push_back(member.peer);
            }
        };
        for (const auto& [name, group] : consumers_) collect(group.members(), config_.consumerExpiry);
        for (const auto& [name, members] : producers_) collect(members, config_.producerExpiry);
        for (const auto& peer : expired) leaveAll(peer->id(), notices);
        for (auto& [name, group] : consumers_) group.settle(now, context_.log());
        for (auto& [group, topics] : compensated_) {
            std::erase_if(topics, [&](const auto& entry) {
                const bool old = now - entry.second.at > config_.subscriptionExpiry;
                if (old) compensatedBytes_ -= entry.second.bytes;
                return old;
            });
        }
        std::erase_if(compensated_, [](const auto& entry) { return entry.second.empty(); });
    }
    for (const auto& peer : expired) {
        if (!peer->isOpen()) continue;
        context_.log().limited(plugin::LogLevel::Warn, "a client sent no heartbeat and is forgotten",
                               {{"peer", peer->remote().toString()}});
        peer->close("no heartbeat");
    }
    notify(notices);
}

void Registry::clear() noexcept {
    const std::unique_lock lock(mutex_);
    consumers_.clear();
    producers_.clear();
    connections_.clear();
    clients_.clear();
    compensated_.clear();
    bytes_ = 0;
    compensatedBytes_ = 0;
}

bool Registry::wantsNotice(std::string_view group) const {
    if (!config_.notifyConsumerIdsChanged) return false;
    service::GroupFacts facts;
    return !groups_.find(group, facts) || facts.notifyConsumerIdsChangedEnable;
}

void Registry::notify(const std::vector<Notice>& notices) const noexcept {
    for (const Notice& notice : notices) {
        if (wantsNotice(notice.group)) push(notice.group, notice.peers);
    }
}

void Registry::push(std::string_view group, const Peers& peers) noexcept {
    auto command = protocol::RemotingCommand::request(protocol::RequestCode::NotifyConsumerIdsChanged);
    command.setHeader(protocol::ConsumerGroupRequest{group});
    command.flag |= protocol::kFlagOneway;
    for (const auto& peer : peers) {
        // One that is gone or does not read rebalances by its own timer.
        static_cast<void>(peer->push(command));
    }
}

void Registry::notifyChanged(std::string_view group) {
    if (!wantsNotice(group)) return;
    Peers peers;
    {
        const std::shared_lock lock(mutex_);
        const auto at = consumers_.find(group);
        if (at == consumers_.end()) return;
        peers = peersOf(at->second);
    }
    push(group, peers);
}

void Registry::compensate(std::string_view group, std::string_view topic, std::string_view expression,
                          std::string_view expressionType) {
    const MonotonicTime now = context_.clock().now();
    {
        // Nearly every pull tells nothing new; it must not stop the others.
        const std::shared_lock lock(mutex_);
        if (knowsFresh(group, topic, expression, now)) return;
    }
    auto data = protocol::SubscriptionData::build(topic, expression, expressionType.empty() ? protocol::kExpressionTypeTag : expressionType);
    if (!data) return;
    data->subVersion = context_.clock().wallMs();
    const std::size_t bytes = keptBytes(*data) + expression.size() + 2 * group.size();
    const std::unique_lock lock(mutex_);
    auto topics = compensated_.find(group);
    std::size_t before = 0;
    if (topics != compensated_.end()) {
        if (const auto at = topics->second.find(topic); at != topics->second.end()) before = at->second.bytes;
    }
    // It serves those who look, not the pull itself.
    if (compensatedBytes_ - before + bytes > config_.pullSubscriptionsBytesMax) {
        return context_.log().limited(plugin::LogLevel::Warn, "a subscription that a pull names is not remembered (pullSubscriptionsBytesMax)",
                                      {{"group", group}, {"topic", topic}});
    }
    if (topics == compensated_.end()) topics = compensated_.emplace(group, NameMap<Compensated>{}).first;
    topics->second.insert_or_assign(std::string(topic), Compensated{std::string(expression), std::move(*data), now, bytes});
    compensatedBytes_ += bytes - before;
}

bool Registry::knowsFresh(std::string_view group, std::string_view topic, std::string_view expression, MonotonicTime now) const {
    // What its heartbeats say is better.
    if (const auto at = consumers_.find(group); at != consumers_.end() && at->second.subscription(topic) != nullptr) return true;
    const auto topics = compensated_.find(group);
    if (topics == compensated_.end()) return false;
    const auto at = topics->second.find(topic);
    return at != topics->second.end() && at->second.expression == expression && now - at->second.at < config_.subscriptionExpiry / 4;
}

std::vector<std::string> Registry::consumerIds(std::string_view group) const {
    std::vector<std::string> ids;
    const std::shared_lock lock(mutex_);
    const auto at = consumers_.find(group);
    if (at == consumers_.end()) return ids;
    for (const auto& [id, member] : at->second.members()) ids.push_back(member.clientId);
    return ids;
}

service::GroupState Registry::group(std::string_view group) const {
    const std::shared_lock lock(mutex_);
    const auto at = consumers_.find(group);
    return at == consumers_.end() ? service::GroupState{} : at->second.state();
}

std::optional<protocol::SubscriptionData> Registry::subscription(std::string_view group, std::string_view topic) const {
    const std::shared_lock lock(mutex_);
    if (const auto at = consumers_.find(group); at != consumers_.end()) {
        if (const auto* data = at->second.subscription(topic)) return *data;
    }
    if (const auto topics = compensated_.find(group); topics != compensated_.end()) {
        if (const auto at = topics->second.find(topic); at != topics->second.end()) return at->second.data;
    }
    return std::nullopt;
}

std::vector<protocol::SubscriptionData> Registry::subscriptions(std::string_view group) const {
    const std::shared_lock lock(mutex_);
    const auto at = consumers_.find(group);
    if (at != consumers_.end()) return at->second.subscriptions();
    std::vector<protocol::SubscriptionData> all;
    if (const auto topics = compensated_.find(group); topics != compensated_.end()) {
        for (const auto& [topic, entry] : topics->second) all.push_back(entry.data);
    }
    return all;
}

std::vector<service::ClientInfo> Registry::consumers(std::string_view group) const {
    std::vector<service::ClientInfo> all;
    const std::shared_lock lock(mutex_);
    const auto at = consumers_.find(group);
    if (at == consumers_.end()) return all;
    for (const auto& [id, member] : at->second.members()) all.push_back(member.info());
    return all;
}

std::vector<service::ClientInfo> Registry::producers(std::string_view group) const {
    std::vector<service::ClientInfo> all;
    const std::shared_lock lock(mutex_);
    const auto at = producers_.find(group);
    if (at == producers_.end()) return all;
    for (const auto& [id, member] : at->second) all.push_back(member.info());
    return all;
}

std::vector<std::string> Registry::consumerGroups() const {
    std::vector<std::string> names;
    const std::shared_lock lock(mutex_);
    for (const auto& [name, group] : consumers_) names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> Registry::producerGroups() const {
    std::vector<std::string> names;
    const std::shared_lock lock(mutex_);
    for (const auto& [name, members] : producers_) names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> Registry::groupsOf(std::string_view topic) const {
    std::vector<std::string> names;
    const std::shared_lock lock(mutex_);
    for (const auto& [name, group] : consumers_) {
        if (group.subscription(topic) != nullptr) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

Ref<plugin::Peer> Registry::findConsumer(std::string_view group, std::string_view clientId) const {
    const std::shared_lock lock(mutex_);
    const auto at = consumers_.find(group);
    if (at == consumers_.end()) return {};
    for (const auto& [id, member] : at->second.members()) {
        if (member.clientId == clientId) return member.peer;
    }
    return {};
}

std::string Registry::clientId(std::string_view group, std::uint64_t peerId) const {
    const std::shared_lock lock(mutex_);
    const auto at = consumers_.find(group);
    if (at == consumers_.end()) return {};
    const auto member = at->second.members().find(peerId);
    return member == at->second.members().end() ? std::string() : member->second.clientId;
}

std::vector<service::GroupConflict> Registry::conflicts(std::string_view group) const {
    const std::shared_lock lock(mutex_);
    const auto at = consumers_.find(group);
    return at == consumers_.end() ? std::vector<service::GroupConflict>{} : at->second.conflicts();
}

Ref<plugin::Peer> Registry::findClient(std::string_view clientId) const {
    const std::shared_lock lock(mutex_);
    const auto at = clients_.find(clientId);
    return at == clients_.end() ? Ref<plugin::Peer>() : at->second.back();
}

}  // namespace patchbay::plugins::clients

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

void Registry::warnOfTwins(const Sender& from, std::string_view name, const ConsumerGroup& group) {
    const Peers others = twins(group, from.clientId, from.peer.id());
    if (others.empty()) return;
    // Clients sort the ids and share out the queues by their place: with equal ids some queues are nobody's.
    context_.log().limited(plugin::LogLevel::Warn, "two connections of a group have the same client id",
                           {{"group", name}, {"clientId", from.clientId}, {"peer", from.peer.remote().toString()},
                            {"other", others.front()->remote().toString()}});
}

void Registry::tellOfLastTwin(std::string_view name, const ConsumerGroup& group, std::string_view clientId, std::uint64_t peerId) {
    const Peers left = twins(group, clientId, peerId);
    if (left.size() != 1) return;
    context_.log().limited(plugin::LogLevel::Info, "a client id of a group belongs to one connection again",
                           {{"group", name}, {"clientId", clientId}, {"peer", left.front()->remote().toString()}});
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
            if (!isNew) tellOfLastTwin(data.groupName, group, member->second.clientId, from.peer.id());
            warnOfTwins(from, data.groupName, group);
        }
        const bool changed = group.update(from, data, withSubscriptions, context_.log());
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
    at->second[from.peer.id()].refresh(from);
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
    tellOfLastTwin(group, at->second, member->second.clientId, peerId);
    at->second.removeMember(peerId, context_.log());
    if (at->second.members().empty()) {
        consumers_.erase(at);
    } else if (!at->second.broadcasting()) {
        notices.push_back({std::string(group), peersOf(at->second)});
    }
}

void Registry::leaveProducerGroup(std::string_view group, std::uint64_t peerId) {
    const auto at = producers_.find(group);
    if (at == producers_.end()) return;
    at->second.erase(peerId);
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
        for (auto& [group, topics] : compensated_) {
            std::erase_if(topics, [&](const auto& entry) { return now - entry.second.at > config_.subscriptionExpiry; });
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
    const std::unique_lock lock(mutex_);
    auto topics = compensated_.find(group);
    if (topics == compensated_.end()) topics = compensated_.emplace(group, NameMap<Compensated>{}).first;
    topics->second.insert_or_assign(std::string(topic), Compensated{std::string(expression), std::move(*data), now});
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

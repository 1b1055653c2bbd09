#include "ConsumerGroup.h"

#include <algorithm>
#include <functional>

namespace patchbay::plugins::clients {

namespace {

std::size_t expressionHash(const protocol::SubscriptionData& data) noexcept {
    const std::hash<std::string_view> hash;
    return hash(data.subString) * 31 + hash(data.expressionType);
}

}  // namespace

void Member::refresh(const Sender& from) {
    if (clientId != from.clientId) clientId = from.clientId;
    if (peer.get() != &from.peer) peer = Ref<plugin::Peer>::share(&from.peer);
    language = from.language;
    version = from.version;
    lastMs = from.nowMs;
    last = from.now;
}

bool ConsumerGroup::update(const Sender& from, const protocol::ConsumerData& data, bool withSubscriptions, plugin::Logger& log) {
    state_.online = true;
    state_.lastUpdateMs = from.nowMs;
    // The last heartbeat decides, as in RocketMQ; members of one group are expected to agree.
    if (data.consumeType) state_.consumeType = static_cast<service::ConsumeType>(*data.consumeType);
    if (data.messageModel) state_.model = static_cast<service::MessageModel>(*data.messageModel);
    if (data.consumeFromWhere) state_.consumeFromWhere = static_cast<std::int32_t>(*data.consumeFromWhere);
    const auto [member, added] = members_.try_emplace(from.peer.id());
    member->second.refresh(from);
    bool changed = added;
    if (withSubscriptions) changed |= updateTopics(from, data.subscriptionDataSet, log);
    return changed;
}

bool ConsumerGroup::updateTopics(const Sender& from, const std::vector<protocol::SubscriptionData>& wanted, plugin::Logger& log) {
    bool changed = false;
    ++heartbeats_;
    for (const auto& data : wanted) changed |= takeOver(from, data, log);
    for (auto at = topics_.begin(); at != topics_.end();) {
        if (at->second.namedIn == heartbeats_) {
            ++at;
            continue;
        }
        if (members_.size() > 1 && at->second.setBy != from.peer.id()) {
            log.limited(plugin::LogLevel::Warn, "members of a group subscribe different topics and take them from each other",
                        {{"group", name_}, {"topic", at->first}, {"dropped by", from.peer.remote().toString()},
                         {"wanted by", addressOf(at->second.setBy)}});
        }
        at = topics_.erase(at);
        changed = true;
    }
    return changed;
}

bool ConsumerGroup::takeOver(const Sender& from, const protocol::SubscriptionData& wanted, plugin::Logger& log) {
    const std::uint64_t peer = from.peer.id();
    const std::size_t expression = expressionHash(wanted);
    const auto [at, added] = topics_.try_emplace(wanted.topic);
    Topic& topic = at->second;
    topic.namedIn = heartbeats_;
    const auto before = topic.said.find(peer);
    const bool changedItsMind = before != topic.said.end() ? before->second != expression : members_.size() == 1;
    topic.said.insert_or_assign(peer, expression);

    const bool differs = added || topic.data.subString != wanted.subString || topic.data.expressionType != wanted.expressionType;
    const bool newer = added || wanted.subVersion > topic.data.subVersion;
    // Versions are wall clocks of clients. One whose clock went back still means what it says now; the version stays, so
    // that nobody's pull is called outdated for it.
    const bool clockWentBack = !newer && differs && changedItsMind;
    if (!newer && !clockWentBack) return false;
    if (differs && !added && topic.setBy != peer && members_.size() > 1) {
        log.limited(plugin::LogLevel::Warn, "members of a group subscribe a topic differently; the newest counts for all",
                    {{"group", name_}, {"topic", wanted.topic}, {"peer", from.peer.remote().toString()}, {"expression", wanted.subString},
                     {"other", addressOf(topic.setBy)}, {"other expression", topic.data.subString}});
    }
    const std::int64_t version = std::max(topic.data.subVersion, wanted.subVersion);
    topic.data = wanted;
    topic.data.subVersion = added ? wanted.subVersion : version;
    topic.setBy = peer;
    return added;
}

bool ConsumerGroup::removeMember(std::uint64_t peerId) {
    if (members_.erase(peerId) == 0) return false;
    for (auto& [name, topic] : topics_) topic.said.erase(peerId);
    return true;
}

bool ConsumerGroup::fingerprintChanged(std::int32_t fingerprint) {
    const bool changed = fingerprint_ && *fingerprint_ != fingerprint;
    fingerprint_ = fingerprint;
    return changed;
}

const protocol::SubscriptionData* ConsumerGroup::subscription(std::string_view topic) const {
    const auto at = topics_.find(topic);
    return at == topics_.end() ? nullptr : &at->second.data;
}

std::vector<protocol::SubscriptionData> ConsumerGroup::subscriptions() const {
    std::vector<protocol::SubscriptionData> all;
    all.reserve(topics_.size());
    for (const auto& [name, topic] : topics_) all.push_back(topic.data);
    return all;
}

std::string ConsumerGroup::addressOf(std::uint64_t peerId) const {
    const auto at = members_.find(peerId);
    return at == members_.end() ? "gone" : at->second.peer->remote().toString();
}

}  // namespace patchbay::plugins::clients

#include "ConsumerGroup.h"

#include <algorithm>
#include <iterator>

namespace patchbay::plugins::clients {

namespace {

/// An expression as members are compared and operators are told of them.
std::string expressionOf(const protocol::SubscriptionData& data) {
    if (protocol::isTagExpression(data.expressionType)) return data.subString.empty() ? "*" : data.subString;
    return data.expressionType + ": " + data.subString;
}

constexpr std::size_t kPartiesMax = 100;  // enough to find who is wrong
// A client that says one thing in one heartbeat and another in the next ends a disagreement and begins it again each time.
constexpr std::chrono::seconds kSettled{65};
// Topics that nobody names any more, and ids: so many and so much of each, since clients choose the names.
constexpr std::size_t kUnsettledMax = 64;
constexpr std::size_t kUnsettledBytesMax = 8'192;
constexpr std::size_t kMemberBytes = 512;  // of the tables around a member and its connection
constexpr std::size_t kEntryBytes = 256;   // of a map's node and the strings in it

}  // namespace

const std::string* Member::saysOf(std::string_view topic) const noexcept {
    const auto at = std::lower_bound(says.begin(), says.end(), topic, [](const auto& entry, std::string_view name) { return entry.first < name; });
    return at != says.end() && at->first == topic ? &at->second : nullptr;
}

std::size_t Member::bytes(std::string_view group) const noexcept { return kMemberBytes + clientId.size() + 2 * group.size(); }

std::size_t keptBytes(const protocol::SubscriptionData& data) noexcept {
    std::size_t bytes = kEntryBytes + 2 * (data.topic.size() + data.expressionType.size() + data.subString.size());
    for (const auto& tag : data.tagsSet) bytes += sizeof(tag) + tag.size();
    return bytes + data.codeSet.size() * sizeof(std::int32_t);
}

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
    if (!added) membersBytes_ -= member->second.bytes(name_);
    member->second.refresh(from);
    membersBytes_ += member->second.bytes(name_);
    bool changed = added;
    if (withSubscriptions) changed |= updateTopics(member->second, data.subscriptionDataSet, from.now, log);
    return changed;
}

bool ConsumerGroup::updateTopics(Member& member, const std::vector<protocol::SubscriptionData>& wanted, MonotonicTime now, plugin::Logger& log) {
    bool changed = false;
    ++heartbeats_;
    std::vector<std::pair<std::string, std::string>> says;
    says.reserve(wanted.size());
    std::size_t said = 0;
    for (const auto& data : wanted) {
        changed |= takeOver(member, data);
        says.emplace_back(data.topic, expressionOf(data));
        said += keptBytes(data);
    }
    // As in RocketMQ, what this heartbeat does not name is gone for the whole group.
    changed |= std::erase_if(topics_, [this](const auto& entry) { return entry.second.namedIn != heartbeats_; }) > 0;
    topicsBytes_ = 0;
    for (const auto& [name, topic] : topics_) topicsBytes_ += topic.bytes;
    membersBytes_ += said - member.saidBytes;
    member.saidBytes = said;
    std::sort(says.begin(), says.end());
    says.erase(std::unique(says.begin(), says.end(), [](const auto& a, const auto& b) { return a.first == b.first; }), says.end());
    if (!member.spoke || member.says != says) listen(member, std::move(says), now, log);
    return changed;
}

bool ConsumerGroup::takeOver(const Member& member, const protocol::SubscriptionData& wanted) {
    const auto [at, added] = topics_.try_emplace(wanted.topic);
    Topic& topic = at->second;
    topic.namedIn = heartbeats_;
    const std::string* before = member.saysOf(wanted.topic);
    const bool changedItsMind = before != nullptr ? *before != expressionOf(wanted) : members_.size() == 1;
    const bool differs = added || topic.data.subString != wanted.subString || topic.data.expressionType != wanted.expressionType;
    const bool newer = added || wanted.subVersion > topic.data.subVersion;
    // Versions are wall clocks of clients. One whose clock went back still means what it says now; the version stays, so
    // that nobody's pull is called outdated for it.
    const bool clockWentBack = !newer && differs && changedItsMind;
    if (!newer && !clockWentBack) return false;
    const std::int64_t version = std::max(topic.data.subVersion, wanted.subVersion);
    topic.data = wanted;
    topic.bytes = keptBytes(topic.data);
    topic.data.subVersion = added ? wanted.subVersion : version;
    return added;
}

void ConsumerGroup::listen(Member& member, std::vector<std::pair<std::string, std::string>> says, MonotonicTime now, plugin::Logger& log) {
    recount(member, false);
    member.says = std::move(says);
    member.spoke = true;
    recount(member, true);
    judge(now, log);
}

void ConsumerGroup::recount(const Member& member, bool add) {
    if (!member.spoke) return;
    speakers_ = add ? speakers_ + 1 : speakers_ - 1;
    for (const auto& [topic, expression] : member.says) {
        Voices& voices = voices_[topic];
        voices.members = add ? voices.members + 1 : voices.members - 1;
        std::size_t& count = voices.expressions[expression];
        count = add ? count + 1 : count - 1;
        if (count == 0) voices.expressions.erase(expression);
    }
}

std::optional<service::GroupConflict::Kind> ConsumerGroup::quarrelOf(const Voices& voices) const noexcept {
    using Kind = service::GroupConflict::Kind;
    if (voices.members == 0) return std::nullopt;
    if (voices.members < speakers_) return Kind::Topics;
    return voices.expressions.size() > 1 ? std::optional(Kind::Expressions) : std::nullopt;
}

void ConsumerGroup::judge(MonotonicTime now, plugin::Logger& log) {
    std::size_t unsettled = 0;
    std::size_t unsettledBytes = 0;
    for (auto at = voices_.begin(); at != voices_.end();) {
        Voices& voices = at->second;
        if (const auto quarrel = quarrelOf(voices)) {
            const auto kind = static_cast<std::uint8_t>(1U << static_cast<unsigned>(*quarrel));
            if ((voices.logged & kind) == 0) logQuarrel(at->first, log);
            voices.logged |= kind;
            voices.agreeSince.reset();
        } else if (voices.logged != 0 && !voices.agreeSince) {
            voices.agreeSince = now;
        }
        bool stays = voices.members > 0;
        if (!stays && voices.logged != 0 && unsettled < kUnsettledMax && unsettledBytes + at->first.size() <= kUnsettledBytesMax) {
            stays = true;
            ++unsettled;
            unsettledBytes += at->first.size();
        }
        at = stays ? std::next(at) : voices_.erase(at);
    }
}

bool ConsumerGroup::beginTwins(std::string_view clientId) {
    if (const auto at = twins_.find(clientId); at != twins_.end()) {
        at->second.reset();
        return false;
    }
    std::size_t bytes = clientId.size();
    for (const auto& [id, since] : twins_) bytes += id.size();
    if (twins_.size() >= kUnsettledMax || bytes > kUnsettledBytesMax) return false;
    twins_.emplace(clientId, std::nullopt);
    return true;
}

void ConsumerGroup::endTwins(std::string_view clientId, MonotonicTime now) {
    if (const auto at = twins_.find(clientId); at != twins_.end()) at->second = now;
}

void ConsumerGroup::settle(MonotonicTime now, plugin::Logger& log) {
    const auto isOver = [now](std::optional<MonotonicTime> since) { return since && now - *since >= kSettled; };
    for (auto at = voices_.begin(); at != voices_.end();) {
        Voices& voices = at->second;
        if (isOver(voices.agreeSince)) {
            log.info("members of a group agree again", {{"group", name_}, {"topic", at->first}});
            voices.logged = 0;
            voices.agreeSince.reset();
        }
        at = voices.members == 0 && voices.logged == 0 ? voices_.erase(at) : std::next(at);
    }
    for (auto& [id, since] : twins_) {
        // They may have gone in ways that nobody tells of: by a new id, or by a heartbeat without the group.
        const auto carries = [&wanted = id](const auto& member) { return member.second.clientId == wanted; };
        if (!since && std::count_if(members_.begin(), members_.end(), carries) < 2) since = now;
    }
    std::erase_if(twins_, [&](const auto& entry) {
        if (!isOver(entry.second)) return false;
        log.info("a client id of a group belongs to one connection again", {{"group", name_}, {"clientId", entry.first}});
        return true;
    });
}

void ConsumerGroup::logQuarrel(const std::string& topic, plugin::Logger& log) const {
    const Member* one = nullptr;
    const Member* other = nullptr;
    for (const auto& [id, member] : members_) {
        const std::string* expression = member.saysOf(topic);
        if (!member.spoke) continue;
        if (one == nullptr && expression != nullptr) one = &member;
        else if (other == nullptr && (one == nullptr || expression == nullptr || *expression != *one->saysOf(topic))) other = &member;
        if (one != nullptr && other != nullptr) break;
    }
    if (one == nullptr || other == nullptr) return;
    const std::string* others = other->saysOf(topic);
    log.warn(others == nullptr ? "members of a group subscribe different topics and take them from each other"
                               : "members of a group subscribe a topic differently; the newest counts for all",
             {{"group", name_}, {"topic", topic}, {"client", one->clientId}, {"peer", one->peer->remote().toString()},
              {"expression", *one->saysOf(topic)}, {"other client", other->clientId}, {"other peer", other->peer->remote().toString()},
              {"other expression", others == nullptr ? std::string_view("none") : std::string_view(*others)}});
}

void ConsumerGroup::removeMember(std::uint64_t peerId, MonotonicTime now, plugin::Logger& log) {
    const auto at = members_.find(peerId);
    if (at == members_.end()) return;
    recount(at->second, false);
    membersBytes_ -= at->second.bytes(name_) + at->second.saidBytes;
    members_.erase(at);
    judge(now, log);
}

std::vector<service::GroupConflict> ConsumerGroup::conflicts() const {
    using Kind = service::GroupConflict::Kind;
    std::vector<service::GroupConflict> found;
    for (const auto& [topic, voices] : voices_) {
        const auto quarrel = quarrelOf(voices);
        if (!quarrel) continue;
        auto& conflict = found.emplace_back();
        conflict.kind = *quarrel;
        conflict.topic = topic;
        for (const auto& [id, member] : members_) {
            if (!member.spoke || conflict.parties.size() == kPartiesMax) continue;
            const std::string* expression = member.saysOf(topic);
            conflict.parties.push_back({member.clientId, member.peer->remote().toString(), expression == nullptr ? "" : *expression});
        }
    }
    std::map<std::string_view, std::vector<const Member*>> byId;
    for (const auto& [id, member] : members_) byId[member.clientId].push_back(&member);
    for (const auto& [clientId, twins] : byId) {
        if (twins.size() < 2) continue;
        auto& conflict = found.emplace_back();
        conflict.kind = Kind::ClientIds;
        for (const Member* twin : twins) conflict.parties.push_back({twin->clientId, twin->peer->remote().toString(), {}});
    }
    return found;
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

}  // namespace patchbay::plugins::clients

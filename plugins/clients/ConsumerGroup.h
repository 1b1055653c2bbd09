// ConsumerGroup: the online members of one consumer group and what they subscribe.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Peer.h"
#include "patchbay/protocol/route/Heartbeat.h"
#include "patchbay/service/ClientRegistry.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace patchbay::plugins::clients {

/// Who sent a heartbeat.
struct Sender {
    plugin::Peer& peer;
    std::string_view clientId;
    std::uint8_t language = 0;
    std::int32_t version = 0;
    std::int64_t nowMs = 0;        ///< wall clock
    MonotonicTime now{};
};

/// One connection in a group. Two connections may carry the same client id; both count.
struct Member {
    std::string clientId;
    Ref<plugin::Peer> peer;
    std::uint8_t language = 0;
    std::int32_t version = 0;
    std::int64_t lastMs = 0;
    MonotonicTime last{};

    [[nodiscard]] service::ClientInfo info() const { return {clientId, peer, language, version, lastMs}; }
    void refresh(const Sender& from);
};

/// Members by connection.
using Members = std::unordered_map<std::uint64_t, Member>;

/// Part of the registry and guarded by its lock; lives while it has members.
class ConsumerGroup {
public:
    explicit ConsumerGroup(std::string_view name) : name_(name) {}

    /// Adds or refreshes a member and, unless the heartbeat left them out, takes over its subscriptions. True when others
    /// must rebalance: a new member, or topics that came or went.
    bool update(const Sender& from, const protocol::ConsumerData& data, bool withSubscriptions, plugin::Logger& log);
    /// True when it was a member.
    bool removeMember(std::uint64_t peerId);
    /// Remembers the fingerprint of a heartbeat; true when there was another one before.
    bool fingerprintChanged(std::int32_t fingerprint);

    [[nodiscard]] const Members& members() const noexcept { return members_; }
    [[nodiscard]] const service::GroupState& state() const noexcept { return state_; }
    [[nodiscard]] bool broadcasting() const noexcept { return state_.model == service::MessageModel::Broadcasting; }
    [[nodiscard]] const protocol::SubscriptionData* subscription(std::string_view topic) const;
    [[nodiscard]] std::vector<protocol::SubscriptionData> subscriptions() const;
    [[nodiscard]] bool hasSubscriptions() const noexcept { return !topics_.empty(); }

private:
    struct Topic {
        protocol::SubscriptionData data;
        std::uint64_t setBy = 0;                    ///< connection
        std::uint64_t namedIn = 0;                  ///< the last heartbeat with it
        std::map<std::uint64_t, std::size_t> said;  ///< what each member said last, as a hash of the expression
    };

    bool updateTopics(const Sender& from, const std::vector<protocol::SubscriptionData>& wanted, plugin::Logger& log);
    bool takeOver(const Sender& from, const protocol::SubscriptionData& wanted, plugin::Logger& log);
    [[nodiscard]] std::string addressOf(std::uint64_t peerId) const;

    const std::string name_;
    service::GroupState state_;
    Members members_;
    std::map<std::string, Topic, std::less<>> topics_;
    std::uint64_t heartbeats_ = 0;  // that named topics
    std::optional<std::int32_t> fingerprint_;
};

}  // namespace patchbay::plugins::clients

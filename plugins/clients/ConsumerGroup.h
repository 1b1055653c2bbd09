// ConsumerGroup: the online members of one consumer group and what they subscribe.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Peer.h"
#include "patchbay/protocol/route/Heartbeat.h"
#include "patchbay/service/ClientRegistry.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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
    /// Topics and expressions of its last full heartbeat, by topic; consumers only.
    std::vector<std::pair<std::string, std::string>> says;
    bool spoke = false;             ///< there was a full heartbeat
    std::size_t saidBytes = 0;      ///< memory that `says` takes, about

    [[nodiscard]] const std::string* saysOf(std::string_view topic) const noexcept;
    [[nodiscard]] service::ClientInfo info() const { return {clientId, peer, language, version, lastMs}; }
    void refresh(const Sender& from);
    /// What its part in a group of that name takes, about, without what it says.
    [[nodiscard]] std::size_t bytes(std::string_view group) const noexcept;
};

/// What a table takes that has this, about, and not less than what a member takes that says it.
[[nodiscard]] std::size_t keptBytes(const protocol::SubscriptionData& data) noexcept;

/// Members by connection.
using Members = std::unordered_map<std::uint64_t, Member>;

/// Part of the registry and guarded by its lock; lives while it has members.
class ConsumerGroup {
public:
    explicit ConsumerGroup(std::string_view name) : name_(name) {}

    /// Adds or refreshes a member and, unless the heartbeat left them out, takes over its subscriptions. True when others
    /// must rebalance: a new member, or topics that came or went.
    bool update(const Sender& from, const protocol::ConsumerData& data, bool withSubscriptions, plugin::Logger& log);
    void removeMember(std::uint64_t peerId, MonotonicTime now, plugin::Logger& log);
    /// Two members have this id now: true when that has to be logged, because it was not so just before.
    bool beginTwins(std::string_view clientId);
    /// They have not any more.
    void endTwins(std::string_view clientId, MonotonicTime now);
    /// Logs what has been over for so long that it is over. Called now and then.
    void settle(MonotonicTime now, plugin::Logger& log);
    /// Remembers the fingerprint of a heartbeat; true when there was another one before.
    bool fingerprintChanged(std::int32_t fingerprint);

    [[nodiscard]] const Members& members() const noexcept { return members_; }
    [[nodiscard]] const service::GroupState& state() const noexcept { return state_; }
    [[nodiscard]] bool broadcasting() const noexcept { return state_.model == service::MessageModel::Broadcasting; }
    [[nodiscard]] const protocol::SubscriptionData* subscription(std::string_view topic) const;
    [[nodiscard]] std::vector<protocol::SubscriptionData> subscriptions() const;
    /// What members disagree about, and ids that they share.
    [[nodiscard]] std::vector<service::GroupConflict> conflicts() const;
    /// Memory of what is subscribed, and of all, about.
    [[nodiscard]] std::size_t topicsBytes() const noexcept { return topicsBytes_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return membersBytes_ + topicsBytes_; }
    [[nodiscard]] bool hasSubscriptions() const noexcept { return !topics_.empty(); }

private:
    struct Topic {
        protocol::SubscriptionData data;
        std::uint64_t namedIn = 0;                  ///< the last heartbeat with it
        std::size_t bytes = 0;
    };
    /// What members say of one topic.
    struct Voices {
        std::map<std::string, std::size_t> expressions;  ///< with the number of members
        std::size_t members = 0;
        std::uint8_t logged = 0;                         ///< kinds of disagreement, a bit each, until it is settled
        std::optional<MonotonicTime> agreeSince{};       ///< while something is logged
    };

    bool updateTopics(Member& member, const std::vector<protocol::SubscriptionData>& wanted, MonotonicTime now, plugin::Logger& log);
    bool takeOver(const Member& member, const protocol::SubscriptionData& wanted);
    /// Takes over what a member says of its topics now, and logs new and ended disagreements.
    void listen(Member& member, std::vector<std::pair<std::string, std::string>> says, MonotonicTime now, plugin::Logger& log);
    void recount(const Member& member, bool add);
    void judge(MonotonicTime now, plugin::Logger& log);
    [[nodiscard]] std::optional<service::GroupConflict::Kind> quarrelOf(const Voices& voices) const noexcept;
    void logQuarrel(const std::string& topic, plugin::Logger& log) const;

    const std::string name_;
    service::GroupState state_;
    Members members_;
    std::map<std::string, Topic, std::less<>> topics_;
    std::map<std::string, Voices, std::less<>> voices_;
    std::map<std::string, std::optional<MonotonicTime>, std::less<>> twins_;  // ids that were logged, and since when one has them
    std::size_t speakers_ = 0;      // members that spoke
    std::uint64_t heartbeats_ = 0;  // that named topics
    std::size_t membersBytes_ = 0;
    std::size_t topicsBytes_ = 0;
    std::optional<std::int32_t> fingerprint_;
};

}  // namespace patchbay::plugins::clients

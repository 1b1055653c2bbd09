// ClientRegistry: which producers and consumers are connected, and what they subscribe.
#pragma once

#include "patchbay/base/Slice.h"
#include "patchbay/plugin/Peer.h"
#include "patchbay/plugin/Services.h"
#include "patchbay/protocol/route/SubscriptionData.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::service {

/// One connected member of a group.
struct ClientInfo {
    std::string clientId;
    Ref<plugin::Peer> peer;
    std::uint8_t language = 0;      ///< LanguageCode
    std::int32_t version = 0;
    std::int64_t lastHeartbeatMs = 0;
};

enum class ConsumeType : std::uint8_t { Actively, Passively, Pop };
enum class MessageModel : std::uint8_t { Broadcasting, Clustering };

/// What a pull needs to know of an online group.
struct GroupState {
    bool online = false;
    ConsumeType consumeType = ConsumeType::Passively;
    MessageModel model = MessageModel::Clustering;
    std::int32_t consumeFromWhere = 0;
    std::int64_t lastUpdateMs = 0;
};

/// Members of a group that get in each other's way.
struct GroupConflict {
    enum class Kind : std::uint8_t {
        Topics,       ///< not all of them subscribe the topic; what they say undoes what the others said
        Expressions,  ///< they want different messages of the topic; the newest counts for all
        ClientIds,    ///< connections share an id, so some queues are nobody's
    };
    struct Party {
        std::string clientId;
        std::string address;
        std::string says;      ///< its expression; empty when it does not subscribe the topic
    };
    Kind kind{};
    std::string topic;         ///< empty for ClientIds
    std::vector<Party> parties;
};

/// Thread-safe.
class ClientRegistry {
public:
    static constexpr plugin::ServiceId kId{"patchbay.ClientRegistry", 1};
    virtual ~ClientRegistry();

    [[nodiscard]] virtual GroupState group(std::string_view group) const = 0;
    [[nodiscard]] virtual std::optional<protocol::SubscriptionData> subscription(std::string_view group, std::string_view topic) const = 0;
    [[nodiscard]] virtual std::vector<protocol::SubscriptionData> subscriptions(std::string_view group) const = 0;
    [[nodiscard]] virtual std::vector<ClientInfo> consumers(std::string_view group) const = 0;
    [[nodiscard]] virtual std::vector<ClientInfo> producers(std::string_view group) const = 0;
    [[nodiscard]] virtual std::vector<std::string> consumerGroups() const = 0;
    [[nodiscard]] virtual std::vector<std::string> producerGroups() const = 0;
    /// Online groups that subscribe the topic.
    [[nodiscard]] virtual std::vector<std::string> groupsOf(std::string_view topic) const = 0;
    /// The consumer with that id in the group, or null.
    [[nodiscard]] virtual Ref<plugin::Peer> findConsumer(std::string_view group, std::string_view clientId) const = 0;
    /// The id that a member has given its connection; empty when it is no member.
    [[nodiscard]] virtual std::string clientId(std::string_view group, std::uint64_t peerId) const = 0;
    /// What is wrong with a group now; for operators.
    [[nodiscard]] virtual std::vector<GroupConflict> conflicts(std::string_view group) const = 0;
    /// Any connection on which a producer or consumer with that id is registered, or null.
    [[nodiscard]] virtual Ref<plugin::Peer> findClient(std::string_view clientId) const = 0;
    /// Tells the group's members (push of 40) that its membership or settings changed.
    virtual void notifyChanged(std::string_view group) = 0;
    /// Remembers an expression that a pull carried, so that operators see what groups consume that say it in no heartbeat.
    /// Cheap when it is known.
    virtual void compensate(std::string_view group, std::string_view topic, std::string_view expression,
                            std::string_view expressionType) = 0;
};

}  // namespace patchbay::service

// Registry: all connected producers and consumers.
#pragma once

#include "ClientsConfig.h"
#include "ConsumerGroup.h"

#include "patchbay/base/NameMap.h"
#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/ClientRegistry.h"
#include "patchbay/service/SubscriptionGroups.h"

#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace patchbay::plugins::clients {

/// The ClientRegistry service. Owned by the plugin, from init() to its destruction. Any thread: one readers-writer lock, never
/// held while a client is pushed to. Memory only, never fails; a connection is held until it ends, unregisters or expires.
class Registry final : public service::ClientRegistry, public plugin::PeerListener {
public:
    Registry(plugin::PluginContext& context, const ClientsConfig& config, service::SubscriptionGroups& groups);

    /// Busy, with a text that names the limit, when what is known cannot take in a heartbeat of this connection. Clients
    /// that tell nothing more than before are always taken. Heartbeats that come at once may go beyond it together.
    [[nodiscard]] Status roomFor(const plugin::Peer& peer, const protocol::HeartbeatData& heartbeat) const;
    /// One consumer entry of a heartbeat. True when the client should send its subscriptions in full next time.
    bool registerConsumer(const Sender& from, const protocol::ConsumerData& data, const protocol::HeartbeatData& heartbeat);
    void registerProducer(const Sender& from, std::string_view group);
    void unregisterConsumer(plugin::Peer& peer, std::string_view group);
    void unregisterProducer(plugin::Peer& peer, std::string_view group);
    void peerClosed(plugin::Peer& peer) noexcept override;
    /// Forgets and closes clients without a heartbeat for too long, and subscriptions that only pulls told of.
    void expire();
    /// Lets go of all connections, at stop.
    void clear() noexcept;

    [[nodiscard]] std::vector<std::string> consumerIds(std::string_view group) const;

    [[nodiscard]] service::GroupState group(std::string_view group) const override;
    [[nodiscard]] std::optional<protocol::SubscriptionData> subscription(std::string_view group, std::string_view topic) const override;
    [[nodiscard]] std::vector<protocol::SubscriptionData> subscriptions(std::string_view group) const override;
    [[nodiscard]] std::vector<service::ClientInfo> consumers(std::string_view group) const override;
    [[nodiscard]] std::vector<service::ClientInfo> producers(std::string_view group) const override;
    [[nodiscard]] std::vector<std::string> consumerGroups() const override;
    [[nodiscard]] std::vector<std::string> producerGroups() const override;
    [[nodiscard]] std::vector<std::string> groupsOf(std::string_view topic) const override;
    [[nodiscard]] Ref<plugin::Peer> findConsumer(std::string_view group, std::string_view clientId) const override;
    [[nodiscard]] std::string clientId(std::string_view group, std::uint64_t peerId) const override;
    [[nodiscard]] std::vector<service::GroupConflict> conflicts(std::string_view group) const override;
    [[nodiscard]] Ref<plugin::Peer> findClient(std::string_view clientId) const override;
    void notifyChanged(std::string_view group) override;
    void compensate(std::string_view group, std::string_view topic, std::string_view expression,
                    std::string_view expressionType) override;

private:
    using Peers = std::vector<Ref<plugin::Peer>>;
    /// A group that somebody left, and who must hear of it.
    struct Notice {
        std::string group;
        Peers peers;
    };
    /// What one connection takes part in, so that its end does not search all groups.
    struct Connection {
        std::string clientId;
        std::set<std::string, std::less<>> consumerGroups;
        std::set<std::string, std::less<>> producerGroups;
    };
    struct Compensated {
        std::string expression;   ///< as it was asked
        protocol::SubscriptionData data;
        MonotonicTime at{};
        std::size_t bytes = 0;
    };

    // With the lock held exclusively.
    Connection& connect(const Sender& from);
    void leaveConsumerGroup(std::string_view group, std::uint64_t peerId, std::vector<Notice>& notices);
    void leaveProducerGroup(std::string_view group, std::uint64_t peerId);
    void forgetConnection(std::uint64_t peerId);
    void dropClientId(std::string_view clientId, std::uint64_t peerId);
    void warnOfTwins(const Sender& from, std::string_view name, ConsumerGroup& group);
    /// For when that member leaves the group or takes another id.
    void noteLastTwin(ConsumerGroup& group, std::string_view clientId, std::uint64_t peerId);
    void forgetIfIdle(std::uint64_t peerId);
    void leaveAll(std::uint64_t peerId, std::vector<Notice>& notices);
    // With the lock held.
    [[nodiscard]] const Member* memberOf(std::string_view group, std::uint64_t peerId) const;
    [[nodiscard]] bool tellsMore(std::uint64_t peerId, const protocol::HeartbeatData& heartbeat) const;
    /// Other members of the group with that id.
    [[nodiscard]] Peers twins(const ConsumerGroup& group, std::string_view clientId, std::uint64_t peerId) const;
    [[nodiscard]] bool knowsFresh(std::string_view group, std::string_view topic, std::string_view expression, MonotonicTime now) const;
    [[nodiscard]] static Peers peersOf(const ConsumerGroup& group);

    [[nodiscard]] bool wantsNotice(std::string_view group) const;
    void notify(const std::vector<Notice>& notices) const noexcept;
    static void push(std::string_view group, const Peers& peers) noexcept;

    plugin::PluginContext& context_;
    const ClientsConfig config_;
    service::SubscriptionGroups& groups_;

    mutable std::shared_mutex mutex_;  // guards all below
    NameMap<ConsumerGroup> consumers_;
    NameMap<Members> producers_;
    std::unordered_map<std::uint64_t, Connection> connections_;
    NameMap<Peers> clients_;  // connections by client id, the one that spoke last at the end
    std::size_t bytes_ = 0;   // of consumers_ and producers_
    NameMap<NameMap<Compensated>> compensated_;
    std::size_t compensatedBytes_ = 0;
};

}  // namespace patchbay::plugins::clients

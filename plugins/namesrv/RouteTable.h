// RouteTable: which broker has which topics, where brokers are, and whether they are alive.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/Slice.h"
#include "patchbay/plugin/Peer.h"
#include "patchbay/protocol/headers/NameServer.h"
#include "patchbay/protocol/json/Writer.h"
#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/protocol/route/RegisterBroker.h"
#include "patchbay/protocol/route/TopicRoute.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugins::namesrv {

/// The smallest broker id of a group is another one now: what to tell its members. Absent texts are empty.
struct MinBrokerChange {
    std::vector<std::string> recipients;  ///< "ip:port" of brokers
    std::int64_t minBrokerId = 0;
    std::string minBrokerAddr;
    std::string offlineBrokerAddr;
    std::string haBrokerAddr;
};

/// What a broker learns from its registration, and its group has to learn.
struct RegisterOutcome {
    std::string haServerAddr;  ///< of the master, for a slave
    std::string masterAddr;
    std::optional<MinBrokerChange> change;
};

/// What a departure changed.
struct UnregisterOutcome {
    std::vector<std::string> gone;  ///< "name id address" of each broker, for the log
    std::vector<MinBrokerChange> changes;
};

/// A question for a route. Views are the asker's.
struct RouteQuery {
    std::string_view topic;
    json::Dialect dialect = json::Dialect::Fastjson;
    bool actingMaster = false;                 ///< let a slave stand in for a missing master
    std::string_view zone{};                   ///< non-empty: only brokers of that zone, and those without a master
    std::optional<std::string> orderConf{};    ///< the order configuration to add
};

/// Thread-safe. Queries share a lock and never wait for the disk. Changes exclude each other for their whole length but hold
/// the queries' lock only for a slice at a time, so that a broker with 100,000 topics does not stop the answers of a server;
/// a query meanwhile sees a part of a change, never a broken entry. Nothing is kept on disk: brokers register again.
class RouteTable {
public:
    /// Applies a registration. Unavailable ("register broker failed") for a broker id that nobody knows with one single topic:
    /// that is a change sent before the whole. A broker whose place is held by another with a higher state version is
    /// answered as if it were welcome, without any effect. `expiry` holds when the broker names none.
    Result<RegisterOutcome> registerBroker(const protocol::RegisterBrokerRequest& broker, const protocol::RegisterBrokerBody& body,
                                           const Ref<plugin::Peer>& peer, MonotonicTime now, std::chrono::milliseconds expiry,
                                           bool dropUnnamedTopics);
    UnregisterOutcome unregisterBroker(std::string_view cluster, std::string_view name, std::string_view address);
    /// Unregisters what registered over this connection and over no other since.
    UnregisterOutcome unregisterPeer(const plugin::Peer& peer);
    /// Unregisters whoever has been silent for too long, and closes their connections.
    UnregisterOutcome expire(MonotonicTime now);
    /// True when a broker registered over this connection.
    [[nodiscard]] bool isBroker(const plugin::Peer& peer) const;

    /// A sign of life; brokers that nobody knows are ignored.
    void heartbeat(std::string_view cluster, std::string_view address, MonotonicTime now) noexcept;
    /// The same, and the version of the topics that this server has from the broker.
    [[nodiscard]] std::optional<protocol::DataVersion> dataVersion(std::string_view cluster, std::string_view address,
                                                                   MonotonicTime now) noexcept;

    /// Takes the write permission from all queues of a broker; the number of its topics.
    std::int32_t wipeWritePermission(std::string_view name);
    /// Gives all queues of a broker reading and writing, and nothing else; the number of its topics.
    std::int32_t addWritePermission(std::string_view name);
    /// Forgets a topic, or only its queues at the brokers of one cluster.
    void deleteTopic(std::string_view topic, std::string_view cluster);
    /// Adds or replaces queues of one topic, as far as their brokers are known.
    void registerTopic(std::string_view topic, std::span<const protocol::QueueData> queues);

    /// Appends the body of an answer to 105; false when there is no route.
    [[nodiscard]] bool writeRoute(const RouteQuery& query, std::string& out) const;
    /// Body of 106.
    [[nodiscard]] std::string clusterInfo() const;
    /// Body of 901.
    [[nodiscard]] std::string memberGroup(std::string_view cluster, std::string_view name) const;
    [[nodiscard]] std::vector<std::string> topics() const;
    [[nodiscard]] std::vector<std::string> topicsOfCluster(std::string_view cluster) const;
    /// Topics whose first queues have `flags` in their topicSysFlag, of the bits in `mask`.
    [[nodiscard]] std::vector<std::string> topicsWithFlags(std::int32_t mask, std::int32_t flags) const;
    /// Names of clusters and brokers, and the address of some broker.
    [[nodiscard]] protocol::TopicList systemTopics() const;

private:
    using Queues = std::vector<protocol::QueueData>;  // of one topic, one per broker name; few, so they are searched in order

    struct LiveBroker {
        std::string name;
        std::int64_t id = 0;
        std::chrono::milliseconds expiry{};
        protocol::DataVersion version;
        Ref<plugin::Peer> peer;
        std::string haServerAddr;
        std::vector<std::string> filterServers;
        std::atomic<std::int64_t> lastSeen{0};  // nanoseconds of the monotonic clock; written under the shared lock
    };
    using LiveCluster = std::map<std::string, LiveBroker, std::less<>>;  // by address

    class Slices;

    [[nodiscard]] LiveBroker* findLive(std::string_view cluster, std::string_view address) noexcept;
    [[nodiscard]] const LiveBroker* findLive(std::string_view cluster, std::string_view address) const noexcept;
    void eraseLive(std::string_view cluster, std::string_view address) noexcept;
    [[nodiscard]] bool losesAgainstOwner(const protocol::RegisterBrokerRequest& broker, const protocol::DataVersion& version) const;
    void applyTopics(const protocol::RegisterBrokerRequest& broker, const protocol::TopicConfigSerializeWrapper& wrapper,
                     bool all, bool readOnly, Slices& slices);
    void dropTopicsNotIn(const protocol::TopicConfigTable& named, std::string_view broker, Slices& slices);
    void dropMappings(std::string_view broker, Slices& slices);
    void touchLive(const protocol::RegisterBrokerRequest& broker, const protocol::RegisterBrokerBody& body,
                   const Ref<plugin::Peer>& peer, MonotonicTime now, std::chrono::milliseconds expiry);
    void removeLocked(std::string_view cluster, std::string_view name, std::string_view address, Slices& slices,
                      UnregisterOutcome& outcome);
    template <typename Change>
    std::int32_t forEachQueueOf(std::string_view broker, Slices& slices, Change change);

    void writeFilterServers(json::Writer& out, std::span<const protocol::BrokerData* const> brokers) const;

    std::mutex writers_;                    ///< one change at a time
    mutable std::shared_mutex lock_;
    // Changed under both, read under either.
    std::map<std::string, Queues, std::less<>> topics_;
    std::map<std::string, protocol::BrokerData, std::less<>> brokers_;  // by name
    std::map<std::string, std::set<std::string, std::less<>>, std::less<>> clusters_;
    std::map<std::string, LiveCluster, std::less<>> live_;  // by cluster
    std::map<std::string, protocol::TopicQueueMappingTable, std::less<>> mappings_;  // topic -> broker name
    std::size_t filterServers_ = 0;  // brokers that have any
};

}  // namespace patchbay::plugins::namesrv

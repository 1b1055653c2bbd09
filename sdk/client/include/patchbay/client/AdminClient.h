// AdminClient: looks into a cluster and changes it; what patchctl is made of.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/client/ClientOptions.h"
#include "patchbay/client/Message.h"
#include "patchbay/protocol/RemotingCommand.h"
#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/protocol/route/ConfigText.h"
#include "patchbay/protocol/route/SubscriptionGroupConfig.h"
#include "patchbay/protocol/route/TopicConfig.h"
#include "patchbay/protocol/route/TopicRoute.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

/// Answer to a message that a consumer was made to consume (309).
struct DirectConsumption {
    std::string result;  ///< CR_SUCCESS, CR_LATER, CR_ROLLBACK, CR_COMMIT, CR_THROW_EXCEPTION or CR_RETURN_NULL
    std::string remark;
    std::chrono::milliseconds spent{0};
};

/// Questions to name servers and brokers, each answered before the function returns; safe from several threads, not from callbacks of the
/// log sink. A move-only handle: it shares connections with other clients of the process and closes when destroyed.
/// `broker` is an address, "host:port"; see masters() and brokers(). Errors: Unavailable (nobody answers there), DeadlineExceeded,
/// NotFound (no such topic, group, message), Denied, Unsupported (this server does not offer it), InvalidArgument; the message
/// holds the server's own words. Names are sent as given: options.nameSpace is not applied here.
class AdminClient {
public:
    using Command = protocol::RemotingCommand;
    using Ms = std::chrono::milliseconds;

    /// InvalidArgument for options that cannot be. Connects with the first question; `options.requestTimeout` bounds each question.
    [[nodiscard]] static Result<AdminClient> create(ClientOptions options);
    AdminClient(AdminClient&&) noexcept;
    AdminClient& operator=(AdminClient&&) noexcept;
    ~AdminClient();

    /// Any question to any server. An answer with another code than Success is an answer like another: look at its code and remark.
    [[nodiscard]] Result<Command> invoke(const std::string& address, Command command, Ms timeout = Ms(5000));
    /// To the name server in use; others are asked when it fails.
    [[nodiscard]] Result<Command> invokeNameServer(Command command, Ms timeout = Ms(5000));
    /// To all name servers, as changes need it. The first failure, by address, or the last answer.
    [[nodiscard]] Result<Command> invokeAllNameServers(const Command& command, Ms timeout = Ms(5000));
    [[nodiscard]] std::vector<std::string> nameServers();

    // --- the cluster
    [[nodiscard]] Result<protocol::ClusterInfo> cluster();
    /// Addresses of the masters of a cluster; of all clusters when `name` is empty.
    [[nodiscard]] Result<std::vector<std::string>> masters(std::string_view name = {});
    /// Masters and slaves.
    [[nodiscard]] Result<std::vector<std::string>> brokers(std::string_view name = {});
    /// Of the master with that broker name.
    [[nodiscard]] Result<std::string> masterOf(std::string_view brokerName);

    // --- name server
    [[nodiscard]] Result<protocol::TopicRouteData> route(std::string_view topic);
    [[nodiscard]] Result<std::vector<std::string>> topics();
    [[nodiscard]] Result<std::vector<std::string>> topicsOf(std::string_view cluster);
    [[nodiscard]] Result<std::string> keyValue(std::string_view nameSpace, std::string_view key);
    [[nodiscard]] Result<std::map<std::string, std::string, std::less<>>> keyValues(std::string_view nameSpace);
    [[nodiscard]] Status putKeyValue(std::string_view nameSpace, std::string_view key, std::string_view value);
    [[nodiscard]] Status deleteKeyValue(std::string_view nameSpace, std::string_view key);
    [[nodiscard]] Result<protocol::ConfigTable> nameServerConfig(const std::string& address);
    [[nodiscard]] Status updateNameServerConfig(const protocol::ConfigTable& changes);
    /// Takes a broker out of, or back into, the routes for writing; the number of topics concerned.
    [[nodiscard]] Result<std::int32_t> wipeWritePermission(std::string_view brokerName);
    [[nodiscard]] Result<std::int32_t> addWritePermission(std::string_view brokerName);

    // --- topics
    /// Creates it or changes it. Attribute names carry a sign: "+message.type".
    [[nodiscard]] Status createTopic(const std::string& broker, const protocol::TopicConfig& topic);
    /// On all brokers of the cluster (of all clusters when empty) and on the name servers.
    [[nodiscard]] Status deleteTopic(std::string_view topic, std::string_view cluster = {});
    [[nodiscard]] Result<protocol::TopicConfig> topicConfig(const std::string& broker, std::string_view topic);
    [[nodiscard]] Result<protocol::TopicConfigSerializeWrapper> topicConfigs(const std::string& broker);
    /// Of all brokers that have the topic.
    [[nodiscard]] Result<protocol::TopicStatsTable> topicStats(std::string_view topic);
    [[nodiscard]] Result<protocol::TopicStatsTable> topicStats(const std::string& broker, std::string_view topic);
    /// Groups that consume the topic, or have offsets there.
    [[nodiscard]] Result<std::vector<std::string>> groupsOf(std::string_view topic);

    // --- groups
    [[nodiscard]] Status createGroup(const std::string& broker, const protocol::SubscriptionGroupConfig& group);
    [[nodiscard]] Status deleteGroup(const std::string& broker, std::string_view group, bool cleanOffsets);
    [[nodiscard]] Result<protocol::SubscriptionGroupConfig> groupConfig(const std::string& broker, std::string_view group);
    [[nodiscard]] Result<protocol::SubscriptionGroups> groupConfigs(const std::string& broker);
    /// Over all brokers where the group is at home; all its topics when `topic` is empty.
    [[nodiscard]] Result<protocol::ConsumeStats> consumeStats(std::string_view group, std::string_view topic = {});
    [[nodiscard]] Result<protocol::ConsumeStats> consumeStats(const std::string& broker, std::string_view group, std::string_view topic);
    [[nodiscard]] Result<protocol::ConsumerConnection> consumers(std::string_view group);
    /// `topic`: by which brokers are found.
    [[nodiscard]] Result<protocol::ProducerConnection> producers(std::string_view group, std::string_view topic);
    /// JSON, as the consumer tells it (307). `stack`: with the stacks of its threads, where its language can.
    [[nodiscard]] Result<std::string> consumerRunningInfo(std::string_view group, std::string_view clientId, bool stack = false);
    /// Has one consumer consume a stored message now. `offsetMessageId`: the broker's id of the message.
    [[nodiscard]] Result<DirectConsumption> consumeDirectly(std::string_view group, std::string_view clientId, std::string_view topic,
                                                            std::string_view offsetMessageId);

    // --- offsets
    [[nodiscard]] Result<std::int64_t> consumerOffset(std::string_view group, const MessageQueue& queue);
    [[nodiscard]] Status updateConsumerOffset(std::string_view group, const MessageQueue& queue, std::int64_t offset);
    /// Sets the offsets of a group to the messages stored from `timestampMs` on (-1: to the end). Without `force` only backwards.
    /// The new offsets. NotFound when no consumer is connected and the broker needs one.
    [[nodiscard]] Result<std::map<MessageQueue, std::int64_t>> resetOffsets(std::string_view group, std::string_view topic,
                                                                            std::int64_t timestampMs, bool force = true);
    [[nodiscard]] Status cloneOffsets(const std::string& broker, std::string_view fromGroup, std::string_view toGroup,
                                      std::string_view topic, bool offline);
    [[nodiscard]] Result<std::int64_t> minOffset(const MessageQueue& queue);
    /// One behind the last message.
    [[nodiscard]] Result<std::int64_t> maxOffset(const MessageQueue& queue);
    /// Of the first message stored at or after that time.
    [[nodiscard]] Result<std::int64_t> offsetAt(const MessageQueue& queue, std::int64_t timestampMs);
    /// When the oldest message was stored, ms since the epoch; -1 when there is none.
    [[nodiscard]] Result<std::int64_t> earliestStoreTime(const MessageQueue& queue);

    // --- messages
    /// By the broker's id (offsetId()).
    [[nodiscard]] Result<ReceivedMessage> messageByOffsetId(std::string_view topic, std::string_view offsetMessageId);
    /// By the producer's id (id()).
    [[nodiscard]] Result<ReceivedMessage> messageById(std::string_view topic, std::string_view id);
    /// By one of its keys, stored between both times (ms since the epoch). Empty when there are none.
    [[nodiscard]] Result<std::vector<ReceivedMessage>> messagesByKey(std::string_view topic, std::string_view key, std::int32_t maxNumber,
                                                                     std::int64_t beginMs, std::int64_t endMs);
    /// Up to `maxNumber` from an offset on; empty at the end of the queue. Does not wait and moves no group's offset.
    [[nodiscard]] Result<std::vector<ReceivedMessage>> messagesAt(const MessageQueue& queue, std::int64_t offset, std::int32_t maxNumber);

    // --- brokers
    [[nodiscard]] Result<std::map<std::string, std::string, std::less<>>> runtimeInfo(const std::string& broker);
    [[nodiscard]] Result<protocol::ConfigTable> brokerConfig(const std::string& broker);
    [[nodiscard]] Status updateBrokerConfig(const std::string& broker, const protocol::ConfigTable& changes);

private:
    class Impl;
    explicit AdminClient(std::unique_ptr<Impl> impl) noexcept;
    std::unique_ptr<Impl> impl_;
};

}  // namespace patchbay::client

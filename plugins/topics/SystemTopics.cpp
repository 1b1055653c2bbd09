#include "SystemTopics.h"

#include "patchbay/protocol/message/Names.h"

#include <string>
#include <string_view>

namespace patchbay::plugins::topics {

namespace {

constexpr std::uint32_t kReadWrite = protocol::kPermRead | protocol::kPermWrite;
constexpr std::uint32_t kAll = kReadWrite | protocol::kPermInherit;

protocol::TopicConfig topic(std::string name, std::int32_t queues, std::uint32_t perm = kReadWrite) {
    protocol::TopicConfig config;
    config.topicName = std::move(name);
    config.readQueueNums = config.writeQueueNums = queues;
    config.perm = perm;
    return config;
}

}  // namespace

std::vector<protocol::TopicConfig> systemTopics(const TopicsConfig& config, const plugin::BrokerIdentity& identity) {
    constexpr std::int32_t kScheduleQueues = 18;  // fixed, whatever messageDelayLevel says
    const auto named = [](std::string_view prefix, const std::string& rest) { return std::string(prefix) + rest; };
    std::vector<protocol::TopicConfig> topics{
        topic(std::string(protocol::kTopicSelfTest), 1),
        topic(std::string(protocol::kTopicBenchmark), 1024),
        topic(identity.clusterName, 16, config.clusterTopic ? kAll : protocol::kPermInherit),
        topic(identity.brokerName, 1, config.brokerTopic ? kAll : protocol::kPermInherit),
        topic(std::string(protocol::kTopicOffsetMoved), 1),
        topic(std::string(protocol::kTopicSchedule), kScheduleQueues),
        topic(protocol::replyTopic(identity.clusterName), 1),
        topic(named(protocol::kTopicReviveLogPrefix, identity.clusterName), config.reviveQueueNum),
        topic(named(protocol::kTopicSyncMemberPrefix, identity.brokerName), 1, protocol::kPermInherit),
        topic(std::string(protocol::kTopicTransHalf), 1),
        topic(std::string(protocol::kTopicTransOpHalf), 1),
    };
    if (config.autoCreateTopic) topics.push_back(topic(std::string(protocol::kTopicAutoCreate), config.defaultTopicQueueNums, kAll));
    if (config.traceTopic) topics.push_back(topic(config.traceTopicName, 1));
    if (config.timerTopic) topics.push_back(topic(std::string(protocol::kTopicTimer), 1));
    return topics;
}

std::vector<protocol::SubscriptionGroupConfig> systemGroups() {
    std::vector<protocol::SubscriptionGroupConfig> groups;
    for (const char* name : {"TOOLS_CONSUMER", "FILTERSRV_CONSUMER", "SELF_TEST_C_GROUP", "CID_ONS-HTTP-PROXY", "CID_ONSAPI_PULL",
                             "CID_ONSAPI_PERMISSION", "CID_ONSAPI_OWNER", "CID_RMQ_SYS_TRANS"}) {
        groups.emplace_back().groupName = name;
    }
    return groups;
}

}  // namespace patchbay::plugins::topics

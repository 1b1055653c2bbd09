// Topics and groups.
#include "admin/AdminImpl.h"
#include "patchbay/protocol/headers/Admin.h"
#include "patchbay/protocol/headers/Client.h"
#include "patchbay/protocol/headers/NameServer.h"
#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <set>

namespace patchbay::client {

using protocol::RemotingCommand;
using protocol::RequestCode;

namespace {

RemotingCommand topicCommand(RequestCode code, std::string_view topic) {
    protocol::TopicRequest header;
    header.topic = topic;
    return commandOf(code, header);
}

std::string attributeText(const protocol::Attributes& attributes) {
    std::string text;
    for (const auto& [name, value] : attributes) {
        if (!text.empty()) text += ',';
        text += name;
        if (!name.starts_with('-')) text.append("=").append(value);
    }
    return text;
}

}  // namespace

Status AdminClient::createTopic(const std::string& broker, const protocol::TopicConfig& topic) {
    const auto attributes = attributeText(topic.attributes);
    protocol::CreateTopicRequest header;
    header.topic = topic.topicName;
    header.defaultTopic = protocol::kTopicAutoCreate;
    header.readQueueNums = topic.readQueueNums;
    header.writeQueueNums = topic.writeQueueNums;
    header.perm = static_cast<std::int32_t>(topic.perm);
    header.topicFilterType = toString(topic.topicFilterType);
    header.topicSysFlag = topic.topicSysFlag;
    header.order = topic.order;
    header.attributes = attributes;
    return succeeded(impl_->ask(broker, commandOf(RequestCode::UpdateAndCreateTopic, header)), "creating topic '" + topic.topicName + "'");
}

Status AdminClient::deleteTopic(std::string_view topic, std::string_view cluster) {
    const auto what = "deleting topic '" + std::string(topic) + "'";
    const auto addresses = brokers(cluster);
    if (!addresses) return addresses.error();
    for (const auto& address : *addresses) {
        if (auto status = succeeded(impl_->ask(address, topicCommand(RequestCode::DeleteTopicInBroker, topic)), what); !status) return status;
    }
    protocol::DeleteTopicInNamesrvRequest header;
    header.topic = topic;
    header.clusterName = cluster;
    return succeeded(invokeAllNameServers(commandOf(RequestCode::DeleteTopicInNamesrv, header)), what);
}

Result<protocol::TopicConfig> AdminClient::topicConfig(const std::string& broker, std::string_view topic) {
    return bodyOf<protocol::TopicConfig>(impl_->ask(broker, topicCommand(RequestCode::GetTopicConfig, topic)), "topic '" + std::string(topic) + "'");
}

Result<protocol::TopicConfigSerializeWrapper> AdminClient::topicConfigs(const std::string& broker) {
    return bodyOf<protocol::TopicConfigSerializeWrapper>(impl_->ask(broker, RemotingCommand::request(RequestCode::GetAllTopicConfig)), "the broker's topics");
}

Result<protocol::TopicStatsTable> AdminClient::topicStats(const std::string& broker, std::string_view topic) {
    return bodyOf<protocol::TopicStatsTable>(impl_->ask(broker, topicCommand(RequestCode::GetTopicStatsInfo, topic)), "the state of topic '" + std::string(topic) + "'");
}

Result<protocol::TopicStatsTable> AdminClient::topicStats(std::string_view topic) {
    const auto addresses = impl_->brokersOf(std::string(topic));
    if (!addresses) return addresses.error();
    protocol::TopicStatsTable all;
    for (const auto& address : *addresses) {
        auto one = topicStats(address, topic);
        if (!one) return one.error();
        all.offsetTable.merge(one->offsetTable);
        all.topicPutTps += one->topicPutTps;
    }
    return all;
}

Result<std::vector<std::string>> AdminClient::groupsOf(std::string_view topic) {
    const auto addresses = impl_->brokersOf(std::string(topic));
    if (!addresses) return addresses.error();
    std::set<std::string> groups;
    for (const auto& address : *addresses) {
        auto one = bodyOf<protocol::GroupList>(impl_->ask(address, topicCommand(RequestCode::QueryTopicConsumeByWho, topic)), "the topic's groups");
        if (!one) return one.error();
        groups.insert(one->groupList.begin(), one->groupList.end());
    }
    return std::vector<std::string>(groups.begin(), groups.end());
}

Status AdminClient::createGroup(const std::string& broker, const protocol::SubscriptionGroupConfig& group) {
    auto command = RemotingCommand::request(RequestCode::UpdateAndCreateSubscriptiongroup);
    command.body = group.toJson();
    return succeeded(impl_->ask(broker, std::move(command)), "creating group '" + group.groupName + "'");
}

Status AdminClient::deleteGroup(const std::string& broker, std::string_view group, bool cleanOffsets) {
    protocol::DeleteSubscriptionGroupRequest header;
    header.groupName = group;
    header.cleanOffset = cleanOffsets;
    return succeeded(impl_->ask(broker, commandOf(RequestCode::DeleteSubscriptiongroup, header)), "deleting group '" + std::string(group) + "'");
}

Result<protocol::SubscriptionGroupConfig> AdminClient::groupConfig(const std::string& broker, std::string_view group) {
    auto all = groupConfigs(broker);
    if (!all) return all.error();
    const auto found = all->subscriptionGroupTable.find(group);
    if (found == all->subscriptionGroupTable.end()) {
        return Status(StatusCode::NotFound, "broker " + broker + " has no group '" + std::string(group) + "'");
    }
    return found->second;
}

Result<protocol::SubscriptionGroups> AdminClient::groupConfigs(const std::string& broker) {
    return bodyOf<protocol::SubscriptionGroups>(impl_->ask(broker, RemotingCommand::request(RequestCode::GetAllSubscriptiongroupConfig)), "the broker's groups");
}

Result<protocol::ConsumeStats> AdminClient::consumeStats(const std::string& broker, std::string_view group, std::string_view topic) {
    protocol::GetConsumeStatsRequest header;
    header.consumerGroup = group;
    header.topic = topic;
    return bodyOf<protocol::ConsumeStats>(impl_->ask(broker, commandOf(RequestCode::GetConsumeStats, header)), "the progress of group '" + std::string(group) + "'");
}

// A group is at home where its retry topic is.
Result<protocol::ConsumeStats> AdminClient::consumeStats(std::string_view group, std::string_view topic) {
    const auto addresses = impl_->brokersOf(protocol::retryTopic(group));
    if (!addresses) return addresses.error();
    protocol::ConsumeStats all;
    for (const auto& address : *addresses) {
        auto one = consumeStats(address, group, topic);
        if (!one) return one.error();
        all.offsetTable.merge(one->offsetTable);
        all.consumeTps += one->consumeTps;
    }
    return all;
}

Result<protocol::ConsumerConnection> AdminClient::consumers(std::string_view group) {
    const auto addresses = impl_->brokersOf(protocol::retryTopic(group));
    if (!addresses) return addresses.error();
    protocol::ConsumerGroupRequest header;
    header.consumerGroup = group;
    return bodyOf<protocol::ConsumerConnection>(impl_->ask(addresses->front(), commandOf(RequestCode::GetConsumerConnectionList, header)),
                                                "the consumers of group '" + std::string(group) + "'");
}

Result<protocol::ProducerConnection> AdminClient::producers(std::string_view group, std::string_view topic) {
    const auto addresses = impl_->brokersOf(std::string(topic));
    if (!addresses) return addresses.error();
    protocol::ProducerGroupRequest header;
    header.producerGroup = group;
    return bodyOf<protocol::ProducerConnection>(impl_->ask(addresses->front(), commandOf(RequestCode::GetProducerConnectionList, header)),
                                                "the producers of group '" + std::string(group) + "'");
}

Result<std::string> AdminClient::consumerRunningInfo(std::string_view group, std::string_view clientId, bool stack) {
    const auto addresses = impl_->brokersOf(protocol::retryTopic(group));
    if (!addresses) return addresses.error();
    auto command = RemotingCommand::request(RequestCode::GetConsumerRunningInfo);
    command.set("consumerGroup", group);
    command.set("clientId", clientId);
    command.set("jstackEnable", stack ? "true" : "false");
    auto answer = impl_->ask(addresses->front(), std::move(command), std::chrono::seconds(12));
    if (auto status = succeeded(answer, "asking consumer '" + std::string(clientId) + "'"); !status) return status;
    return std::move(answer->body);
}

}  // namespace patchbay::client

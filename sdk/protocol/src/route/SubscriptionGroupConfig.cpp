#include "patchbay/protocol/route/SubscriptionGroupConfig.h"

#include "Enums.h"
#include "Fields.h"
#include "Writing.h"

namespace patchbay::protocol {
namespace {

constexpr std::array<std::string_view, 2> kPolicyTypes = {"EXPONENTIAL", "CUSTOMIZED"};

void nameByKey(SubscriptionGroupTable& table) {
    for (auto& [name, config] : table) {
        if (config.groupName.empty()) config.groupName = name;
    }
}

}  // namespace

void GroupRetryPolicy::write(json::Writer& out) const {
    out.beginObject();
    if (customizedNext) {
        out.key("customizedRetryPolicy");
        out.beginObject();
        writeMember(out, "next", *customizedNext);
        out.endObject();
    }
    if (exponential) {
        out.key("exponentialRetryPolicy");
        out.beginObject();
        out.member("initial", exponential->initial);
        out.member("max", exponential->max);
        out.member("multiplier", exponential->multiplier);
        out.endObject();
    }
    out.member("type", kPolicyTypes[static_cast<std::size_t>(type)]);
    out.endObject();
}

Result<GroupRetryPolicy> GroupRetryPolicy::read(json::Value value) {
    GroupRetryPolicy policy;
    Fields fields(value, "retry policy");
    policy.type = enumOf<Type>(fields.member("type"), kPolicyTypes).value_or(Type::Customized);
    if (const auto part = fields.member("customizedRetryPolicy"); !part.isNull()) {
        Fields customized(part, "customized retry policy");
        std::vector<std::int64_t> next;
        customized.read("next", next);
        auto read = std::move(customized).finish(std::move(next));
        if (!read) return read.error();
        policy.customizedNext = std::move(*read);
    }
    if (const auto part = fields.member("exponentialRetryPolicy"); !part.isNull()) {
        Fields exponential(part, "exponential retry policy");
        Exponential numbers;
        exponential.read("initial", numbers.initial).read("max", numbers.max).read("multiplier", numbers.multiplier);
        auto read = std::move(exponential).finish(std::move(numbers));
        if (!read) return read.error();
        policy.exponential = *read;
    }
    return std::move(fields).finish(std::move(policy));
}

void SimpleSubscriptionData::write(json::Writer& out) const {
    out.beginObject();
    out.member("expression", expression);
    out.member("expressionType", expressionType);
    out.member("topic", topic);
    out.member("version", version);
    out.endObject();
}

Result<SimpleSubscriptionData> SimpleSubscriptionData::read(json::Value value) {
    SimpleSubscriptionData data;
    Fields fields(value, "fixed subscription");
    fields.read("expression", data.expression)
        .read("expressionType", data.expressionType)
        .read("topic", data.topic)
        .read("version", data.version);
    return std::move(fields).finish(std::move(data));
}

void SubscriptionGroupConfig::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "attributes", attributes);
    out.member("brokerId", brokerId);
    out.member("consumeBroadcastEnable", consumeBroadcastEnable);
    out.member("consumeEnable", consumeEnable);
    out.member("consumeFromMinEnable", consumeFromMinEnable);
    out.member("consumeMessageOrderly", consumeMessageOrderly);
    out.member("consumeTimeoutMinute", consumeTimeoutMinute);
    out.member("groupName", groupName);
    writeMember(out, "groupRetryPolicy", groupRetryPolicy);
    out.member("groupSysFlag", groupSysFlag);
    out.member("notifyConsumerIdsChangedEnable", notifyConsumerIdsChangedEnable);
    out.member("retryMaxTimes", retryMaxTimes);
    out.member("retryQueueNums", retryQueueNums);
    writeMember(out, "subscriptionDataSet", subscriptionDataSet);
    out.member("whichBrokerWhenConsumeSlowly", whichBrokerWhenConsumeSlowly);
    out.endObject();
}

Result<SubscriptionGroupConfig> SubscriptionGroupConfig::read(json::Value value) {
    SubscriptionGroupConfig config;
    Fields fields(value, "group config");
    fields.read("attributes", config.attributes)
        .read("brokerId", config.brokerId)
        .read("consumeBroadcastEnable", config.consumeBroadcastEnable)
        .read("consumeEnable", config.consumeEnable)
        .read("consumeFromMinEnable", config.consumeFromMinEnable)
        .read("consumeMessageOrderly", config.consumeMessageOrderly)
        .read("consumeTimeoutMinute", config.consumeTimeoutMinute)
        .read("groupName", config.groupName)
        .read("groupRetryPolicy", config.groupRetryPolicy)
        .read("groupSysFlag", config.groupSysFlag)
        .read("notifyConsumerIdsChangedEnable", config.notifyConsumerIdsChangedEnable)
        .read("retryMaxTimes", config.retryMaxTimes)
        .read("retryQueueNums", config.retryQueueNums)
        .read("subscriptionDataSet", config.subscriptionDataSet)
        .read("whichBrokerWhenConsumeSlowly", config.whichBrokerWhenConsumeSlowly);
    return std::move(fields).finish(std::move(config));
}

void SubscriptionGroups::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "dataVersion", dataVersion);
    writeMember(out, "forbiddenTable", forbiddenTable);
    writeMember(out, "subscriptionGroupTable", subscriptionGroupTable);
    out.endObject();
}

Result<SubscriptionGroups> SubscriptionGroups::read(json::Value value) {
    SubscriptionGroups groups;
    Fields fields(value, "subscription groups");
    fields.read("dataVersion", groups.dataVersion)
        .read("forbiddenTable", groups.forbiddenTable)
        .read("subscriptionGroupTable", groups.subscriptionGroupTable);
    nameByKey(groups.subscriptionGroupTable);
    return std::move(fields).finish(std::move(groups));
}

void SubscriptionGroupList::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "groupConfigList", groupConfigList);
    out.endObject();
}

Result<SubscriptionGroupList> SubscriptionGroupList::read(json::Value value) {
    SubscriptionGroupList list;
    Fields fields(value, "group list");
    fields.read("groupConfigList", list.groupConfigList);
    return std::move(fields).finish(std::move(list));
}

}  // namespace patchbay::protocol

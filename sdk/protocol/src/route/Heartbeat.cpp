#include "patchbay/protocol/route/Heartbeat.h"

#include "ConsumerEnums.h"
#include "Enums.h"
#include "Fields.h"
#include "Writing.h"

namespace patchbay::protocol {
namespace {

/// producerDataSet holds objects with one member.
struct ProducerData {
    std::string groupName;
    static Result<ProducerData> read(json::Value value) {
        ProducerData data;
        Fields fields(value, "producer data");
        fields.read("groupName", data.groupName);
        return std::move(fields).finish(std::move(data));
    }
};

}  // namespace

std::string_view toString(ConsumeType value) noexcept {
    return kConsumeTypes[static_cast<std::size_t>(value)];
}
std::string_view toString(MessageModel value) noexcept {
    return kMessageModels[static_cast<std::size_t>(value)];
}
std::string_view toString(ConsumeFromWhere value) noexcept {
    return kConsumeFromWheres[static_cast<std::size_t>(value)];
}

void ConsumerData::write(json::Writer& out) const {
    out.beginObject();
    if (consumeFromWhere) out.member("consumeFromWhere", toString(*consumeFromWhere));
    if (consumeType) out.member("consumeType", toString(*consumeType));
    out.member("groupName", groupName);
    if (messageModel) out.member("messageModel", toString(*messageModel));
    writeMember(out, "subscriptionDataSet", subscriptionDataSet);
    out.member("unitMode", unitMode);
    out.endObject();
}

Result<ConsumerData> ConsumerData::read(json::Value value) {
    ConsumerData data;
    Fields fields(value, "consumer data");
    fields.read("groupName", data.groupName)
        .read("subscriptionDataSet", data.subscriptionDataSet)
        .read("unitMode", data.unitMode);
    data.consumeFromWhere = enumOf<ConsumeFromWhere>(fields.member("consumeFromWhere"), kConsumeFromWheres);
    data.consumeType = enumOf<ConsumeType>(fields.member("consumeType"), kConsumeTypes);
    data.messageModel = enumOf<MessageModel>(fields.member("messageModel"), kMessageModels);
    return std::move(fields).finish(std::move(data));
}

void HeartbeatData::write(json::Writer& out) const {
    out.beginObject();
    out.member("clientID", clientId);
    writeMember(out, "consumerDataSet", consumerDataSet);
    out.member("heartbeatFingerprint", heartbeatFingerprint);
    out.key("producerDataSet");
    out.beginArray();
    for (const std::string& group : producerGroups) {
        out.beginObject();
        out.member("groupName", group);
        out.endObject();
    }
    out.endArray();
    out.member("withoutSub", withoutSub);
    out.endObject();
}

Result<HeartbeatData> HeartbeatData::read(json::Value value) {
    HeartbeatData data;
    std::vector<ProducerData> producers;
    Fields fields(value, "heartbeat");
    // Some clients write clientId; fastjson does not care about the case of a bean's members.
    fields.read("clientId", data.clientId)
        .read("clientID", data.clientId)
        .read("consumerDataSet", data.consumerDataSet)
        .read("heartbeatFingerprint", data.heartbeatFingerprint)
        .read("producerDataSet", producers)
        .read("withoutSub", data.withoutSub);
    data.producerGroups.reserve(producers.size());
    for (ProducerData& producer : producers)
        data.producerGroups.push_back(std::move(producer.groupName));
    return std::move(fields).finish(std::move(data));
}

}  // namespace patchbay::protocol

#include "patchbay/protocol/route/AdminBodies.h"

#include "ConsumerEnums.h"
#include "Enums.h"
#include "Fields.h"
#include "Writing.h"

#include <cstdio>
#include <set>
#include <string_view>

namespace patchbay::protocol {

std::string byteCountText(std::int64_t bytes) {
    static constexpr std::string_view kUnits = "KMGTPE";
    if (bytes < 1024) return std::to_string(bytes) + " B";
    auto value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < kUnits.size(); value /= 1024) ++unit;
    char text[32];
    const int length = std::snprintf(text, sizeof text, "%.1f %ciB", value, kUnits[unit]);
    return {text, static_cast<std::size_t>(length)};
}

void TopicList::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "brokerAddr", brokerAddr);
    writeMember(out, "topicList", topicList);
    out.endObject();
}

Result<TopicList> TopicList::read(json::Value value) {
    TopicList list;
    Fields fields(value, "topic list");
    fields.read("brokerAddr", list.brokerAddr).read("topicList", list.topicList);
    return std::move(fields).finish(std::move(list));
}

void GroupList::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "groupList", groupList);
    out.endObject();
}

Result<GroupList> GroupList::read(json::Value value) {
    GroupList list;
    Fields fields(value, "group list");
    fields.read("groupList", list.groupList);
    return std::move(fields).finish(std::move(list));
}

void KvTable::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "table", table);
    out.endObject();
}

Result<KvTable> KvTable::read(json::Value value) {
    KvTable table;
    Fields fields(value, "table");
    fields.read("table", table.table);
    return std::move(fields).finish(std::move(table));
}

void ConsumerIdList::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "consumerIdList", consumerIdList);
    out.endObject();
}

Result<ConsumerIdList> ConsumerIdList::read(json::Value value) {
    ConsumerIdList list;
    Fields fields(value, "consumer id list");
    fields.read("consumerIdList", list.consumerIdList);
    return std::move(fields).finish(std::move(list));
}

void LockBatchRequest::write(json::Writer& out) const {
    out.beginObject();
    out.member("clientId", clientId);
    out.member("consumerGroup", consumerGroup);
    writeMember(out, "mqSet", mqSet);
    out.member("onlyThisBroker", onlyThisBroker);
    out.endObject();
}

Result<LockBatchRequest> LockBatchRequest::read(json::Value value) {
    LockBatchRequest request;
    Fields fields(value, "lock request");
    fields.read("clientId", request.clientId)
        .read("consumerGroup", request.consumerGroup)
        .read("mqSet", request.mqSet)
        .read("onlyThisBroker", request.onlyThisBroker);
    return std::move(fields).finish(std::move(request));
}

void LockBatchResponse::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "lockOKMQSet", lockOkMqSet);
    out.endObject();
}

Result<LockBatchResponse> LockBatchResponse::read(json::Value value) {
    LockBatchResponse response;
    Fields fields(value, "lock response");
    fields.read("lockOKMQSet", response.lockOkMqSet);
    return std::move(fields).finish(std::move(response));
}

void ClientConnection::write(json::Writer& out) const {
    out.beginObject();
    out.member("clientAddr", clientAddr);
    out.member("clientId", clientId);
    out.member("language", language);
    out.member("version", version);
    out.endObject();
}

Result<ClientConnection> ClientConnection::read(json::Value value) {
    ClientConnection connection;
    Fields fields(value, "connection");
    fields.read("clientAddr", connection.clientAddr)
        .read("clientId", connection.clientId)
        .read("language", connection.language)
        .read("version", connection.version);
    return std::move(fields).finish(std::move(connection));
}

void ConsumerConnection::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "connectionSet", connectionSet);
    if (consumeFromWhere) out.member("consumeFromWhere", toString(*consumeFromWhere));
    if (consumeType) out.member("consumeType", toString(*consumeType));
    if (messageModel) out.member("messageModel", toString(*messageModel));
    writeMember(out, "subscriptionTable", subscriptionTable);
    out.endObject();
}

Result<ConsumerConnection> ConsumerConnection::read(json::Value value) {
    ConsumerConnection body;
    Fields fields(value, "consumer connection");
    fields.read("connectionSet", body.connectionSet).read("subscriptionTable", body.subscriptionTable);
    body.consumeFromWhere = enumOf<ConsumeFromWhere>(fields.member("consumeFromWhere"), kConsumeFromWheres);
    body.consumeType = enumOf<ConsumeType>(fields.member("consumeType"), kConsumeTypes);
    body.messageModel = enumOf<MessageModel>(fields.member("messageModel"), kMessageModels);
    return std::move(fields).finish(std::move(body));
}

void ProducerConnection::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "connectionSet", connectionSet);
    out.endObject();
}

Result<ProducerConnection> ProducerConnection::read(json::Value value) {
    ProducerConnection body;
    Fields fields(value, "producer connection");
    fields.read("connectionSet", body.connectionSet);
    return std::move(fields).finish(std::move(body));
}

void TopicStatsTable::Entry::write(json::Writer& out) const {
    out.beginObject();
    out.member("lastUpdateTimestamp", lastUpdateTimestamp);
    out.member("maxOffset", maxOffset);
    out.member("minOffset", minOffset);
    out.endObject();
}

Result<TopicStatsTable::Entry> TopicStatsTable::Entry::read(json::Value value) {
    Entry entry;
    Fields fields(value, "topic offset");
    fields.read("lastUpdateTimestamp", entry.lastUpdateTimestamp)
        .read("maxOffset", entry.maxOffset)
        .read("minOffset", entry.minOffset);
    return std::move(fields).finish(std::move(entry));
}

void TopicStatsTable::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "offsetTable", offsetTable);
    out.member("topicPutTps", topicPutTps);
    out.endObject();
}

Result<TopicStatsTable> TopicStatsTable::read(json::Value value) {
    TopicStatsTable body;
    Fields fields(value, "topic stats");
    fields.read("offsetTable", body.offsetTable).read("topicPutTps", body.topicPutTps);
    return std::move(fields).finish(std::move(body));
}

void ConsumeStats::Entry::write(json::Writer& out) const {
    out.beginObject();
    out.member("brokerOffset", brokerOffset);
    out.member("consumerOffset", consumerOffset);
    out.member("lastTimestamp", lastTimestamp);
    out.member("pullOffset", pullOffset);
    out.endObject();
}

Result<ConsumeStats::Entry> ConsumeStats::Entry::read(json::Value value) {
    Entry entry;
    Fields fields(value, "consume offset");
    fields.read("brokerOffset", entry.brokerOffset)
        .read("consumerOffset", entry.consumerOffset)
        .read("lastTimestamp", entry.lastTimestamp)
        .read("pullOffset", entry.pullOffset);
    return std::move(fields).finish(std::move(entry));
}

void ConsumeStats::write(json::Writer& out) const {
    out.beginObject();
    out.member("consumeTps", consumeTps);
    writeMember(out, "offsetTable", offsetTable);
    out.endObject();
}

Result<ConsumeStats> ConsumeStats::read(json::Value value) {
    ConsumeStats body;
    Fields fields(value, "consume stats");
    fields.read("consumeTps", body.consumeTps).read("offsetTable", body.offsetTable);
    return std::move(fields).finish(std::move(body));
}

void ConsumerOffsets::write(json::Writer& out) const {
    std::map<std::string_view, std::set<std::string_view>> topicsOfGroup;
    for (const auto& [key, queues] : offsetTable) {
        const std::string_view name = key;
        const std::size_t at = name.find('@');
        // "topic@group@broadcast" has three parts and belongs to no group here, as in Java.
        if (at == std::string_view::npos || at != name.rfind('@')) continue;
        topicsOfGroup[name.substr(at + 1)].insert(name.substr(0, at));
    }
    out.beginObject();
    writeMember(out, "dataVersion", dataVersion);
    out.key("groupTopicMap");
    out.beginObject();
    for (const auto& [group, topics] : topicsOfGroup) {
        out.key(group);
        out.beginArray();
        for (const std::string_view topic : topics)
            out.string(topic);
        out.endArray();
    }
    out.endObject();
    writeMember(out, "offsetTable", offsetTable);
    out.endObject();
}

Result<ConsumerOffsets> ConsumerOffsets::read(json::Value value) {
    ConsumerOffsets body;
    Fields fields(value, "consumer offsets");
    fields.read("dataVersion", body.dataVersion).read("offsetTable", body.offsetTable);
    return std::move(fields).finish(std::move(body));
}

}  // namespace patchbay::protocol

#include "patchbay/protocol/route/TopicConfig.h"

#include "Enums.h"
#include "Fields.h"
#include "Writing.h"

#include "patchbay/protocol/message/Names.h"

#include <algorithm>

namespace patchbay::protocol {
namespace {

constexpr std::array<std::string_view, 2> kFilterTypes = {"SINGLE_TAG", "MULTI_TAG"};

/// The table's keys rule; a config without a name of its own takes its key.
void nameByKey(TopicConfigTable& table) {
    for (auto& [name, config] : table) {
        if (config.topicName.empty()) config.topicName = name;
    }
}

/// Whoever hears of a topic may make a list of its queues.
void limitQueues(TopicConfig& config) noexcept {
    config.readQueueNums = std::min(config.readQueueNums, kTopicQueuesMax);
    config.writeQueueNums = std::min(config.writeQueueNums, kTopicQueuesMax);
}

/// Takes the text up to the next blank.
std::string_view takeWord(std::string_view& line) noexcept {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
}

template <typename T>
bool takeNumber(std::string_view& line, T& out) noexcept {
    const std::string_view word = takeWord(line);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
    return error == std::errc() && end == word.data() + word.size();
}

struct AttributesBody {
    Attributes attributes;
    static Result<AttributesBody> read(json::Value value) {
        AttributesBody body;
        for (const auto [name, element] : value) {
            if (auto text = element.text()) body.attributes.insert_or_assign(std::string(name), std::move(*text));
        }
        return body;
    }
};

}  // namespace

std::string_view toString(TopicFilterType type) noexcept {
    return kFilterTypes[static_cast<std::size_t>(type)];
}

std::optional<TopicFilterType> parseTopicFilterType(std::string_view text) noexcept {
    return enumOf<TopicFilterType>(text, kFilterTypes);
}

void TopicConfig::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "attributes", attributes);
    out.member("order", order);
    out.member("perm", perm);
    out.member("readQueueNums", readQueueNums);
    out.member("topicFilterType", protocol::toString(topicFilterType));
    out.member("topicName", topicName);
    out.member("topicSysFlag", topicSysFlag);
    out.member("writeQueueNums", writeQueueNums);
    out.endObject();
}

Result<TopicConfig> TopicConfig::read(json::Value value) {
    TopicConfig config;
    Fields fields(value, "topic config");
    fields.read("attributes", config.attributes)
        .read("order", config.order)
        .read("perm", config.perm)
        .read("readQueueNums", config.readQueueNums)
        .read("topicName", config.topicName)
        .read("topicSysFlag", config.topicSysFlag)
        .read("writeQueueNums", config.writeQueueNums);
    config.topicFilterType =
        enumOf<TopicFilterType>(fields.member("topicFilterType"), kFilterTypes).value_or(TopicFilterType::SingleTag);
    return std::move(fields).finish(std::move(config));
}

std::string TopicConfig::toString() const {
    std::string text = "TopicConfig [topicName=" + topicName + ", readQueueNums=" + std::to_string(readQueueNums) +
                       ", writeQueueNums=" + std::to_string(writeQueueNums) + ", perm=" + permText(perm) +
                       ", topicFilterType=" + std::string(protocol::toString(topicFilterType)) +
                       ", topicSysFlag=" + std::to_string(topicSysFlag) + ", order=" + (order ? "true" : "false") +
                       ", attributes={";
    bool first = true;
    for (const auto& [name, attribute] : attributes) {
        if (!first) text.append(", ");
        first = false;
        text.append(name).append("=").append(attribute);
    }
    return text.append("}]");
}

std::string TopicConfig::toLine() const {
    std::string line = topicName + " " + std::to_string(readQueueNums) + " " + std::to_string(writeQueueNums) + " " +
                       std::to_string(perm) + " " + std::string(protocol::toString(topicFilterType)) + " ";
    json::Writer writer(line);
    writeValue(writer, attributes);
    return line;
}

Result<TopicConfig> TopicConfig::fromLine(std::string_view line) {
    TopicConfig config;
    config.topicName = takeWord(line);
    if (config.topicName.empty() || !takeNumber(line, config.readQueueNums) ||
        !takeNumber(line, config.writeQueueNums) || !takeNumber(line, config.perm)) {
        return Status(StatusCode::Corrupt, "topic line: name and three numbers expected");
    }
    limitQueues(config);
    config.topicFilterType = parseTopicFilterType(takeWord(line)).value_or(TopicFilterType::SingleTag);
    if (!line.empty()) {
        auto body = json::decode<AttributesBody>(line);
        if (!body) return body.error();
        config.attributes = std::move(body->attributes);
    }
    return config;
}

void TopicQueueMapping::Item::write(json::Writer& out) const {
    out.beginObject();
    out.member("bname", bname);
    out.member("endOffset", endOffset);
    out.member("gen", gen);
    out.member("logicOffset", logicOffset);
    out.member("queueId", queueId);
    out.member("startOffset", startOffset);
    out.member("timeOfEnd", timeOfEnd);
    out.member("timeOfStart", timeOfStart);
    out.endObject();
}

void TopicQueueMapping::write(json::Writer& out) const {
    out.beginObject();
    out.member("bname", bname);
    writeMember(out, "currIdMap", currIdMap);
    out.member("dirty", dirty);
    out.member("epoch", epoch);
    writeMember(out, "hostedQueues", hostedQueues);
    out.member("scope", scope);
    out.member("topic", topic);
    out.member("totalQueues", totalQueues);
    out.endObject();
}

Result<TopicQueueMapping::Item> TopicQueueMapping::Item::read(json::Value value) {
    Item item;
    Fields fields(value, "queue mapping item");
    fields.read("bname", item.bname)
        .read("endOffset", item.endOffset)
        .read("gen", item.gen)
        .read("logicOffset", item.logicOffset)
        .read("queueId", item.queueId)
        .read("startOffset", item.startOffset)
        .read("timeOfEnd", item.timeOfEnd)
        .read("timeOfStart", item.timeOfStart);
    return std::move(fields).finish(std::move(item));
}

Result<TopicQueueMapping> TopicQueueMapping::read(json::Value value) {
    TopicQueueMapping mapping;
    Fields fields(value, "queue mapping");
    fields.read("bname", mapping.bname)
        .read("currIdMap", mapping.currIdMap)
        .read("dirty", mapping.dirty)
        .read("epoch", mapping.epoch)
        .read("hostedQueues", mapping.hostedQueues)
        .read("scope", mapping.scope)
        .read("topic", mapping.topic)
        .read("totalQueues", mapping.totalQueues);
    return std::move(fields).finish(std::move(mapping));
}

void TopicConfigs::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "dataVersion", dataVersion);
    writeMember(out, "topicConfigTable", topicConfigTable);
    out.endObject();
}

Result<TopicConfigs> TopicConfigs::read(json::Value value) {
    TopicConfigs configs;
    Fields fields(value, "topic configs");
    fields.read("dataVersion", configs.dataVersion).read("topicConfigTable", configs.topicConfigTable);
    nameByKey(configs.topicConfigTable);
    return std::move(fields).finish(std::move(configs));
}

void TopicConfigSerializeWrapper::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "dataVersion", dataVersion);
    writeMember(out, "mappingDataVersion", mappingDataVersion);
    writeMember(out, "topicConfigTable", topicConfigTable);
    writeMember(out, "topicQueueMappingDetailMap", topicQueueMappingDetailMap);
    writeMember(out, "topicQueueMappingInfoMap", topicQueueMappingInfoMap);
    out.endObject();
}

Result<TopicConfigSerializeWrapper> TopicConfigSerializeWrapper::read(json::Value value) {
    TopicConfigSerializeWrapper wrapper;
    Fields fields(value, "topic table");
    fields.read("dataVersion", wrapper.dataVersion)
        .read("mappingDataVersion", wrapper.mappingDataVersion)
        .read("topicConfigTable", wrapper.topicConfigTable)
        .read("topicQueueMappingDetailMap", wrapper.topicQueueMappingDetailMap)
        .read("topicQueueMappingInfoMap", wrapper.topicQueueMappingInfoMap);
    nameByKey(wrapper.topicConfigTable);
    for (auto& [name, config] : wrapper.topicConfigTable) limitQueues(config);
    return std::move(fields).finish(std::move(wrapper));
}

void TopicConfigList::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "topicConfigList", topicConfigList);
    out.endObject();
}

Result<TopicConfigList> TopicConfigList::read(json::Value value) {
    TopicConfigList list;
    Fields fields(value, "topic list");
    fields.read("topicConfigList", list.topicConfigList);
    return std::move(fields).finish(std::move(list));
}

}  // namespace patchbay::protocol

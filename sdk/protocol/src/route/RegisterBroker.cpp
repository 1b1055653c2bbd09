#include "patchbay/protocol/route/RegisterBroker.h"

#include "Fields.h"
#include "Writing.h"

#include "patchbay/protocol/util/BigEndian.h"
#include "patchbay/protocol/util/ByteReader.h"
#include "patchbay/protocol/util/Compression.h"

namespace patchbay::protocol {
namespace {

// Java's MQVersion ordinals at which the body changed.
constexpr std::int32_t kVersionLongForm = 37;       // V3_0_11: filter servers are part of the body
constexpr std::int32_t kVersionQueueMapping = 413;  // V5_0_0_SNAPSHOT: static topics follow
constexpr int kRegisterCompressionLevel = 9;

void appendSized(std::string& out, std::string_view text) {
    appendBe(out, static_cast<std::int32_t>(text.size()));
    out.append(text);
}

Status contradiction() {
    return {StatusCode::Corrupt, "registration: lengths contradict each other"};
}

/// Calls take(text) for each of a counted number of sized texts.
template <typename F>
Status takeSized(ByteReader& reader, F take) {
    const std::int32_t count = reader.i32();
    if (!reader.ok() || count < 0) return contradiction();
    for (std::int32_t i = 0; i < count; ++i) {
        const std::string_view text = reader.bytes(reader.i32());
        if (!reader.ok()) return contradiction();
        if (Status status = take(text); !status.isOk()) return status;
    }
    return Status::ok();
}

Status takeTopic(std::string_view line, TopicConfigTable& table) {
    auto config = TopicConfig::fromLine(line);
    if (!config) return config.error();
    std::string name = config->topicName;
    table.insert_or_assign(std::move(name), std::move(*config));
    return Status::ok();
}

Status takeMapping(std::string_view json, TopicQueueMappingTable& table) {
    auto mapping = TopicQueueMapping::fromJson(json);
    if (!mapping) return mapping.error();
    std::string topic = mapping->topic;
    table.insert_or_assign(std::move(topic), std::move(*mapping));
    return Status::ok();
}

Status takeFilterServers(std::string_view json, std::vector<std::string>& servers) {
    const auto document = json::Document::parse(json);
    if (!document) return document.error();
    for (const auto [key, server] : document->root()) {
        if (auto text = server.text()) servers.push_back(std::move(*text));
    }
    return Status::ok();
}

Status readPlain(std::string_view plain, std::int32_t version, RegisterBrokerBody& body) {
    TopicConfigSerializeWrapper& wrapper = body.topicConfigSerializeWrapper;
    ByteReader reader(plain);
    auto dataVersion = DataVersion::fromJson(reader.bytes(reader.i32()));
    if (!reader.ok()) return contradiction();
    if (!dataVersion) return dataVersion.error();
    wrapper.dataVersion = *dataVersion;
    Status status =
        takeSized(reader, [&wrapper](std::string_view line) { return takeTopic(line, wrapper.topicConfigTable); });
    if (!status.isOk()) return status;
    const std::string_view servers = reader.bytes(reader.i32());
    if (!reader.ok()) return contradiction();
    if (status = takeFilterServers(servers, body.filterServerList); !status.isOk()) return status;
    if (version < kVersionQueueMapping) return Status::ok();
    return takeSized(reader,
                     [&wrapper](std::string_view json) { return takeMapping(json, wrapper.topicQueueMappingInfoMap); });
}

}  // namespace

void RegisterBrokerBody::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "filterServerList", filterServerList);
    writeMember(out, "topicConfigSerializeWrapper", topicConfigSerializeWrapper);
    out.endObject();
}

Result<RegisterBrokerBody> RegisterBrokerBody::read(json::Value value) {
    RegisterBrokerBody body;
    Fields fields(value, "registration");
    body.filterServersSaid = !value["filterServerList"].exists() || !value["filterServerList"].isNull();
    fields.read("filterServerList", body.filterServerList)
        .read("topicConfigSerializeWrapper", body.topicConfigSerializeWrapper);
    return std::move(fields).finish(std::move(body));
}

Result<std::string> RegisterBrokerBody::toCompressed(std::int32_t version) const {
    std::string plain;
    appendSized(plain, topicConfigSerializeWrapper.dataVersion.toJson());
    appendBe(plain, static_cast<std::int32_t>(topicConfigSerializeWrapper.topicConfigTable.size()));
    for (const auto& [name, config] : topicConfigSerializeWrapper.topicConfigTable)
        appendSized(plain, config.toLine());
    std::string servers;
    json::Writer writer(servers);
    writeValue(writer, filterServerList);
    appendSized(plain, servers);
    if (version >= kVersionQueueMapping) {
        const TopicQueueMappingTable& mappings = topicConfigSerializeWrapper.topicQueueMappingInfoMap;
        appendBe(plain, static_cast<std::int32_t>(mappings.size()));
        for (const auto& [topic, mapping] : mappings)
            appendSized(plain, mapping.toJson());
    }
    return compress(CompressionType::Zlib, plain, kRegisterCompressionLevel);
}

Result<RegisterBrokerBody> RegisterBrokerBody::fromCompressed(std::string_view packed, std::int32_t version,
                                                              std::size_t plainBytesMax) {
    const auto plain = decompress(CompressionType::Zlib, packed, plainBytesMax);
    if (!plain) return plain.error();
    RegisterBrokerBody body;
    if (Status status = readPlain(*plain, version, body); !status.isOk()) return status;
    return body;
}

Result<RegisterBrokerBody> RegisterBrokerBody::decode(std::string_view body, std::int32_t version, bool compressed) {
    RegisterBrokerBody result;
    result.filterServersSaid = version >= kVersionLongForm;
    if (body.empty()) return result;
    if (version < kVersionLongForm) {
        auto table = TopicConfigSerializeWrapper::fromJson(body);
        if (!table) return table.error();
        result.topicConfigSerializeWrapper = std::move(*table);
        return result;
    }
    return compressed ? fromCompressed(body, version) : fromJson(body);
}

}  // namespace patchbay::protocol

#include "MessageRow.h"

#include "patchbay/protocol/message/Properties.h"

namespace patchbay::plugins::sqlite {

protocol::RecordFields readRow(const Statement& row, std::string_view topic, std::int32_t queueId) {
    protocol::RecordFields fields;
    fields.topic = topic;
    fields.queueId = queueId;
    fields.physicalOffset = row.integer(0);
    fields.queueOffset = row.integer(1) == kUnqueued ? 0 : row.integer(1);
    fields.storeTimestamp = row.integer(2);
    fields.bornTimestamp = row.integer(5);
    fields.flag = static_cast<std::int32_t>(row.integer(6));
    fields.sysFlag = static_cast<std::int32_t>(row.integer(7));
    fields.reconsumeTimes = static_cast<std::int32_t>(row.integer(8));
    fields.preparedTransactionOffset = row.integer(9);
    fields.bornHost = SocketAddress::parse(row.bytes(10)).value_or(SocketAddress());
    fields.storeHost = SocketAddress::parse(row.bytes(11)).value_or(SocketAddress());
    fields.properties = row.bytes(12);
    fields.brokerProperties = row.bytes(13);
    fields.body = row.bytes(14);
    return fields;
}

std::string_view appendRecord(std::string& out, const Statement& row, const protocol::RecordFields& fields) {
    constexpr std::string_view kOtherLength = "its parts have not the length that was stored";
    // A damaged row may claim anything; the encoder takes what a record can hold.
    if (fields.properties.size() + fields.brokerProperties.size() > protocol::kRecordPropertiesBytesMax) return kOtherLength;
    const std::size_t size = protocol::recordSize(fields);
    const bool hasCrc = !row.isNull(kBodyCrcColumn);
    if (hasCrc && row.integer(kRecordBytesColumn) != static_cast<std::int64_t>(size)) return kOtherLength;
    const std::size_t at = out.size();
    out.resize(at + size);
    protocol::encodeRecord(out.data() + at, fields);
    if (!hasCrc || row.integer(kBodyCrcColumn) == protocol::loadI32(out.data() + at + protocol::kRecordBodyCrcAt)) return {};
    out.resize(at);
    return "its body does not fit its checksum";
}

IndexedProperties IndexedProperties::of(std::string_view properties) noexcept {
    IndexedProperties found;
    protocol::PropertyReader reader(properties);
    std::string_view name;
    std::string_view value;
    while (reader.next(name, value)) {
        if (name == protocol::kPropertyTags) {
            found.tags = value;
        } else if (name == protocol::kPropertyKeys) {
            found.keys = value;
        } else if (name == protocol::kPropertyUniqueKey) {
            found.uniqueKey = value;
        }
    }
    return found;
}

}  // namespace patchbay::plugins::sqlite

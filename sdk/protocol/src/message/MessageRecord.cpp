#include "patchbay/protocol/message/MessageRecord.h"

#include "patchbay/base/Assert.h"
#include "patchbay/protocol/message/PropertyNames.h"
#include "patchbay/protocol/util/ByteReader.h"
#include "patchbay/protocol/util/Crc32.h"

#include <array>
#include <cstring>
#include <limits>

namespace patchbay::protocol {
namespace {

/// Writes in order; the caller has measured the room.
class Cursor {
public:
    explicit Cursor(char* at) noexcept : at_(at) {}

    template <typename T>
    void put(T value) noexcept {
        storeBe(at_, value);
        at_ += sizeof value;
    }
    void byte(std::size_t value) noexcept { *at_++ = static_cast<char>(value); }
    void bytes(std::string_view text) noexcept {
        // Neither side may be null for memcpy, and an empty view may be.
        if (text.empty()) return;
        std::memcpy(at_, text.data(), text.size());
        at_ += text.size();
    }
    void host(const SocketAddress& address) noexcept {
        bytes(address.ipBytes());
        put(static_cast<std::int32_t>(address.port()));
    }
    [[nodiscard]] const char* at() const noexcept { return at_; }

private:
    char* at_;
};

SocketAddress addressOf(std::string_view host) noexcept {
    if (host.size() < hostBytes(false)) return {};
    const auto port = static_cast<std::uint16_t>(loadI32(host.data() + host.size() - 4));
    if (host.size() == hostBytes(true)) {
        std::array<std::uint8_t, 16> ip;
        std::memcpy(ip.data(), host.data(), ip.size());
        return SocketAddress::v6(ip, port);
    }
    std::array<std::uint8_t, 4> ip;
    std::memcpy(ip.data(), host.data(), ip.size());
    return SocketAddress::v4(ip, port);
}

/// The ten digits, least significant first, of the record without the property itself.
void crcDigits(std::string_view record, char* out) noexcept {
    auto value = static_cast<std::uint32_t>(maskedCrc32(record.substr(0, record.size() - kPropertyCrcBytes)));
    for (int i = 0; i < 10; ++i) {
        out[i] = static_cast<char>('0' + value % 10);
        value /= 10;
    }
}

std::array<char, kPropertyCrcBytes> crcProperty(std::string_view record) noexcept {
    std::array<char, kPropertyCrcBytes> text;
    std::memcpy(text.data(), kPropertyCrc32.data(), kPropertyCrc32.size());
    text[kPropertyCrc32.size()] = '\x01';
    crcDigits(record, text.data() + kPropertyCrc32.size() + 1);
    text.back() = '\x02';
    return text;
}
static_assert(kPropertyCrc32.size() + 1 + 10 + 1 == kPropertyCrcBytes);

void parseFixedPart(ByteReader& reader, RecordView& view) noexcept {
    view.bodyCrc = reader.i32();
    view.queueId = reader.i32();
    view.flag = reader.i32();
    view.queueOffset = reader.i64();
    view.physicalOffset = reader.i64();
    view.sysFlag = reader.i32();
    view.bornTimestamp = reader.i64();
    view.bornHostBytes = reader.bytes(static_cast<std::int64_t>(hostBytes((view.sysFlag & kSysFlagBornHostV6) != 0)));
    view.storeTimestamp = reader.i64();
    view.storeHostBytes = reader.bytes(static_cast<std::int64_t>(hostBytes((view.sysFlag & kSysFlagStoreHostV6) != 0)));
    view.reconsumeTimes = reader.i32();
    view.preparedTransactionOffset = reader.i64();
}

}  // namespace

std::size_t encodeRecord(char* out, const RecordFields& fields) {
    const std::size_t size = recordSize(fields);
    const std::size_t propertiesBytes = fields.properties.size() + fields.brokerProperties.size();
    const bool v2 = fields.topic.size() > kRecordTopicV1BytesMax;
    PATCHBAY_ASSERT(size <= std::numeric_limits<std::int32_t>::max());
    PATCHBAY_ASSERT(fields.topic.size() <= std::numeric_limits<std::int16_t>::max());
    PATCHBAY_ASSERT(propertiesBytes <= kRecordPropertiesBytesMax);

    Cursor to(out);
    to.put(static_cast<std::int32_t>(size));
    to.put(v2 ? kRecordMagicV2 : kRecordMagicV1);
    to.put(maskedCrc32(fields.body));
    to.put(fields.queueId);
    to.put(fields.flag);
    to.put(fields.queueOffset);
    to.put(fields.physicalOffset);
    to.put(sysFlagWithHosts(fields.sysFlag, fields.bornHost.isV6(), fields.storeHost.isV6()));
    to.put(fields.bornTimestamp);
    to.host(fields.bornHost);
    to.put(fields.storeTimestamp);
    to.host(fields.storeHost);
    to.put(fields.reconsumeTimes);
    to.put(fields.preparedTransactionOffset);
    to.put(static_cast<std::int32_t>(fields.body.size()));
    to.bytes(fields.body);
    if (v2) {
        to.put(static_cast<std::int16_t>(fields.topic.size()));
    } else {
        to.byte(fields.topic.size());
    }
    to.bytes(fields.topic);
    to.put(static_cast<std::int16_t>(propertiesBytes));
    to.bytes(fields.properties);
    to.bytes(fields.brokerProperties);
    PATCHBAY_ASSERT(to.at() == out + size);
    return size;
}

void encodeBlankRecord(char* out, std::int32_t bytesLeft) noexcept {
    storeI32(out + kRecordSizeAt, bytesLeft);
    storeI32(out + kRecordMagicAt, kRecordMagicBlank);
}

void writePropertyCrc(char* record, std::size_t size) noexcept {
    const auto property = crcProperty({record, size});
    std::memcpy(record + size - property.size(), property.data(), property.size());
}

bool propertyCrcMatches(std::string_view record) noexcept {
    if (record.size() < kPropertyCrcBytes) return false;
    const auto property = crcProperty(record);
    return record.substr(record.size() - property.size()) == std::string_view(property.data(), property.size());
}

RecordStatus RecordView::parse(std::string_view bytes, RecordView& view, RecordCheck check) noexcept {
    view = RecordView();
    ByteReader reader(bytes);
    view.size = reader.i32();
    view.magic = reader.i32();
    if (!reader.ok()) return RecordStatus::TooShort;
    if (view.magic == kRecordMagicBlank) return RecordStatus::Blank;
    if (view.magic != kRecordMagicV1 && view.magic != kRecordMagicV2) return RecordStatus::NotARecord;
    if (view.size > 0 && static_cast<std::size_t>(view.size) > bytes.size()) return RecordStatus::TooShort;

    parseFixedPart(reader, view);
    view.body = reader.bytes(reader.i32());
    if (!reader.ok()) return RecordStatus::BadLayout;
    // The body is checked before the rest is looked at, as in Java: a wrong length inside it shows as a wrong CRC.
    if (check == RecordCheck::BodyCrc && !view.body.empty() && maskedCrc32(view.body) != view.bodyCrc) {
        return RecordStatus::BadCrc;
    }
    view.topic = reader.bytes(view.isV2() ? reader.i16() : static_cast<std::int8_t>(reader.u8()));
    view.properties = reader.bytes(reader.i16());
    if (!reader.ok()) return RecordStatus::BadLayout;
    view.bytes = bytes.substr(0, bytes.size() - reader.left());
    if (static_cast<std::int64_t>(view.bytes.size()) != view.size) return RecordStatus::BadSize;
    if (check == RecordCheck::PropertyCrc &&
        (view.properties.size() < kPropertyCrcBytes || !propertyCrcMatches(view.bytes))) {
        return RecordStatus::BadCrc;
    }
    return RecordStatus::Message;
}

SocketAddress RecordView::bornHost() const noexcept {
    return addressOf(bornHostBytes);
}
SocketAddress RecordView::storeHost() const noexcept {
    return addressOf(storeHostBytes);
}

RecordFields RecordView::fields() const noexcept {
    RecordFields fields;
    fields.topic = topic;
    fields.body = body;
    fields.properties = properties;
    fields.queueId = queueId;
    fields.flag = flag;
    fields.sysFlag = sysFlag;
    fields.reconsumeTimes = reconsumeTimes;
    fields.queueOffset = queueOffset;
    fields.physicalOffset = physicalOffset;
    fields.bornTimestamp = bornTimestamp;
    fields.storeTimestamp = storeTimestamp;
    fields.preparedTransactionOffset = preparedTransactionOffset;
    fields.bornHost = bornHost();
    fields.storeHost = storeHost();
    return fields;
}

}  // namespace patchbay::protocol

// The commit-log record: what lies in a RocketMQ commit log and travels in the answers to a pull.
#pragma once

#include "patchbay/base/SocketAddress.h"
#include "patchbay/protocol/message/SysFlag.h"
#include "patchbay/protocol/util/BigEndian.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace patchbay::protocol {

inline constexpr std::int32_t kRecordMagicV1 = -626843481;     ///< 0xDAA320A7: one byte of topic length
inline constexpr std::int32_t kRecordMagicV2 = -626843477;     ///< 0xDAA320AB: two bytes of topic length
inline constexpr std::int32_t kRecordMagicBlank = -875286124;  ///< 0xCBD43194: nothing more in this file

inline constexpr std::size_t kBlankRecordBytes = 8;         ///< what has to stay free behind every record of a file
inline constexpr std::size_t kRecordTopicV1BytesMax = 127;  ///< longer topics need a V2 record
inline constexpr std::size_t kRecordPropertiesBytesMax = 32767;

// Places of fields that do not move. Behind the born host they move by 12 when it is IPv6.
inline constexpr std::size_t kRecordSizeAt = 0;
inline constexpr std::size_t kRecordMagicAt = 4;
inline constexpr std::size_t kRecordBodyCrcAt = 8;
inline constexpr std::size_t kRecordQueueIdAt = 12;
inline constexpr std::size_t kRecordFlagAt = 16;
inline constexpr std::size_t kRecordQueueOffsetAt = 20;
inline constexpr std::size_t kRecordPhysicalOffsetAt = 28;
inline constexpr std::size_t kRecordSysFlagAt = 36;
inline constexpr std::size_t kRecordBornTimestampAt = 40;
inline constexpr std::size_t kRecordBornHostAt = 48;

[[nodiscard]] constexpr std::size_t hostBytes(bool v6) noexcept {
    return v6 ? 20 : 8;
}
[[nodiscard]] constexpr std::size_t recordStoreTimestampAt(std::int32_t sysFlag) noexcept {
    return kRecordBornHostAt + hostBytes((sysFlag & kSysFlagBornHostV6) != 0);
}

/// Bytes of a record with these parts. A topic of more than 127 bytes makes it V2.
[[nodiscard]] constexpr std::size_t recordSize(std::size_t topicBytes, std::size_t bodyBytes,
                                               std::size_t propertiesBytes, std::int32_t sysFlag) noexcept {
    return recordStoreTimestampAt(sysFlag) + 8 + hostBytes((sysFlag & kSysFlagStoreHostV6) != 0) + 4 + 8 + 4 +
           bodyBytes + (topicBytes > kRecordTopicV1BytesMax ? 2 : 1) + topicBytes + 2 + propertiesBytes;
}

/// What a record is made of. Views belong to the caller and must not lie in the output buffer.
struct RecordFields {
    std::string_view topic;  ///< at most 32767 bytes
    std::string_view body;
    std::string_view properties;        ///< of the producer; ends with 0x02 when brokerProperties follow
    std::string_view brokerProperties;  ///< written right behind the others; both together at most 32767 bytes
    std::int32_t queueId = 0;
    std::int32_t flag = 0;
    std::int32_t sysFlag = 0;  ///< the two host bits are set from the hosts, whatever they are here
    std::int32_t reconsumeTimes = 0;
    std::int64_t queueOffset = 0;
    std::int64_t physicalOffset = 0;
    std::int64_t bornTimestamp = 0;
    std::int64_t storeTimestamp = 0;
    std::int64_t preparedTransactionOffset = 0;
    SocketAddress bornHost;
    SocketAddress storeHost;
};

/// The sysFlag as it will be written.
[[nodiscard]] constexpr std::int32_t sysFlagWithHosts(std::int32_t sysFlag, bool bornV6, bool storeV6) noexcept {
    return (sysFlag & ~(kSysFlagBornHostV6 | kSysFlagStoreHostV6)) | (bornV6 ? kSysFlagBornHostV6 : 0) |
           (storeV6 ? kSysFlagStoreHostV6 : 0);
}

[[nodiscard]] inline std::size_t recordSize(const RecordFields& fields) noexcept {
    return recordSize(fields.topic.size(), fields.body.size(),
                      fields.properties.size() + fields.brokerProperties.size(),
                      sysFlagWithHosts(fields.sysFlag, fields.bornHost.isV6(), fields.storeHost.isV6()));
}

/// Writes the record into exactly recordSize(fields) bytes at `out` and returns that size. Lengths beyond the limits
/// of RecordFields, or a total beyond 2^31-1, are the caller's error and abort.
std::size_t encodeRecord(char* out, const RecordFields& fields);

/// Writes the eight bytes that end a file: "the remaining `bytesLeft` bytes hold nothing". bytesLeft counts these
/// eight.
void encodeBlankRecord(char* out, std::int32_t bytesLeft) noexcept;

// Changes to a record that encodeRecord has written. A property CRC, if there is one, has to be written after them.
inline void patchQueueOffset(char* record, std::int64_t value) noexcept {
    storeI64(record + kRecordQueueOffsetAt, value);
}
inline void patchPhysicalOffset(char* record, std::int64_t value) noexcept {
    storeI64(record + kRecordPhysicalOffsetAt, value);
}
inline void patchStoreTimestamp(char* record, std::int64_t value) noexcept {
    storeI64(record + recordStoreTimestampAt(loadI32(record + kRecordSysFlagAt)), value);
}

/// The property by which a whole record may be checked: `__CRC32#` 0x01 ten digits 0x02, always last in the properties.
inline constexpr std::size_t kPropertyCrcBytes = 20;
/// Fills the last 20 bytes of the record, which the caller has reserved as the tail of brokerProperties.
void writePropertyCrc(char* record, std::size_t size) noexcept;
/// Whether the last 20 bytes of the record are that property and fit the rest.
[[nodiscard]] bool propertyCrcMatches(std::string_view record) noexcept;

enum class RecordCheck : std::uint8_t {
    Layout,       ///< lengths only: for what was checked before
    BodyCrc,      ///< and the body against its CRC
    PropertyCrc,  ///< and the whole record against the CRC in its properties, which must be there
};

enum class RecordStatus : std::uint8_t {
    Message,     ///< complete and as it should be
    Blank,       ///< the end of a file: go on in the next one
    TooShort,    ///< fewer bytes than the record says, or not even a size and a magic
    NotARecord,  ///< another magic: zeros, or something else
    BadCrc,      ///< a checksum does not fit
    BadLayout,   ///< a part reaches beyond the bytes, or a length is negative
    BadSize,     ///< whole, but its parts do not add up to its size field, which view.size holds: Java skips that many
                 ///< bytes
};

/// A record taken apart: views into the bytes that were parsed, valid as long as they are. A value; no owner.
struct RecordView {
    std::string_view bytes;  ///< the whole record
    std::int32_t size = 0;
    std::int32_t magic = 0;
    std::int32_t bodyCrc = 0;
    std::int32_t queueId = 0;
    std::int32_t flag = 0;
    std::int32_t sysFlag = 0;
    std::int32_t reconsumeTimes = 0;
    std::int64_t queueOffset = 0;
    std::int64_t physicalOffset = 0;
    std::int64_t bornTimestamp = 0;
    std::int64_t storeTimestamp = 0;
    std::int64_t preparedTransactionOffset = 0;
    std::string_view bornHostBytes;  ///< ip and i32 port; see bornHost()
    std::string_view storeHostBytes;
    std::string_view body;
    std::string_view topic;
    std::string_view properties;

    /// Reads the record at the start of `bytes`, which may go on behind it. Sets view.size whenever four bytes are
    /// there; for Blank that is the number of bytes to skip. The other fields are set only for Message.
    static RecordStatus parse(std::string_view bytes, RecordView& view,
                              RecordCheck check = RecordCheck::BodyCrc) noexcept;

    [[nodiscard]] bool isV2() const noexcept { return magic == kRecordMagicV2; }
    /// A port outside 0-65535 is cut to its low 16 bits.
    [[nodiscard]] SocketAddress bornHost() const noexcept;
    [[nodiscard]] SocketAddress storeHost() const noexcept;
    /// Everything needed to write the same record again; views are shared with this one.
    [[nodiscard]] RecordFields fields() const noexcept;
};

}  // namespace patchbay::protocol

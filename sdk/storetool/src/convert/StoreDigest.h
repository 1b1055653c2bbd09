// StoreDigest: a number over messages in their order, which two stores with the same content share.
#pragma once

#include "patchbay/protocol/message/MessageRecord.h"

#include <cstdint>
#include <string_view>

namespace patchbay::storetool {

/// FNV-1a over everything but physical offsets, and the checksum of a whole record, which depends on them.
class StoreDigest {
public:
    void add(const protocol::RecordView& record) noexcept {
        for (const std::int64_t number :
             {std::int64_t{record.queueId}, record.queueOffset, std::int64_t{record.flag}, std::int64_t{record.sysFlag}, record.bornTimestamp,
              record.storeTimestamp, std::int64_t{record.reconsumeTimes}, record.preparedTransactionOffset}) {
            addNumber(number);
        }
        std::string_view properties = record.properties;
        if (protocol::propertyCrcMatches(record.bytes)) properties.remove_suffix(protocol::kPropertyCrcBytes);
        for (const auto text : {record.topic, properties, record.bornHostBytes, record.storeHostBytes, record.body}) addText(text);
    }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

private:
    void addText(std::string_view text) noexcept {
        addNumber(static_cast<std::int64_t>(text.size()));
        for (const char c : text) addByte(static_cast<unsigned char>(c));
    }
    void addNumber(std::int64_t number) noexcept {
        for (int byte = 0; byte < 8; ++byte) addByte(static_cast<unsigned char>(static_cast<std::uint64_t>(number) >> (8 * byte)));
    }
    void addByte(unsigned char byte) noexcept { value_ = (value_ ^ byte) * 0x100000001b3ULL; }

    std::uint64_t value_ = 0xcbf29ce484222325ULL;
};

}  // namespace patchbay::storetool

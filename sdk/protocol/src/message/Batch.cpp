#include "patchbay/protocol/message/Batch.h"

#include "patchbay/base/Assert.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/util/BigEndian.h"
#include "patchbay/protocol/util/ByteReader.h"

namespace patchbay::protocol {

bool BatchReader::next(BatchEntry& entry) noexcept {
    if (rest_.empty()) return false;
    ByteReader reader(rest_);
    reader.skip(12);  // size, magic and CRC, which say nothing here
    BatchEntry read;
    read.flag = reader.i32();
    read.body = reader.bytes(reader.i32());
    read.properties = reader.bytes(reader.i16());
    if (!reader.ok()) {
        failed_ = true;
        rest_ = {};
        return false;
    }
    rest_.remove_prefix(rest_.size() - reader.left());
    entry = read;
    return true;
}

std::optional<std::uint32_t> countBatch(std::string_view bytes) noexcept {
    BatchReader reader(bytes);
    BatchEntry entry;
    std::uint32_t count = 0;
    while (reader.next(entry))
        ++count;
    if (reader.failed()) return std::nullopt;
    return count;
}

void appendBatchEntry(std::string& out, const BatchEntry& entry) {
    PATCHBAY_ASSERT(entry.properties.size() <= kRecordPropertiesBytesMax);
    const std::size_t size = kBatchEntryFixedBytes + entry.body.size() + entry.properties.size();
    out.reserve(out.size() + size);
    appendBe(out, static_cast<std::int32_t>(size));
    appendBe(out, std::int32_t{0});
    appendBe(out, std::int32_t{0});
    appendBe(out, entry.flag);
    appendBe(out, static_cast<std::int32_t>(entry.body.size()));
    out.append(entry.body);
    appendBe(out, static_cast<std::int16_t>(entry.properties.size()));
    out.append(entry.properties);
}

}  // namespace patchbay::protocol

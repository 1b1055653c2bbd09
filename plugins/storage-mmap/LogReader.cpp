#include "LogReader.h"

#include "MultiDispatch.h"

#include "patchbay/protocol/message/MessageRecord.h"

#include <algorithm>

namespace patchbay::mmapstore {

using protocol::RecordCheck;
using protocol::RecordStatus;
using protocol::RecordView;

namespace {

constexpr std::int32_t kHeadBytes = 8;  // size and magic
constexpr std::int64_t kTimesBytes = 128;  // in which all that has a fixed place lies, also with addresses of 16 bytes

bool isMagic(std::int32_t magic) noexcept {
    return magic == protocol::kRecordMagicV1 || magic == protocol::kRecordMagicV2;
}

/// Nothing is known of what lies there, as opposed to that it is wrong or gone.
bool isUnreadable(const Status& why) noexcept {
    return why.code() != StatusCode::NotFound && why.code() != StatusCode::Corrupt;
}

}  // namespace

Result<Window> LogReader::look(const Unit& unit, std::int64_t bytes) const {
    Result<Window> window = windows_.find(unit.physical, unit.bytes);
    if (!window) return window;
    if (Status there = window->populate(unit.physical, bytes); !there) return Status(StatusCode::Io, there.message());
    return window;
}

Result<Slice> LogReader::record(const Unit& unit) const {
    return recordWith(unit, unit.bytes);
}

Result<Slice> LogReader::recordWith(const Unit& unit, std::int64_t readable) const {
    const Result<Window> window = look(unit, readable);
    if (!window) return window.error();
    return recordIn(*window, unit);
}

Result<Slice> LogReader::recordIn(const Window& window, const Unit& unit) {
    const std::string_view bytes = window.at(unit.physical, unit.bytes);
    if (bytes.size() < protocol::kRecordBornHostAt || protocol::loadI32(bytes.data()) != unit.bytes ||
        !isMagic(protocol::loadI32(bytes.data() + protocol::kRecordMagicAt)) ||
        protocol::loadI64(bytes.data() + protocol::kRecordPhysicalOffsetAt) != unit.physical) {
        return Status(StatusCode::Corrupt, "no record of " + std::to_string(unit.bytes) + " bytes at position " +
                                               std::to_string(unit.physical) + " of the commit log");
    }
    return Slice{bytes, KeepAlive(window.part)};
}

Result<Slice> LogReader::recordAt(std::int64_t position, std::int64_t end, std::int64_t hotFrom) const {
    const Status missing(StatusCode::NotFound, "no message starts at position " + std::to_string(position));
    if (end - position < kHeadBytes) return missing;
    const bool hot = position >= hotFrom;
    const Result<Window> head = hot ? windows_.find(position, kHeadBytes) : look({position, kHeadBytes, 0}, kHeadBytes);
    // Closer than a head to the end of its file: only a blank can be there.
    if (!head) return isUnreadable(head.error()) ? head.error() : missing;
    const std::int32_t size = protocol::loadI32(head->at(position, kHeadBytes).data());
    if (size < kHeadBytes || size > end - position) return missing;
    const Unit unit{position, size, 0};
    Result<Slice> found = hot && head->covers(position, size) ? recordIn(*head, unit) : record(unit);
    if (!found) return isUnreadable(found.error()) ? found.error() : missing;
    RecordView view;
    // Bytes of a body may look like a record; they would have to name their own position and add up as well.
    if (RecordView::parse(found->bytes, view, RecordCheck::Layout) != RecordStatus::Message) return missing;
    return found;
}

Result<std::int64_t> LogReader::storeTime(const Unit& unit) const {
    const Result<Slice> found = recordWith(unit, std::min<std::int64_t>(unit.bytes, kTimesBytes));
    if (!found) return found.error();
    const char* const bytes = found->bytes.data();
    const std::size_t at = protocol::recordStoreTimestampAt(protocol::loadI32(bytes + protocol::kRecordSysFlagAt));
    if (at + 8 > found->bytes.size()) return Status(StatusCode::Corrupt, "a record is too short for its store time");
    return protocol::loadI64(bytes + at);
}

Result<bool> LogReader::isRecordOf(const Unit& unit, std::string_view topic, std::int32_t queueId, std::int64_t offset) const {
    const Result<Slice> found = record(unit);
    RecordView view;
    if (!found && isUnreadable(found.error())) return found.error();
    if (!found || RecordView::parse(found->bytes, view, RecordCheck::Layout) != RecordStatus::Message) return false;
    if (view.topic == topic && view.queueId == queueId && view.queueOffset == offset) return true;
    bool further = false;
    forEachFurtherQueue(view.properties, [&](std::string_view name, std::int64_t its) {
        further = further || (name == topic && queueId == 0 && its == offset);
    });
    return further;
}

}  // namespace patchbay::mmapstore

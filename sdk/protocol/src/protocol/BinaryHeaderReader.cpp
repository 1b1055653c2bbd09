#include "BinaryHeaderReader.h"

#include "patchbay/protocol/util/ByteReader.h"

#include <string>

namespace patchbay::protocol {

namespace {

Status refused(const char* problem) {
    return {StatusCode::Corrupt, std::string("binary header refused: ") + problem};
}

}  // namespace

Status BinaryHeaderReader::read(std::string_view header, CommandView& out) {
    const auto range = [&header](std::string_view text) {
        return CommandView::Range{static_cast<std::uint32_t>(text.data() - header.data()),
                                  static_cast<std::uint32_t>(text.size())};
    };
    ByteReader reader(header);
    out.code = reader.i16();
    out.language = languageOf(std::int64_t{reader.u8()});
    out.version = reader.i16();
    out.opaque = reader.i32();
    out.flag = reader.i32();
    const std::string_view remark = reader.bytes(reader.i32());
    const std::string_view block = reader.bytes(reader.i32());
    if (!reader.ok()) return refused("a length points beyond its end");
    out.hasOpaque = true;
    if (!remark.empty()) out.remark_ = range(remark);
    out.hasFields = !block.empty();

    ByteReader fields(block);
    while (fields.left() > 0) {
        const std::string_view key = fields.bytes(fields.i16());
        const std::string_view value = fields.bytes(fields.i32());
        if (!fields.ok()) return refused("a field points beyond the block of fields");
        if (key.empty()) continue;
        const CommandView::Range valueRange = value.empty() ? CommandView::Range{CommandView::kNull, 0} : range(value);
        if (!out.addField(range(key), valueRange)) return refused("too many fields");
    }
    return Status::ok();
}

}  // namespace patchbay::protocol

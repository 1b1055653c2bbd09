#include "patchbay/protocol/CommandView.h"

#include "BinaryHeaderReader.h"
#include "JsonHeaderReader.h"

#include "patchbay/protocol/util/BigEndian.h"

#include <algorithm>
#include <string>
#include <utility>

namespace patchbay::protocol {

CommandView& CommandView::operator=(CommandView&& other) noexcept {
    code = other.code;
    flag = other.flag;
    opaque = other.opaque;
    version = other.version;
    language = other.language;
    serializeType = other.serializeType;
    hasOpaque = other.hasOpaque;
    hasFields = other.hasFields;
    body = other.body;
    header_ = other.header_;
    headerSize_ = other.headerSize_;
    remark_ = other.remark_;
    fieldCount_ = other.fieldCount_;
    std::copy_n(other.fields_.begin(), std::min<std::size_t>(fieldCount_, kInlineFields), fields_.begin());
    overflow_ = std::move(other.overflow_);
    return *this;
}

Status CommandView::decode(std::span<char> frame, CommandView& out) {
    if (frame.size() < sizeof(std::uint32_t)) return {StatusCode::Corrupt, "the frame is too short for a header word"};
    const auto word = loadBe<std::uint32_t>(frame.data());
    const std::size_t headerSize = word & kHeaderBytesMax;
    const std::uint32_t type = word >> 24;
    if (headerSize > frame.size() - sizeof word) {
        return {StatusCode::Corrupt, "the frame announces a header of " + std::to_string(headerSize) +
                                         " bytes but has " + std::to_string(frame.size() - sizeof word)};
    }
    char* const header = frame.data() + sizeof word;
    char* const headerEnd = header + headerSize;
    char* const end = frame.data() + frame.size();

    out.code = out.flag = out.opaque = out.version = 0;
    out.language = Language::Java;
    out.hasOpaque = false;
    out.header_ = header;
    out.headerSize_ = headerSize;
    out.remark_ = {kNull, 0};
    out.clearFields();
    out.body = {headerEnd, static_cast<std::size_t>(end - headerEnd)};

    if (type == static_cast<std::uint32_t>(SerializeType::Json)) {
        out.serializeType = SerializeType::Json;
        return JsonHeaderReader(header, headerEnd, end, out).read();
    }
    if (type == static_cast<std::uint32_t>(SerializeType::Binary)) {
        out.serializeType = SerializeType::Binary;
        return BinaryHeaderReader::read({header, headerSize}, out);
    }
    return {StatusCode::Corrupt, "the frame's header has the unknown serialize type " + std::to_string(type)};
}

std::optional<std::string_view> CommandView::find(std::string_view key) const noexcept {
    for (std::size_t i = fieldCount_; i > 0; --i) {
        const FieldView candidate = field(i - 1);
        if (candidate.key != key) continue;
        if (candidate.value.data() == nullptr) return std::nullopt;
        return candidate.value;
    }
    return std::nullopt;
}

void CommandView::clearFields() noexcept {
    fieldCount_ = 0;
    hasFields = false;
    overflow_.clear();
}

bool CommandView::addOverflow(PackedField field) {
    if (fieldCount_ == kFieldsMax) return false;
    overflow_.push_back(field);
    ++fieldCount_;
    return true;
}

}  // namespace patchbay::protocol

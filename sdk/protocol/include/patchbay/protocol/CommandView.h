// CommandView: a received request or response, read without copying.
#pragma once

#include "patchbay/base/Status.h"
#include "patchbay/protocol/Language.h"
#include "patchbay/protocol/Limits.h"
#include "patchbay/protocol/SerializeType.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace patchbay::protocol {

/// An extension field. A value that the peer gave as null has value.data() == nullptr.
struct FieldView {
    std::string_view key;
    std::string_view value;
};

/// A decoded command whose text lies in the frame it came from, which therefore has to stay where it is; PackedCommand is for what
/// outlives its frame. Move-only; moving copies some 600 bytes at most and leaves views of the frame valid.
/// Not synchronised: one thread at a time. Failure leaves it readable but meaningless.
class CommandView {
public:
    CommandView() noexcept {}
    CommandView(CommandView&& other) noexcept { *this = std::move(other); }
    CommandView& operator=(CommandView&& other) noexcept;

    /// Reads a frame: the bytes after the length word. JSON strings with escapes are unescaped inside the frame, so it
    /// can be decoded only once. Allocates nothing up to 32 fields, and never by a length that the peer claims.
    /// Corrupt for whatever a Java server answers by closing the connection; the message says what was wrong.
    static Status decode(std::span<char> frame, CommandView& out);

    std::int32_t code = 0;
    std::int32_t flag = 0;
    /// 0 when hasOpaque is false.
    std::int32_t opaque = 0;
    std::int32_t version = 0;
    Language language = Language::Java;
    SerializeType serializeType = SerializeType::Json;
    /// False when the peer left it out: then it cannot match an answer to its question.
    bool hasOpaque = false;
    /// False when the command has no extFields at all; {} is true.
    bool hasFields = false;
    /// Empty when there is none. Not part of the header.
    std::string_view body;

    [[nodiscard]] bool isResponse() const noexcept { return (flag & kFlagResponse) != 0; }
    [[nodiscard]] bool isOneway() const noexcept { return (flag & kFlagOneway) != 0; }

    /// data() == nullptr when there is none.
    [[nodiscard]] std::string_view remark() const noexcept { return text(remark_); }

    [[nodiscard]] std::size_t fieldCount() const noexcept { return fieldCount_; }
    /// In the order of the frame; 0 <= index < fieldCount(). A key may occur more than once: the last one counts.
    [[nodiscard]] FieldView field(std::size_t index) const noexcept {
        const PackedField& f = index < kInlineFields ? fields_[index] : overflow_[index - kInlineFields];
        return {text(f.key), text(f.value)};
    }
    /// Keys are case-sensitive. Nothing for a key that is absent or null.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const noexcept;

    /// The bytes that remark and fields point into.
    [[nodiscard]] std::string_view header() const noexcept { return {header_, headerSize_}; }

private:
    friend class JsonHeaderReader;
    friend class BinaryHeaderReader;
    friend class PackedCommand;

    // Texts are ranges of the header, so that moving the header is one assignment.
    struct Range {
        std::uint32_t offset;
        std::uint32_t size;
    };
    struct PackedField {
        Range key;
        Range value;
    };
    static constexpr std::uint32_t kNull = UINT32_MAX;
    static constexpr std::size_t kInlineFields = 32;

    [[nodiscard]] std::string_view text(Range range) const noexcept {
        return range.offset == kNull ? std::string_view{} : std::string_view{header_ + range.offset, range.size};
    }
    void clearFields() noexcept;
    /// False beyond kFieldsMax.
    [[nodiscard]] bool addField(Range key, Range value) {
        if (fieldCount_ < kInlineFields) [[likely]] {
            fields_[fieldCount_++] = {key, value};
            return true;
        }
        return addOverflow({key, value});
    }
    bool addOverflow(PackedField field);

    const char* header_ = nullptr;
    std::size_t headerSize_ = 0;
    Range remark_{kNull, 0};
    std::uint32_t fieldCount_ = 0;
    // Deliberately not zeroed: entries from fieldCount_ on are never read.
    std::array<PackedField, kInlineFields> fields_;
    std::vector<PackedField> overflow_;
};

}  // namespace patchbay::protocol

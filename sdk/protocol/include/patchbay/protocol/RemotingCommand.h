// RemotingCommand: a whole command that owns its bytes, for clients, tests and relays.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/FieldList.h"
#include "patchbay/protocol/RequestCode.h"
#include "patchbay/protocol/ResponseCode.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::protocol {

/// A value type; not for hot paths, where CommandView and FieldList do the same without copies.
struct RemotingCommand {
    std::int32_t code = 0;
    std::int32_t opaque = 0;
    std::int32_t flag = 0;
    std::int32_t version = kVersion;
    Language language = Language::Java;
    std::optional<std::string> remark;
    /// In order. Null values are dropped when decoding.
    std::vector<std::pair<std::string, std::string>> fields;
    /// Whether extFields exist when `fields` is empty.
    bool hasFields = false;
    std::string body;

    static RemotingCommand request(RequestCode code);
    static RemotingCommand response(ResponseCode code, std::int32_t opaque);
    /// Copies everything out of a view.
    static RemotingCommand from(const CommandView& view);
    /// A whole frame with its length word, neither more nor less. Corrupt as CommandView::decode.
    static Result<RemotingCommand> decode(std::string_view frame);
    /// The same, without the length word.
    static Result<RemotingCommand> decodeAfterLength(std::string_view frame);

    /// The whole frame with its length word. OutOfRange when it would be too large.
    [[nodiscard]] Result<std::string> encode(SerializeType type) const;

    [[nodiscard]] bool isResponse() const noexcept { return (flag & kFlagResponse) != 0; }
    [[nodiscard]] bool isOneway() const noexcept { return (flag & kFlagOneway) != 0; }
    /// The last value under the key.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const noexcept;
    /// Replaces the value or adds the field.
    void set(std::string_view key, std::string_view value);
    /// Takes the fields of a header structure: command.setHeader(SendMessageRequest{...}).
    template <typename Header>
    void setHeader(const Header& header) {
        FieldList list;
        header.write(list);
        setFields(list);
    }
    void setFields(const FieldList& list);
};

}  // namespace patchbay::protocol

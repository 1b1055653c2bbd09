#include "patchbay/protocol/PackedCommand.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace patchbay::protocol {

namespace {

// What requests that wait carry: pulls first of all. A name that is not here is kept as it is.
constexpr std::array<std::string_view, 21> kNames = {
    "consumerGroup", "topic",        "queueId",      "queueOffset",    "maxMsgNums",  "sysFlag",       "commitOffset",
    "subscription",  "subVersion",   "maxMsgBytes",  "expressionType", "bname",       "requestSource", "suspendTimeoutMillis",
    "lo",            "ns",           "nsd",          "AccessKey",      "Signature",   "OnsChannel",    "proxyFrowardClientId"};
constexpr char kOther = static_cast<char>(kNames.size());

struct Head {
    std::int32_t code;
    std::int32_t flag;
    std::int32_t opaque;
    std::int32_t version;
    std::uint32_t textBytes;
    std::uint16_t fields;
    Language language;
    SerializeType type;
    bool hasOpaque;
    bool hasFields;
};

/// Lengths, seven bits a byte; 0 stands for a text that is null.
void putText(std::string& out, std::string_view text) {
    auto rest = text.data() == nullptr ? 0 : text.size() + 1;
    for (; rest >= 0x80; rest >>= 7) out.push_back(static_cast<char>(rest | 0x80));
    out.push_back(static_cast<char>(rest));
    out.append(text);
}

std::string_view takeText(const char*& from) {
    std::size_t length = 0;
    for (unsigned shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(*from++);
        length |= std::size_t{byte & 0x7FU} << shift;
        if (byte < 0x80) break;
    }
    if (length == 0) return {};
    const std::string_view text(from, length - 1);
    from += text.size();
    return text;
}

}  // namespace

PackedCommand::PackedCommand(const CommandView& command) {
    Head head{command.code,      command.flag,           command.opaque,
              command.version,   0,                      static_cast<std::uint16_t>(command.fieldCount()),
              command.language,  command.serializeType,  command.hasOpaque,
              command.hasFields};
    std::string out(sizeof head, '\0');
    out.reserve(sizeof head + command.header().size());
    const auto count = [&head](std::string_view text) { head.textBytes += static_cast<std::uint32_t>(text.size()); };
    putText(out, command.remark());
    count(command.remark());
    for (std::size_t i = 0; i < command.fieldCount(); ++i) {
        const FieldView field = command.field(i);
        const auto known = std::ranges::find(kNames, field.key);
        out.push_back(static_cast<char>(known - kNames.begin()));
        if (known == kNames.end()) putText(out, field.key);
        putText(out, field.value);
        count(field.key);
        count(field.value);
    }
    std::memcpy(out.data(), &head, sizeof head);
    bytes_ = std::make_unique_for_overwrite<char[]>(out.size());
    std::memcpy(bytes_.get(), out.data(), out.size());
}

std::unique_ptr<char[]> PackedCommand::unpack(CommandView& out) const {
    Head head;
    std::memcpy(&head, bytes_.get(), sizeof head);
    auto texts = std::make_unique_for_overwrite<char[]>(head.textBytes);
    out.code = head.code;
    out.flag = head.flag;
    out.opaque = head.opaque;
    out.version = head.version;
    out.language = head.language;
    out.serializeType = head.type;
    out.hasOpaque = head.hasOpaque;
    out.body = {};
    out.header_ = texts.get();
    out.headerSize_ = head.textBytes;
    out.clearFields();
    out.hasFields = head.hasFields;

    std::uint32_t used = 0;
    const auto put = [&](std::string_view text) -> CommandView::Range {
        if (text.data() == nullptr) return {CommandView::kNull, 0};
        std::memcpy(texts.get() + used, text.data(), text.size());
        const CommandView::Range range{used, static_cast<std::uint32_t>(text.size())};
        used += range.size;
        return range;
    };
    const char* from = bytes_.get() + sizeof head;
    out.remark_ = put(takeText(from));
    for (std::uint16_t i = 0; i < head.fields; ++i) {
        const char name = *from++;
        const auto key = put(name == kOther ? takeText(from) : kNames[static_cast<std::size_t>(name)]);
        (void)out.addField(key, put(takeText(from)));   // as many as it had fit
    }
    return texts;
}

}  // namespace patchbay::protocol

#include "patchbay/protocol/RemotingCommand.h"

#include "patchbay/protocol/FrameCodec.h"
#include "patchbay/protocol/util/ByteReader.h"

namespace patchbay::protocol {

RemotingCommand RemotingCommand::request(RequestCode code) {
    RemotingCommand command;
    command.code = static_cast<std::int32_t>(code);
    return command;
}

RemotingCommand RemotingCommand::response(ResponseCode code, std::int32_t opaque) {
    RemotingCommand command;
    command.code = static_cast<std::int32_t>(code);
    command.opaque = opaque;
    command.flag = kFlagResponse;
    return command;
}

RemotingCommand RemotingCommand::from(const CommandView& view) {
    RemotingCommand command;
    command.code = view.code;
    command.opaque = view.opaque;
    command.flag = view.flag;
    command.version = view.version;
    command.language = view.language;
    if (view.remark().data() != nullptr) command.remark = std::string(view.remark());
    command.hasFields = view.hasFields;
    command.fields.reserve(view.fieldCount());
    for (std::size_t i = 0; i < view.fieldCount(); ++i) {
        const FieldView field = view.field(i);
        if (field.value.data() != nullptr) command.fields.emplace_back(field.key, field.value);
    }
    command.body = std::string(view.body);
    return command;
}

Result<RemotingCommand> RemotingCommand::decode(std::string_view frame) {
    ByteReader reader(frame);
    const std::int32_t length = reader.i32();
    const std::string_view rest = reader.bytes(length);
    if (!reader.ok() || reader.left() > 0) {
        return Status(StatusCode::Corrupt, "a frame of " + std::to_string(frame.size()) +
                                               " bytes does not have the length that it announces");
    }
    return decodeAfterLength(rest);
}

Result<RemotingCommand> RemotingCommand::decodeAfterLength(std::string_view frame) {
    std::string copy(frame);
    CommandView view;
    if (Status decoded = CommandView::decode(copy, view); !decoded) return decoded;
    return from(view);
}

Result<std::string> RemotingCommand::encode(SerializeType type) const {
    FieldList list;
    if (hasFields) list.markPresent();
    for (const auto& [key, value] : fields)
        list.add(key, value);
    CommandHead head;
    head.code = code;
    head.opaque = opaque;
    head.flag = flag;
    head.version = version;
    head.language = language;
    if (remark) head.remark = *remark;
    ByteWriter writer;
    if (Status encoded = encodeFrameHeader(writer, head, list, type, body.size()); !encoded) return encoded;
    std::string frame;
    frame.reserve(writer.size() + body.size());
    frame.append(writer.view()).append(body);
    return frame;
}

std::optional<std::string_view> RemotingCommand::find(std::string_view key) const noexcept {
    for (auto field = fields.rbegin(); field != fields.rend(); ++field) {
        if (field->first == key) return field->second;
    }
    return std::nullopt;
}

void RemotingCommand::set(std::string_view key, std::string_view value) {
    hasFields = true;
    for (auto& [name, old] : fields) {
        if (name == key) {
            old = value;
            return;
        }
    }
    fields.emplace_back(key, value);
}

void RemotingCommand::setFields(const FieldList& list) {
    hasFields = true;
    list.forEach([this](std::string_view key, std::string_view value) { set(key, value); });
}

}  // namespace patchbay::protocol

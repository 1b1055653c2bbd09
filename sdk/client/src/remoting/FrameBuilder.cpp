#include "remoting/FrameBuilder.h"

#include "patchbay/protocol/FrameCodec.h"
#include "remoting/Signature.h"

namespace patchbay::client {

namespace {

// A broker pushes a reset of offsets (222) in a form that Java consumers cannot read when the one who asks for it says C++.
constexpr auto kResetOffsets = static_cast<std::int32_t>(protocol::RequestCode::InvokeBrokerToResetOffset);

}  // namespace

Result<Frame> FrameBuilder::request(std::int32_t code, protocol::FieldList& fields, std::string_view body, bool oneway) {
    sign(fields, body, credentials_);
    protocol::CommandHead head;
    head.code = code;
    head.opaque = static_cast<std::int32_t>(nextOpaque_.fetch_add(1, std::memory_order_relaxed));
    head.flag = oneway ? protocol::kFlagOneway : 0;
    head.language = code == kResetOffsets ? protocol::Language::Java : language_;
    Frame frame{head.opaque, protocol::ByteWriter(512 + fields.textBytes() + body.size())};
    if (const auto status = protocol::encodeFrameHeader(frame.bytes, head, fields, protocol::SerializeType::Json, body.size()); !status) {
        return Status(status.code(), status.message() + "; send less in one request");
    }
    frame.bytes.append(body);
    return frame;
}

Result<Frame> FrameBuilder::request(const protocol::RemotingCommand& command, bool oneway) {
    protocol::FieldList fields;
    if (command.hasFields) fields.markPresent();
    for (const auto& [key, value] : command.fields) fields.add(key, value);
    return request(command.code, fields, command.body, oneway);
}

}  // namespace patchbay::client

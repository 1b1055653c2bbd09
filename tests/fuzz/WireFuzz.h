// What must hold for any header that a peer may send.
#pragma once

#include "patchbay/protocol/CommandView.h"
#include "patchbay/protocol/RemotingCommand.h"
#include "patchbay/protocol/headers/ConsumerOffset.h"
#include "patchbay/protocol/headers/NameServer.h"
#include "patchbay/protocol/headers/PullMessage.h"
#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/util/ByteWriter.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace patchbay::protocol::fuzz {

inline void require(bool condition) {
    if (!condition) std::abort();
}

inline bool inside(std::string_view part, std::string_view whole) {
    return part.data() == nullptr ||
           (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

inline void parseHeaders(const CommandView& view) {
    SendMessageRequest send;
    PullMessageRequest pull;
    UpdateConsumerOffsetRequest offset;
    FieldList list;
    if (SendMessageRequest::parse(view, send)) send.write(list);
    if (PullMessageRequest::parse(view, pull)) pull.write(list);
    if (UpdateConsumerOffsetRequest::parse(view, offset)) offset.write(list);
    if (const auto registration = RegisterBrokerRequest::parse(view)) registration->write(list);
    std::size_t fields = 0;
    list.forEach([&fields](std::string_view, std::string_view) { ++fields; });
    require(fields == list.count());
}

// What was understood is understood again after it was written.
inline void writeAgain(const CommandView& view) {
    const RemotingCommand command = RemotingCommand::from(view);
    const Result<std::string> frame = command.encode(view.serializeType);
    if (!frame) return;
    const Result<RemotingCommand> again = RemotingCommand::decode(*frame);
    require(again.has_value());
    require(again->code == command.code && again->opaque == command.opaque && again->flag == command.flag);
    require(again->version == command.version && again->language == command.language);
    require(again->remark == command.remark && again->fields == command.fields && again->body == command.body);
}

/// `frame`: the bytes after the length word.
inline void decodeFrame(std::string_view frame) {
    // Exactly as large as the frame, so that a sanitizer sees a step beyond it.
    const std::unique_ptr<char[]> bytes(new char[frame.size()]);
    if (!frame.empty()) std::memcpy(bytes.get(), frame.data(), frame.size());
    CommandView view;
    const Status decoded = CommandView::decode({bytes.get(), frame.size()}, view);
    if (!decoded) {
        require(decoded.code() == StatusCode::Corrupt && !decoded.message().empty());
        return;
    }
    require(inside(view.remark(), view.header()));
    for (std::size_t i = 0; i < view.fieldCount(); ++i) {
        require(inside(view.field(i).key, view.header()) && inside(view.field(i).value, view.header()));
    }
    require(view.body.empty() || view.body.data() + view.body.size() == bytes.get() + frame.size());
    parseHeaders(view);
    writeAgain(view);
}

/// The bytes as a header of the given type, with a body of four bytes behind it.
inline void decodeHeader(SerializeType type, std::string_view header) {
    if (header.size() > kHeaderBytesMax) return;
    ByteWriter writer;
    writer.i32(
        static_cast<std::int32_t>(static_cast<std::uint32_t>(type) << 24 | static_cast<std::uint32_t>(header.size())));
    writer.append(header);
    writer.append("body");
    decodeFrame(writer.view());
}

}  // namespace patchbay::protocol::fuzz

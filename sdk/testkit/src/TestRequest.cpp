#include "TestRequest.h"

#include "patchbay/protocol/FrameCodec.h"
#include "patchbay/protocol/PackedCommand.h"

#include <gtest/gtest.h>

namespace patchbay::testkit {

TestRequest::TestRequest(FakeContext& context, std::shared_ptr<CallResult::State> state, Ref<FakePeer> from,
                         const CallOptions& options, std::string frame)
    : context_(context), state_(std::move(state)), type_(options.serializeType), mayBeAbandoned_(options.mayBeAbandoned),
      frame_(std::make_unique<std::string>(std::move(frame))) {
    command = &view_;
    peer = std::move(from);
    received = context.clock().now();
}

Status TestRequest::decode() {
    static constexpr std::size_t kLengthWord = 4;
    return protocol::CommandView::decode(std::span(*frame_).subspan(kLengthWord), view_);
}

void TestRequest::countRound() {
    const std::lock_guard lock(state_->mutex);
    ++state_->rounds;
}

void TestRequest::finish(bool abandoned, std::optional<protocol::RemotingCommand> response) {
    const auto state = std::move(state_);
    delete this;
    const std::lock_guard lock(state->mutex);
    state->abandoned = abandoned;
    state->consumed = true;
    state->response = std::move(response);
    state->changed.notify_all();
}

void TestRequest::answer(plugin::Response& response) noexcept {
    if (view_.isOneway()) return finish(false, std::nullopt);
    protocol::CommandHead head;
    head.code = static_cast<std::int32_t>(response.code);
    head.opaque = view_.opaque;
    head.flag = protocol::kFlagResponse;
    if (!response.remark.empty()) head.remark = response.remark;
    if (response.hasFields) response.fields().markPresent();

    protocol::ByteWriter writer;
    const Status encoded = protocol::encodeFrameHeader(writer, head, response.fields(), type_, response.bodyBytes());
    std::string frame(writer.view());
    for (const auto piece : response.body) frame += piece;
    auto decoded = protocol::RemotingCommand::decode(frame);
    if (!encoded || !decoded) {
        ADD_FAILURE() << "the answer cannot be encoded: " << encoded.toString() << ", " << decoded.error().toString();
        return finish(true, std::nullopt);
    }
    finish(false, std::move(*decoded));
}

void TestRequest::abandon() noexcept {
    if (context_.isThrown(*this)) return;
    if (!mayBeAbandoned_) ADD_FAILURE() << "a request of code " << view_.code << " was destroyed without an answer";
    finish(true, std::nullopt);
}

void TestRequest::redispatch() noexcept {
    wantsExecutor_ = false;
    again = true;
    command = &view_;
    context_.enqueue(this);
}

void TestRequest::defer() noexcept {
    wantsExecutor_ = true;
    again = true;
    command = &view_;
    context_.enqueue(this);
}

plugin::RequestCore* TestRequest::detach() noexcept {
    // The old frame is freed, so that a sanitizer sees whoever still reads it.
    texts_ = protocol::PackedCommand(view_).unpack(view_);
    frame_.reset();
    command = nullptr;
    return this;
}

}  // namespace patchbay::testkit

#include "patchbay/client/Producer.h"

#include "message/Namespace.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "producer/ProducerImpl.h"
#include "producer/RequestCall.h"

#include <array>
#include <cstdint>
#include <utility>

namespace patchbay::client {

namespace {

ProducerCore::Target targetOf(const SendOptions& options) { return {options.orderKey, options.queue, options.selector}; }

template <typename T>
struct Waiting {
    std::shared_ptr<std::promise<Result<T>>> promise = std::make_shared<std::promise<Result<T>>>();
    [[nodiscard]] auto done() const {
        return [promise = promise](Result<T> result) { promise->set_value(std::move(result)); };
    }
    [[nodiscard]] Result<T> get() const { return promise->get_future().get(); }
};

// The broker's name inside a handle: base64url of "v1 <topic> <broker> <time> <id>".
std::string brokerIn(std::string_view handle) {
    std::string text;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : handle) {
        constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        const auto value = kAlphabet.find(c);
        if (value == std::string_view::npos) break;
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        if ((count += 6) < 8) continue;
        count -= 8;
        text += static_cast<char>(bits >> count & 0xFF);
    }
    std::array<std::string, 5> words;
    std::size_t word = 0;
    for (const char c : text) {
        if (c == ' ') ++word;
        else if (word < words.size()) words[word] += c;
    }
    return words[0] == "v1" && word == 4 ? words[2] : std::string();
}

}  // namespace

Producer::Producer(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Producer::Producer(Producer&&) noexcept = default;
Producer& Producer::operator=(Producer&& other) noexcept {
    if (this == &other) return *this;
    close();
    impl_ = std::move(other.impl_);
    return *this;
}
Producer::~Producer() { close(); }

Result<Producer> Producer::create(ProducerOptions options) {
    auto impl = Impl::make(options);
    if (!impl) return impl.error();
    return Producer(std::move(*impl));
}

void Producer::close() {
    if (impl_) impl_->close();
}

const std::string& Producer::clientId() const noexcept { return impl_->core().instance().clientId(); }

Result<SendReceipt> Producer::send(const Message& message, const SendOptions& options) {
    const Waiting<SendReceipt> waiting;
    impl_->send(message, options, waiting.done());
    return waiting.get();
}

Result<SendReceipt> Producer::send(std::span<const Message> batch, const SendOptions& options) {
    auto out = impl_->core().outfitter().batch(batch);
    if (!out) return out.error();
    const Waiting<SendReceipt> waiting;
    auto target = targetOf(options);
    impl_->keepOrder(batch.front().topic, target);
    impl_->core().send(std::move(*out), std::move(target), impl_->core().deadlineOf(options), waiting.done());
    return waiting.get();
}

void Producer::sendAsync(Message message, SendCallback done, const SendOptions& options) {
    // Not the handle: it may be moved while the message is under way.
    // It is called once, so what it has may move on.
    auto deliver = [impl = impl_, done = std::move(done)](Result<SendReceipt> result) mutable {
        impl->deliver([done = std::move(done), result = std::move(result)] { done(result); });
    };
    impl_->send(std::move(message), options, std::move(deliver));
}

std::future<Result<SendReceipt>> Producer::sendAsync(Message message, const SendOptions& options) {
    const Waiting<SendReceipt> waiting;
    auto future = waiting.promise->get_future();
    impl_->send(std::move(message), options, waiting.done());
    return future;
}

Status Producer::sendOneway(const Message& message, const SendOptions& options) {
    auto out = impl_->core().outfitter().one(message);
    if (!out) return out.error();
    auto target = targetOf(options);
    impl_->keepOrder(message.topic, target);
    return impl_->core().sendOneway(std::move(*out), std::move(target), impl_->core().deadlineOf(options));
}

Result<ReceivedMessage> Producer::request(const Message& message, std::chrono::milliseconds timeout, const SendOptions& options) {
    const Waiting<ReceivedMessage> waiting;
    auto target = targetOf(options);
    impl_->keepOrder(message.topic, target);
    RequestCall::start(impl_->shared(), message, std::move(target), timeout, waiting.done());
    return waiting.get();
}

void Producer::requestAsync(Message message, std::chrono::milliseconds timeout, std::function<void(const Result<ReceivedMessage>&)> done,
                            const SendOptions& options) {
    auto target = targetOf(options);
    impl_->keepOrder(message.topic, target);
    RequestCall::start(impl_->shared(), message, std::move(target), timeout, [impl = impl_, done = std::move(done)](Result<ReceivedMessage> result) {
        impl->deliver([done, result = std::move(result)] { done(result); });
    });
}

Result<SendReceipt> Producer::reply(const ReceivedMessage& request, std::string body) {
    const auto properties = replyProperties(request);
    if (!properties) return properties.error();
    Message message{.topic = protocol::replyTopic(request.property(protocol::kPropertyCluster)), .body = std::move(body)};
    auto out = impl_->core().outfitter().one(message, *properties);
    if (!out) return out.error();
    out->code = protocol::RequestCode::SendReplyMessageV2;
    const Waiting<SendReceipt> waiting;
    impl_->core().send(std::move(*out), {}, impl_->core().deadlineOf({}), waiting.done());
    return waiting.get();
}

Result<std::string> Producer::recall(std::string_view topic, std::string_view recallHandle) {
    const auto broker = brokerIn(recallHandle);
    if (broker.empty()) return Status(StatusCode::InvalidArgument, "that is no recall handle; take the one of the message's receipt");
    const auto fullTopic = withNamespace(impl_->core().options().client.nameSpace, topic);
    auto command = protocol::RemotingCommand::request(protocol::RequestCode::RecallMessage);
    command.set("producerGroup", impl_->core().group());
    command.set("topic", fullTopic);
    command.set("recallHandle", recallHandle);
    command.set("bname", broker);
    const auto deadline = impl_->core().deadlineOf({});
    const Waiting<std::string> waiting;
    auto& instance = impl_->core().instance();
    instance.runtime().loop().post([&, done = waiting.done()] {
        instance.routes().get(fullTopic, deadline, [&, done](const Result<RoutePtr>& route) {
            if (!route) return done(route.error());
            const auto* address = (*route)->masterOf(broker);
            if (address == nullptr) return done(Status(StatusCode::Unavailable, "broker '" + broker + "' has no master just now"));
            instance.asker().ask(*address, command, deadline, [done](const Result<protocol::RemotingCommand>& answer) {
                if (!answer) return done(answer.error());
                if (answer->code != 0) return done(statusOf(*answer, "recalling a message"));
                done(std::string(answer->find("msgId").value_or("")));
            });
        });
    });
    return waiting.get();
}

Result<std::vector<MessageQueue>> Producer::queues(std::string_view topic) {
    const auto fullTopic = withNamespace(impl_->core().options().client.nameSpace, topic);
    const Waiting<std::vector<MessageQueue>> waiting;
    auto& core = impl_->core();
    core.instance().runtime().loop().post([&, done = waiting.done()] {
        core.instance().routes().getToWrite(fullTopic, core.options().queuesOfNewTopics, core.deadlineOf({}), [done](const Result<RoutePtr>& route) {
            if (!route) return done(route.error());
            done((*route)->toWrite);
        });
    });
    return waiting.get();
}

}  // namespace patchbay::client

#include "patchbay/client/TransactionProducer.h"

#include "message/MessageData.h"
#include "patchbay/protocol/headers/Transaction.h"
#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/SysFlag.h"
#include "producer/ProducerImpl.h"

#include <charconv>
#include <future>
#include <utility>

namespace patchbay::client {

using protocol::EndTransactionRequest;
using protocol::RemotingCommand;

namespace {

std::int32_t flagOf(TransactionState state) noexcept {
    switch (state) {
        case TransactionState::Commit: return protocol::kSysFlagCommit;
        case TransactionState::Rollback: return protocol::kSysFlagRollback;
        case TransactionState::Unknown: break;
    }
    return protocol::kSysFlagNotTransactional;
}

std::int64_t numberIn(const RemotingCommand& command, std::string_view field) {
    const auto text = command.find(field).value_or("");
    std::int64_t number = -1;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

template <typename F>
TransactionState guarded(F&& ask) noexcept {
    try {
        return ask();
    } catch (...) {
        return TransactionState::Unknown;
    }
}

}  // namespace

class TransactionProducer::Impl : public std::enable_shared_from_this<TransactionProducer::Impl> {
public:
    Impl(TransactionListener& listener) : listener_(listener) {}

    Status open(const ProducerOptions& options) {
        auto producer = Producer::Impl::make(options, [this](Channel& channel, const RemotingCommand& request) { check(channel, request); });
        if (!producer) return producer.error();
        producer_ = std::move(*producer);
        return Status::ok();
    }
    void close() { producer_->close(); }
    Result<TransactionReceipt> send(const Message& message, const SendOptions& options);

private:
    void tell(const std::string& address, const EndTransactionRequest& header, std::string_view brokerName);
    void tellEnd(const SendReceipt& receipt, std::string_view topic, TransactionState state);
    void check(Channel& channel, const RemotingCommand& request);
    ProducerCore& core() { return producer_->core(); }

    TransactionListener& listener_;
    std::shared_ptr<Producer::Impl> producer_;
};

Result<TransactionReceipt> TransactionProducer::Impl::send(const Message& message, const SendOptions& options) {
    if (message.delayLevel || message.delay || message.deliverAt) {
        return Status(StatusCode::InvalidArgument, "a transactional message cannot be delayed");
    }
    std::string properties;
    protocol::appendProperty(properties, protocol::kPropertyTransactionPrepared, "true");
    protocol::appendProperty(properties, protocol::kPropertyProducerGroup, core().group());
    auto out = core().outfitter().one(message, properties);
    if (!out) return out.error();
    out->sysFlag |= protocol::kSysFlagPrepared;
    const auto topic = out->topic;
    std::promise<Result<SendReceipt>> promise;
    core().send(std::move(*out), {options.orderKey, options.queue, options.selector}, core().deadlineOf(options),
                [&promise](Result<SendReceipt> result) { promise.set_value(std::move(result)); });
    auto sent = promise.get_future().get();
    if (!sent) return sent.error();
    TransactionReceipt receipt{std::move(*sent), TransactionState::Rollback};
    // A half message that the broker could not secure is taken back rather than relied on.
    if (receipt.sent.status == SendStatus::Ok) receipt.state = guarded([&] { return listener_.execute(message, receipt.sent); });
    tellEnd(receipt.sent, topic, receipt.state);
    return receipt;
}

void TransactionProducer::Impl::tell(const std::string& address, const EndTransactionRequest& header, std::string_view brokerName) {
    auto command = RemotingCommand::request(protocol::RequestCode::EndTransaction);
    command.setHeader(header);
    command.set("bname", brokerName);
    core().instance().asker().tell(address, command);
}

void TransactionProducer::Impl::tellEnd(const SendReceipt& receipt, std::string_view topic, TransactionState state) {
    const auto place = protocol::MessageId::parse(receipt.offsetMessageId.empty() ? receipt.messageId : receipt.offsetMessageId);
    if (!place) return core().instance().log().warn("the end of a transaction cannot be told: " + place.error().message());
    core().instance().runtime().loop().post([self = shared_from_this(), receipt, topic = std::string(topic), state, place = place->physicalOffset] {
        const auto address = self->core().instance().routes().addressOf(receipt.queue.brokerName, protocol::kMasterId, true);
        if (address.empty()) return;
        EndTransactionRequest header;
        header.topic = topic;
        header.producerGroup = self->core().group();
        header.tranStateTableOffset = receipt.queueOffset;
        header.commitLogOffset = place;
        header.commitOrRollback = flagOf(state);
        header.msgId = receipt.messageId;
        header.transactionId = receipt.transactionId;
        self->tell(address, header, receipt.queue.brokerName);
    });
}

// The question came over the connection on which the answer has to go.
void TransactionProducer::Impl::check(Channel& channel, const RemotingCommand& request) {
    auto messages = decodeMessages(request.body, request.find("bname").value_or(""));
    if (!messages || messages->empty()) return core().instance().log().warn("a broker asked about a transaction whose message cannot be read");
    producer_->deliver([self = shared_from_this(), address = channel.address(), request, message = std::move(messages->front())] {
        const auto state = guarded([&] { return self->listener_.check(message); });
        self->core().instance().runtime().loop().post([self, address, request, message, state] {
            const auto id = message.id();
            EndTransactionRequest header;
            header.topic = request.find("topic").value_or("");
            header.producerGroup = self->core().group();
            header.tranStateTableOffset = numberIn(request, "tranStateTableOffset");
            header.commitLogOffset = numberIn(request, "commitLogOffset");
            header.commitOrRollback = flagOf(state);
            header.fromTransactionCheck = true;
            header.msgId = id.empty() ? request.find("msgId").value_or("") : id;
            header.transactionId = request.find("transactionId").value_or("");
            self->tell(address, header, request.find("bname").value_or(""));
        });
    });
}

TransactionProducer::TransactionProducer(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
TransactionProducer::TransactionProducer(TransactionProducer&&) noexcept = default;
TransactionProducer& TransactionProducer::operator=(TransactionProducer&& other) noexcept {
    if (this == &other) return *this;
    close();
    impl_ = std::move(other.impl_);
    return *this;
}
TransactionProducer::~TransactionProducer() { close(); }

Result<TransactionProducer> TransactionProducer::create(ProducerOptions options, TransactionListener& listener) {
    auto impl = std::make_shared<Impl>(listener);
    if (auto status = impl->open(options); !status) return status;
    return TransactionProducer(std::move(impl));
}

Result<TransactionReceipt> TransactionProducer::send(const Message& message, const SendOptions& options) { return impl_->send(message, options); }
void TransactionProducer::close() {
    if (impl_) impl_->close();
}

}  // namespace patchbay::client

// The till: takes the money of each order in a transaction, so that the fleet hears of a payment if and only if it is in the till's book.
// Every seventh customer has no money.
#include "Vending.h"
#include "patchbay/client/TransactionProducer.h"

using namespace patchbay::client;

namespace {

class Till final : public TransactionListener {
public:
    explicit Till(vending::Book& book) : book_(book) {}
    TransactionState execute(const Message& message, const SendReceipt&) override {
        const auto number = std::stoi(message.body.substr(message.body.find('-') + 1));
        if (number % 7 == 6) return TransactionState::Rollback;
        // Killed behind this line, the broker asks check().
        return book_.enter(message.body) ? TransactionState::Commit : TransactionState::Unknown;
    }
    TransactionState check(const ReceivedMessage& message) override {
        return book_.has(message.body()) ? TransactionState::Commit : TransactionState::Rollback;
    }

private:
    vending::Book& book_;
};

}  // namespace

int main(int argc, char** argv) {
    const vending::Service service(argc, argv);
    vending::Evening::prepare();
    vending::Book book(service.book("paid"));
    Till till(book);
    ProducerOptions options;
    options.client = service.client;
    options.group = "vending-till";
    auto producer = TransactionProducer::create(options, till);
    vending::mustBe(producer.error());
    auto consumer = PushConsumer::create(service.consumer("payments"));
    vending::mustBe(consumer.error());
    vending::mustBe(consumer->subscribe(vending::kOrders));
    vending::mustBe(consumer->consume([&](auto messages, ConsumeContext& context) {
        context.delayLevel = 1;
        for (const auto& message : messages) {
            // An order that comes again after its payment: the fleet hears of it once more, and everybody's book counts it once.
            if (!producer->send({.topic = vending::kPaid, .body = std::string(message.body()), .keys = {std::string(message.body())}})) {
                return ConsumeResult::Later;
            }
        }
        return ConsumeResult::Success;
    }));
    vending::Evening::wait();
    return 0;
}

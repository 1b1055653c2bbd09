// Four orders: one is paid, one is not, one nobody knows about until the broker asks, one is paid again.
//   example_transaction [name servers] [topic]
#include "patchbay/client/TransactionProducer.h"

#include <iostream>
#include <string>

using namespace patchbay::client;

namespace {

// Stands for a database: whether the local transaction of an order has been committed.
class Shop final : public TransactionListener {
public:
    TransactionState execute(const Message& message, const SendReceipt&) override {
        if (message.body == "unpaid order") return TransactionState::Rollback;
        if (message.body == "unclear order") return TransactionState::Unknown;
        return TransactionState::Commit;
    }
    TransactionState check(const ReceivedMessage& message) override {
        std::cout << "the broker asks about: " << message.body() << '\n';
        return TransactionState::Commit;
    }
};

}  // namespace

int main(int argc, char** argv) {
    Shop shop;
    ProducerOptions options;
    options.client.nameServers = argc > 1 ? argv[1] : "127.0.0.1:9876";
    options.group = "example-transaction";
    auto producer = TransactionProducer::create(options, shop);
    if (!producer) {
        std::cerr << producer.error().toString() << '\n';
        return 1;
    }
    for (const std::string order : {"paid order", "unpaid order", "unclear order", "second paid order"}) {
        const auto receipt = producer->send({.topic = argc > 2 ? argv[2] : "Paid", .body = order});
        if (!receipt) {
            std::cerr << receipt.error().toString() << '\n';
            return 1;
        }
        const auto* state = receipt->state == TransactionState::Commit ? "committed" : receipt->state == TransactionState::Rollback ? "rolled back" : "unknown";
        std::cout << order << ": " << state << '\n';
    }
    return 0;
}

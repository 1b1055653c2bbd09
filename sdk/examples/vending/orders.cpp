// Customers: each order is sent and waited for, asked after again in some seconds, and each of their steps is noted without waiting.
//   orders NAME-SERVERS FOLDER COUNT
#include "Vending.h"
#include "patchbay/client/Producer.h"

int main(int argc, char** argv) {
    const vending::Service service(argc, argv);
    vending::Book book(service.book("orders"));
    patchbay::client::ProducerOptions options;
    options.client = service.client;
    options.group = "vending-orders";
    options.retries = 20;
    options.sendTimeout = std::chrono::seconds(20);
    auto producer = patchbay::client::Producer::create(options);
    vending::mustBe(producer.error());
    const int count = service.more.empty() ? 100 : std::stoi(service.more);
    for (int number = 0; number < count; ++number) {
        const auto order = "order-" + std::to_string(number);
        if (book.has(order)) continue;
        static_cast<void>(producer->sendOneway({.topic = vending::kClicks, .body = order + " looked at coffee"}));
        static_cast<void>(producer->sendOneway({.topic = vending::kClicks, .body = order + " took it"}));
        vending::mustBe(producer->send({.topic = vending::kOrders, .body = order, .keys = {order}}).error());
        vending::mustBe(producer->send({.topic = vending::kTimeouts, .body = order, .keys = {order}, .delayLevel = 2}).error());
        book.enter(order);
    }
    return 0;
}

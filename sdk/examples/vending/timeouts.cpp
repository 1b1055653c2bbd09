// Comes back to each order after a while: one that has not been paid by then is cancelled.
#include "Vending.h"

int main(int argc, char** argv) {
    const vending::Service service(argc, argv);
    vending::Evening::prepare();
    vending::Book book(service.book("cancelled"));
    auto consumer = patchbay::client::PushConsumer::create(service.consumer("timeouts"));
    vending::mustBe(consumer.error());
    vending::mustBe(consumer->subscribe(vending::kTimeouts));
    vending::mustBe(consumer->consume([&](auto messages, auto&) {
        for (const auto& message : messages) {
            const auto number = std::stoi(std::string(message.body().substr(message.body().find('-') + 1)));
            // Every seventh has no money; all others are served, if late.
            if (number % 7 == 6 && !book.enter(message.body())) return patchbay::client::ConsumeResult::Later;
        }
        return patchbay::client::ConsumeResult::Success;
    }));
    vending::Evening::wait();
    return 0;
}

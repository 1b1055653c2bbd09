// The bookkeeping of the head office, which is down for every third payment. What it does not take goes to the dead letters.
#include "Vending.h"

int main(int argc, char** argv) {
    const vending::Service service(argc, argv);
    vending::Evening::prepare();
    vending::Book book(service.book("erp"));
    auto options = service.consumer("erp");
    options.maxReconsumeTimes = 0;
    auto consumer = patchbay::client::PushConsumer::create(options);
    vending::mustBe(consumer.error());
    vending::mustBe(consumer->subscribe(vending::kPaid));
    vending::mustBe(consumer->consume([&](auto messages, auto&) {
        for (const auto& message : messages) {
            const auto number = std::stoi(std::string(message.body().substr(message.body().find('-') + 1)));
            if (number % 3 == 0 || !book.enter(message.body())) return patchbay::client::ConsumeResult::Later;
        }
        return patchbay::client::ConsumeResult::Success;
    }));
    vending::Evening::wait();
    return 0;
}

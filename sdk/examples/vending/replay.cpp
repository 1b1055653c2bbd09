// In the evening the head office is up again: the dead letters are read and entered. Ends when there are none for five seconds.
#include "Vending.h"
#include "patchbay/client/PullConsumer.h"

int main(int argc, char** argv) {
    const vending::Service service(argc, argv);
    vending::Book book(service.book("erp"));
    patchbay::client::PullOptions options;
    options.consumer = service.consumer("replay");
    options.autoCommit = false;
    auto consumer = patchbay::client::PullConsumer::create(options);
    vending::mustBe(consumer.error());
    vending::mustBe(consumer->subscribe("%DLQ%vending-erp"));
    int count = 0;
    for (;;) {
        const auto messages = consumer->poll(std::chrono::seconds(5));
        vending::mustBe(messages.error());
        if (messages->empty()) break;
        for (const auto& message : *messages) {
            if (!book.enter(message.body())) return 1;
            ++count;
        }
        vending::mustBe(consumer->commit());
    }
    std::cout << "replayed " << count << " dead letters\n";
    return 0;
}

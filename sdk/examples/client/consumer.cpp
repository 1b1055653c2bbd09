// Prints what comes until a line is entered. A message that begins with "bad" fails twice before it is taken.
//   example_consumer [name servers] [topic] [tags]
#include "patchbay/client/PushConsumer.h"

#include <iostream>
#include <mutex>
#include <string>

using namespace patchbay::client;

int main(int argc, char** argv) {
    ConsumerOptions options;
    options.client.nameServers = argc > 1 ? argv[1] : "127.0.0.1:9876";
    options.group = "example-consumer";
    options.from = ConsumeFrom::FirstOffset;
    auto consumer = PushConsumer::create(options);
    if (!consumer) {
        std::cerr << consumer.error().toString() << '\n';
        return 1;
    }
    const auto subscribed = consumer->subscribe(argc > 2 ? argv[2] : "Example", Filter::tags(argc > 3 ? argv[3] : "*"));
    std::mutex printing;  // listeners run on several threads
    const auto started = consumer->consume([&](std::span<const ReceivedMessage> messages, ConsumeContext& context) {
        const std::lock_guard lock(printing);
        for (const auto& message : messages) {
            std::cout << message.body() << "  (queue " << message.queueId() << ", try " << message.reconsumeTimes() + 1 << ")\n";
            if (message.body().starts_with("bad") && message.reconsumeTimes() < 2) {
                context.delayLevel = 1;
                return ConsumeResult::Later;
            }
        }
        return ConsumeResult::Success;
    });
    if (!subscribed || !started) {
        std::cerr << (subscribed ? started : subscribed).toString() << '\n';
        return 1;
    }
    std::cin.get();
    return 0;
}

// Sends what comes on one topic to another, with its body, tags, keys and properties, until a line is entered. A message is taken when its
// copy is stored, so after a failure it may be relayed twice.
//   example_relay [name servers] [from] [to]
#include "patchbay/client/Producer.h"
#include "patchbay/client/PushConsumer.h"

#include <iostream>
#include <sstream>
#include <string>

using namespace patchbay::client;

int main(int argc, char** argv) {
    const std::string nameServers = argc > 1 ? argv[1] : "127.0.0.1:9876";
    const std::string from = argc > 2 ? argv[2] : "Example";
    const std::string to = argc > 3 ? argv[3] : "ExampleCopy";
    auto producer = Producer::create({.client = {.nameServers = nameServers}, .group = "example-relay"});
    ConsumerOptions options;
    options.client.nameServers = nameServers;
    options.group = "example-relay";
    options.from = ConsumeFrom::FirstOffset;
    auto consumer = PushConsumer::create(options);  // ends first: its listener uses the producer
    if (!producer || !consumer) {
        std::cerr << (producer ? consumer.error() : producer.error()).toString() << '\n';
        return 1;
    }
    auto status = consumer->subscribe(from);
    if (status) status = consumer->consume([&](auto messages, auto&) {
        for (const ReceivedMessage& message : messages) {
            Message copy{.topic = to, .body = std::string(message.body()), .tags = std::string(message.tags())};
            std::istringstream keys{std::string(message.keys())};
            for (std::string key; keys >> key;) copy.keys.push_back(key);
            copy.properties = message.userProperties();
            copy.flag = message.flag();
            if (const auto receipt = producer->send(copy); !receipt) {
                std::cerr << receipt.error().toString() << '\n';
                return ConsumeResult::Later;
            }
        }
        return ConsumeResult::Success;
    });
    if (!status) {
        std::cerr << status.toString() << '\n';
        return 1;
    }
    std::cin.get();
    return 0;
}

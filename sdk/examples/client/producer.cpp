// Sends a hundred messages, one after the other, then a thousand without waiting for each.
//   example_producer [name servers] [topic]
#include "patchbay/client/Producer.h"

#include <atomic>
#include <iostream>
#include <string>

using namespace patchbay::client;

int main(int argc, char** argv) {
    ProducerOptions options;
    options.client.nameServers = argc > 1 ? argv[1] : "127.0.0.1:9876";
    options.group = "example-producer";
    const std::string topic = argc > 2 ? argv[2] : "Example";
    auto producer = Producer::create(options);
    if (!producer) {
        std::cerr << producer.error().toString() << '\n';
        return 1;
    }
    for (int i = 0; i < 100; ++i) {
        const auto receipt = producer->send({.topic = topic, .body = "message " + std::to_string(i), .tags = i % 2 == 0 ? "even" : "odd"});
        if (!receipt) {
            std::cerr << receipt.error().toString() << '\n';
            return 1;
        }
    }
    // Each callback runs once, also for failures; the producer's end waits for all of them.
    std::atomic<int> failed{0};
    for (int i = 0; i < 1000; ++i) {
        producer->sendAsync({.topic = topic, .body = "quick " + std::to_string(i)}, [&failed](const auto& receipt) { failed += receipt ? 0 : 1; });
    }
    producer->close();
    std::cout << "100 messages one by one, 1000 at once, " << failed << " of them failed\n";
    return failed == 0 ? 0 : 1;
}

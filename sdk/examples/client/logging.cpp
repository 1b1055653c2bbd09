// Sends many small messages, which share requests; the client logs where the application does, here to one of Poco's loggers.
//   example_logging [name servers] [topic]
#include "patchbay/client/LogSinks.h"
#include "patchbay/client/Producer.h"

#include <Poco/Logger.h>
#include <atomic>
#include <iostream>
#include <string>

using namespace patchbay::client;

int main(int argc, char** argv) {
    ProducerOptions options;
    options.client.nameServers = argc > 1 ? argv[1] : "127.0.0.1:9876";
    options.client.log = logTo(Poco::Logger::get("broker"));
    options.group = "example-logging";
    options.gatherTime = std::chrono::milliseconds(5);
    auto producer = Producer::create(options);
    if (!producer) return std::cerr << producer.error().toString() << '\n', 1;
    const std::string topic = argc > 2 ? argv[2] : "Example";
    std::atomic<int> stored{0};
    for (int i = 0; i < 1000; ++i) {
        producer->sendAsync({.topic = topic, .body = "reading " + std::to_string(i)}, [&](const auto& receipt) { stored += receipt ? 1 : 0; });
    }
    producer->close();
    std::cout << stored << " of 1000 stored\n";
    return stored == 1000 ? 0 : 1;
}

#include "patchbay/client/PushConsumer.h"
#include <iostream>

int main() {
    using namespace patchbay::client;
    auto consumer = PushConsumer::create({.client = {.nameServers = "127.0.0.1:9876"}, .group = "kitchen"});
    if (!consumer) return std::cerr << consumer.error().toString() << '\n', 1;
    auto status = consumer->subscribe("Orders");
    if (status) status = consumer->consume([](auto messages, auto&) {
        for (const auto& message : messages) std::cout << message.body() << '\n';
        return ConsumeResult::Success;
    });
    if (!status) return std::cerr << status.toString() << '\n', 1;
    std::cin.get();
}

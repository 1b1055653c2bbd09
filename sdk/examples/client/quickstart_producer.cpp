#include "patchbay/client/Producer.h"
#include <iostream>

int main() {
    auto producer = patchbay::client::Producer::create({.client = {.nameServers = "127.0.0.1:9876"}, .group = "shop"});
    if (!producer) return std::cerr << producer.error().toString() << '\n', 1;
    const auto receipt = producer->send({.topic = "Orders", .body = "one coffee"});
    std::cout << (receipt ? "sent " + receipt->messageId : receipt.error().toString()) << '\n';
    return receipt ? 0 : 1;
}

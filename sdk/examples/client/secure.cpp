// Sends one message over TLS.
//   example_secure [name servers] [topic] [file of the authorities to trust, or "any"]
#include "patchbay/client/Producer.h"
#include "patchbay/client/Tls.h"

#include <iostream>
#include <string>

using namespace patchbay::client;

int main(int argc, char** argv) {
    const std::string trusted = argc > 3 ? argv[3] : "";
    const auto security = trusted == "any" ? tls({.verify = false}) : tls({.caFile = trusted});
    if (!security) return std::cerr << security.error().toString() << '\n', 1;
    ProducerOptions options;
    options.client.nameServers = argc > 1 ? argv[1] : "127.0.0.1:9876";
    options.client.security = *security;
    options.group = "example-secure";
    auto producer = Producer::create(options);
    if (!producer) return std::cerr << producer.error().toString() << '\n', 1;
    const auto receipt = producer->send({.topic = argc > 2 ? argv[2] : "Example", .body = "for you only"});
    std::cout << (receipt ? "sent " + receipt->messageId : receipt.error().toString()) << '\n';
    return receipt ? 0 : 1;
}

// A question over a topic, and its answer.
//   example_request_reply [name servers] [topic]
#include "patchbay/client/Producer.h"
#include "patchbay/client/PushConsumer.h"

#include <iostream>
#include <string>

using namespace patchbay::client;

int main(int argc, char** argv) {
    const std::string servers = argc > 1 ? argv[1] : "127.0.0.1:9876";
    const std::string topic = argc > 2 ? argv[2] : "Questions";
    auto replier = Producer::create({.client = {.nameServers = servers}, .group = "example-replier"});
    auto consumer = PushConsumer::create({.client = {.nameServers = servers}, .group = "example-answers"});
    auto asker = Producer::create({.client = {.nameServers = servers}, .group = "example-asker"});
    if (!replier || !consumer || !asker) return 1;
    const auto subscribed = consumer->subscribe(topic);
    const auto started = consumer->consume([&](std::span<const ReceivedMessage> messages, ConsumeContext&) {
        for (const auto& message : messages) {
            if (const auto sent = replier->reply(message, "you said: " + std::string(message.body())); !sent) std::cerr << sent.error().toString() << '\n';
        }
        return ConsumeResult::Success;
    });
    if (!subscribed || !started) return 1;
    const auto reply = asker->request({.topic = topic, .body = "hello"}, std::chrono::seconds(10));
    std::cout << (reply ? std::string(reply->body()) : reply.error().toString()) << '\n';
    return reply ? 0 : 1;
}

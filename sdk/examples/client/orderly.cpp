// Ten accounts with ten bookings each: the bookings of an account arrive in order, because they have its name as their key.
//   example_orderly [name servers] [topic]
#include "patchbay/client/Producer.h"
#include "patchbay/client/PushConsumer.h"

#include <condition_variable>
#include <iostream>
#include <map>
#include <mutex>
#include <string>

using namespace patchbay::client;

int main(int argc, char** argv) {
    const std::string servers = argc > 1 ? argv[1] : "127.0.0.1:9876";
    const std::string topic = argc > 2 ? argv[2] : "Bookings";
    auto producer = Producer::create({.client = {.nameServers = servers}, .group = "example-orderly-producer"});
    auto consumer = PushConsumer::create({.client = {.nameServers = servers}, .group = "example-orderly", .from = ConsumeFrom::FirstOffset});
    if (!producer || !consumer) return 1;
    for (int number = 0; number < 100; ++number) {
        const auto account = "account " + std::to_string(number % 10);
        const auto receipt = producer->send({.topic = topic, .body = std::to_string(number / 10), .keys = {account.substr(8)}}, {.orderKey = account});
        if (!receipt) {
            std::cerr << receipt.error().toString() << '\n';
            return 1;
        }
    }
    std::mutex mutex;
    std::condition_variable all;
    std::map<std::string, int> next;
    int count = 0;
    bool inOrder = true;
    const auto subscribed = consumer->subscribe(topic);
    const auto started = consumer->consumeOrderly([&](std::span<const ReceivedMessage> messages, OrderlyContext&) {
        const std::lock_guard lock(mutex);
        for (const auto& message : messages) {
            auto& expected = next[std::string(message.keys())];
            inOrder = inOrder && message.body() == std::to_string(expected % 10);
            ++expected;
            if (++count >= 100) all.notify_one();
        }
        return OrderlyResult::Success;
    });
    if (!subscribed || !started) return 1;
    std::unique_lock lock(mutex);
    const bool complete = all.wait_for(lock, std::chrono::seconds(30), [&] { return count >= 100; });
    std::cout << count << " bookings, " << (inOrder ? "all in order\n" : "NOT in order\n");
    return complete && inOrder ? 0 : 1;
}

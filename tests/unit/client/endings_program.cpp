// endings_program return|exit|callback: ends a process whose clients are still at work: main returns, or a listener or a callback calls exit(). Exits with 0.
#include "ScriptedBroker.h"

#include "patchbay/client/Producer.h"
#include "patchbay/client/PushConsumer.h"

#include <cstdlib>
#include <future>
#include <optional>
#include <string>
#include <string_view>

namespace {

// In this order: the broker is the last one that is destroyed.
patchbay::test::ScriptedBroker& broker() {
    static patchbay::test::ScriptedBroker one;
    return one;
}
std::optional<patchbay::client::Producer> producer;
std::optional<patchbay::client::PushConsumer> consumer;
// Never satisfied, never destroyed: somebody waits for it while the process ends.
std::promise<void>& never() {
    static auto* const one = new std::promise<void>;
    return *one;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace patchbay::client;
    const std::string_view mode = argc > 1 ? argv[1] : "";
    ClientOptions options;
    options.nameServers = broker().server().address();
    auto sending = Producer::create({.client = options, .group = "g"});
    ConsumerOptions reading;
    reading.client = options;
    reading.group = "g";
    reading.from = ConsumeFrom::FirstOffset;
    auto made = PushConsumer::create(reading);
    if (!sending || !made || !made->subscribe("T")) return 1;
    producer.emplace(std::move(*sending));
    consumer.emplace(std::move(*made));
    const auto started = consumer->consume([mode](auto, auto&) {
        if (mode == "exit") std::exit(0);
        return ConsumeResult::Success;
    });
    if (!started || !producer->send({.topic = "T", .body = "x"})) return 1;
    if (mode == "callback") producer->sendAsync({.topic = "T", .body = "x"}, [](const auto&) { std::exit(0); });
    if (mode != "return") never().get_future().wait();
    // Polls are open and a message is under way.
    producer->sendAsync({.topic = "T", .body = "x"}, [](const auto&) {});
    return 0;
}

// client_load MODE NAMESRV TOPIC COUNT [SINCE_NS]: what sdk/client does and costs in one process; prints one line of JSON. ClientLoad.java does the same
// with Apache's client. Called by client-figures.
//   sync    COUNT messages of 1 KB, one at a time      push    COUNT messages consumed, from the first one on
//   async   COUNT of them without waiting for each     first   one message; ms since SINCE_NS (CLOCK_REALTIME)
//   idle    memory of a producer, COUNT seconds after its only message
// sync and async begin with a fifth of COUNT that is not measured, as does push.
#include "patchbay/client/Producer.h"
#include "patchbay/client/PushConsumer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace patchbay::client;

namespace {

double seconds(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

[[noreturn]] void giveUp(const std::string& why) {
    std::fprintf(stderr, "client_load: %s\n", why.c_str());
    std::exit(1);
}

/// Wall and CPU time from here on.
struct Meter {
    double wall = seconds(CLOCK_MONOTONIC);
    double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    void print(long count, const char* more = "") const {
        const auto took = seconds(CLOCK_MONOTONIC) - wall;
        std::printf("{\"msgs_per_s\":%.0f,\"cpu_s_per_million\":%.3f%s}\n", static_cast<double>(count) / took,
                    (seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu) / static_cast<double>(count) * 1e6, more);
    }
};

Producer producerFor(const std::string& nameServers) {
    ProducerOptions options;
    options.client.nameServers = nameServers;
    options.group = "client-load";
    auto made = Producer::create(options);
    if (!made) giveUp(made.error().toString());
    return std::move(*made);
}

void sendOne(Producer& producer, const Message& message) {
    if (const auto receipt = producer.send(message); !receipt) giveUp(receipt.error().toString());
}

void sync(const std::string& nameServers, const Message& message, long count) {
    auto producer = producerFor(nameServers);
    for (long i = 0; i < count / 5; ++i) sendOne(producer, message);
    std::vector<double> times;
    times.reserve(static_cast<std::size_t>(count));
    const Meter meter;
    for (long i = 0; i < count; ++i) {
        const auto begun = seconds(CLOCK_MONOTONIC);
        sendOne(producer, message);
        times.push_back((seconds(CLOCK_MONOTONIC) - begun) * 1e6);
    }
    std::sort(times.begin(), times.end());
    char more[80];
    std::snprintf(more, sizeof more, ",\"p50_us\":%.1f,\"p99_us\":%.1f", times[times.size() / 2], times[times.size() * 99 / 100]);
    meter.print(count, more);
}

void async(const std::string& nameServers, const Message& message, long count) {
    auto producer = producerFor(nameServers);
    const auto run = [&](long messages) {
        std::atomic<long> left{messages};
        std::promise<void> all;
        for (long i = 0; i < messages; ++i) {
            producer.sendAsync(message, [&](const auto& receipt) {
                if (!receipt) giveUp(receipt.error().toString());
                if (--left == 0) all.set_value();
            });
        }
        all.get_future().wait();
    };
    run(count / 5);
    const Meter meter;
    run(count);
    meter.print(count);
}

void push(const std::string& nameServers, const std::string& topic, long count) {
    std::atomic<long> seen{0};
    std::promise<void> warm;
    std::promise<void> all;
    ConsumerOptions options;
    options.client.nameServers = nameServers;
    options.group = "client-load-" + topic;
    options.from = ConsumeFrom::FirstOffset;
    auto consumer = PushConsumer::create(options);
    if (!consumer) giveUp(consumer.error().toString());
    auto status = consumer->subscribe(topic);
    if (status) {
        status = consumer->consume([&](auto messages, auto&) {
            for (std::size_t i = 0; i < messages.size(); ++i) {
                const auto now = ++seen;
                if (now == count / 5) warm.set_value();
                if (now == count) all.set_value();
            }
            return ConsumeResult::Success;
        });
    }
    if (!status) giveUp(status.toString());
    warm.get_future().wait();
    const Meter meter;
    const auto before = seen.load();
    all.get_future().wait();
    meter.print(count - before);
}

long kilobytes(const char* name) {
    std::ifstream file("/proc/self/status");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(name)) return std::atol(line.c_str() + line.find(':') + 1);
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 5) giveUp("usage: client_load sync|async|push|first|idle NAMESRV TOPIC COUNT [SINCE_NS]");
    const std::string_view mode = argv[1];
    const std::string nameServers = argv[2];
    const Message message{.topic = argv[3], .body = std::string(1024, 'x')};
    const long count = std::atol(argv[4]);
    if (mode == "sync") sync(nameServers, message, count);
    else if (mode == "async") async(nameServers, message, count);
    else if (mode == "push") push(nameServers, message.topic, count);
    else if (mode == "first") {
        auto producer = producerFor(nameServers);
        sendOne(producer, message);
        std::printf("{\"first_ms\":%.1f}\n", (seconds(CLOCK_REALTIME) - std::atof(argc > 5 ? argv[5] : "0") * 1e-9) * 1e3);
    } else if (mode == "idle") {
        auto producer = producerFor(nameServers);
        sendOne(producer, message);
        const Meter meter;
        std::this_thread::sleep_for(std::chrono::seconds(count));
        std::printf("{\"rss_kb\":%ld,\"anon_kb\":%ld,\"cpu_ms\":%.1f}\n", kilobytes("VmRSS"), kilobytes("RssAnon"),
                    (seconds(CLOCK_PROCESS_CPUTIME_ID) - meter.cpu) * 1e3);
    } else giveUp("there is no mode " + std::string(mode));
    return 0;
}

// The command "bench send": a small load generator.
#include "commands/Sender.h"
#include "commands/Session.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace patchbay::patchctl {

namespace {

constexpr Argument kTopic[] = {{"TOPIC", "topic that exists; it will hold the messages afterwards"}};
constexpr Option kSend[] = {
    {.name = "threads", .kind = Kind::Number, .value = "N", .doc = "senders, each of which waits for its answer", .fallback = "8", .letter = 'w', .min = 1, .max = 256},
    {.name = "size", .kind = Kind::Text, .value = "BYTES", .doc = "size of a body", .fallback = "1024", .letter = 's'},
    {.name = "seconds", .kind = Kind::Number, .value = "N", .doc = "how long", .fallback = "10", .min = 1, .max = 86'400},
    {.name = "messages", .kind = Kind::Number, .value = "N", .doc = "ends after so many; 0 goes by time alone", .fallback = "0", .min = 0},
};

/// What all senders add to.
struct Run {
    std::atomic<std::int64_t> sent{0};
    std::atomic<std::int64_t> failed{0};
    std::atomic<bool> stop{false};
    std::mutex mutex;
    std::vector<std::int64_t> timesUs;   // guarded by mutex
    Status firstFailure;                 // guarded by mutex
};

void sendUntilStopped(Run& run, Sender sender, const Clock& clock, const Outgoing& message, std::int64_t limit) {
    std::vector<std::int64_t> times;
    while (!run.stop.load(std::memory_order_relaxed)) {
        if (limit > 0 && run.sent.fetch_add(1) >= limit) {
            run.sent.fetch_sub(1);
            break;
        }
        const auto begin = clock.now();
        const auto sent = sender.send(message);
        times.push_back(std::chrono::duration_cast<std::chrono::microseconds>(clock.now() - begin).count());
        if (limit == 0) run.sent.fetch_add(1, std::memory_order_relaxed);
        if (sent) continue;
        run.failed.fetch_add(1);
        const std::lock_guard lock(run.mutex);
        if (run.firstFailure) run.firstFailure = sent.error();
    }
    const std::lock_guard lock(run.mutex);
    run.timesUs.insert(run.timesUs.end(), times.begin(), times.end());
}

std::int64_t quantile(const std::vector<std::int64_t>& sorted, double share) {
    if (sorted.empty()) return 0;
    return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(static_cast<double>(sorted.size()) * share))];
}

Exit report(Session& session, Run& run, std::chrono::nanoseconds over, std::int64_t size) {
    std::ranges::sort(run.timesUs);
    const double seconds = std::chrono::duration<double>(over).count();
    const std::int64_t stored = run.sent.load() - run.failed.load();
    Record record;
    record.add("messages", stored);
    record.add("failed", run.failed.load());
    record.add("seconds", seconds);
    record.add("messagesPerSecond", seconds > 0 ? static_cast<double>(stored) / seconds : 0.0);
    record.add("bytesPerSecond", static_cast<std::int64_t>(seconds > 0 ? static_cast<double>(stored * size) / seconds : 0.0), Show::Bytes);
    record.add("p50Us", quantile(run.timesUs, 0.5));
    record.add("p99Us", quantile(run.timesUs, 0.99));
    record.add("p999Us", quantile(run.timesUs, 0.999));
    record.add("maxUs", run.timesUs.empty() ? std::int64_t{0} : run.timesUs.back());
    session.out().print(record);
    if (run.failed.load() == 0) return Exit::Done;
    session.out().say("the first failure: " + run.firstFailure.message());
    return Exit::Partly;
}

Exit send(Session& session, const Arguments& arguments) {
    const std::int64_t size = std::atoll(arguments.text("size").c_str());
    if (size < 1 || size > 64 << 20) return session.misused({StatusCode::InvalidArgument, "--size: from 1 to 67108864 bytes"});
    std::vector<Sender> senders;
    for (std::int64_t i = 0; i < arguments.number("threads"); ++i) {
        auto sender = Sender::open(session, arguments.at(0));
        if (!sender) return session.fail(sender.error());
        senders.push_back(std::move(*sender));
    }
    Outgoing message;
    message.body.assign(static_cast<std::size_t>(size), 'x');
    const std::int64_t limit = arguments.number("messages");
    const std::int64_t seconds = arguments.number("seconds");
    Run run;
    const Clock& clock = session.clock();
    const auto begin = clock.now();
    std::atomic<std::size_t> running{senders.size()};
    std::vector<std::jthread> threads;
    for (auto& sender : senders) {
        threads.emplace_back([&run, &clock, &message, &running, limit, own = std::move(sender)]() mutable {
            sendUntilStopped(run, std::move(own), clock, message, limit);
            running.fetch_sub(1);
        });
    }
    while (running.load() > 0 && clock.now() - begin < std::chrono::seconds(seconds)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        session.out().progress("seconds", std::chrono::duration_cast<std::chrono::seconds>(clock.now() - begin).count(), seconds);
    }
    run.stop.store(true);
    threads.clear();
    return report(session, run, clock.now() - begin, size);
}

constexpr Command kCommands[] = {
    {.words = "bench send", .summary = "Sends as fast as it can and tells rate and latency", .arguments = kTopic, .options = kSend,
     .example = "patchctl bench send BenchmarkTest --threads 16 --seconds 5", .run = send},
};

}  // namespace

std::span<const Command> benchCommands() noexcept { return kCommands; }

}  // namespace patchbay::patchctl

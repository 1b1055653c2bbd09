// The commands "bench …": a small load generator.
#include "commands/Sender.h"
#include "commands/Session.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace patchbay::patchctl {

namespace {

constexpr Argument kTopic[] = {{"TOPIC", "topic that exists; it will hold the messages afterwards"}};
constexpr Argument kRead[] = {{"TOPIC", "topic that exists"}};
constexpr Option kSend[] = {
    {.name = "threads", .kind = Kind::Number, .value = "N", .doc = "senders, each of which waits for its answer", .fallback = "8", .letter = 'w', .min = 1, .max = 256},
    {.name = "size", .kind = Kind::Text, .value = "BYTES", .doc = "size of a body", .fallback = "1024", .letter = 's'},
    {.name = "seconds", .kind = Kind::Number, .value = "N", .doc = "how long", .fallback = "10", .min = 1, .max = 86'400},
    {.name = "messages", .kind = Kind::Number, .value = "N", .doc = "ends after so many; 0 goes by time alone", .fallback = "0", .min = 0},
};

constexpr Option kPull[] = {
    {.name = "threads", .kind = Kind::Number, .value = "N", .doc = "readers, each with queues of its own", .fallback = "8", .letter = 'w', .min = 1, .max = 256},
    {.name = "from", .kind = Kind::Choice, .value = "WHERE", .doc = "first reads what is there, end what comes meanwhile", .fallback = "first", .choices = "first end"},
    {.name = "seconds", .kind = Kind::Number, .value = "N", .doc = "how long", .fallback = "10", .min = 1, .max = 86'400},
    {.name = "messages", .kind = Kind::Number, .value = "N", .doc = "ends after about so many; 0 goes by time alone", .fallback = "0", .min = 0},
};
constexpr std::int32_t kPullBatch = 32;
constexpr std::chrono::milliseconds kEmptyPause{2};

/// What all senders add to, or all readers.
struct Run {
    std::atomic<std::int64_t> sent{0};
    std::atomic<std::int64_t> bytes{0};   // of what was read
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

/// Times are those of requests: of one message each when sending, of up to kPullBatch when reading.
Exit report(Session& session, Run& run, std::chrono::nanoseconds over, std::int64_t stored, std::int64_t bytes) {
    std::ranges::sort(run.timesUs);
    const double seconds = std::chrono::duration<double>(over).count();
    Record record;
    record.add("messages", stored);
    record.add("failed", run.failed.load());
    record.add("seconds", seconds);
    record.add("messagesPerSecond", seconds > 0 ? static_cast<double>(stored) / seconds : 0.0);
    record.add("bytesPerSecond", static_cast<std::int64_t>(seconds > 0 ? static_cast<double>(bytes) / seconds : 0.0), Show::Bytes);
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
    const std::int64_t stored = run.sent.load() - run.failed.load();
    return report(session, run, clock.now() - begin, stored, stored * size);
}

/// A queue that is read, from `at` on.
struct Reading {
    client::MessageQueue queue;
    std::int64_t at = 0;
    std::int64_t end = 0;   ///< where it ended at the begin
    bool done = false;
};

/// Reads its queues in turn; with `whatIsThere` to where they ended at the begin.
void readUntilStopped(Run& run, client::AdminClient& admin, std::vector<Reading> queues, const Clock& clock, bool whatIsThere, std::int64_t limit) {
    std::vector<std::int64_t> times;
    while (!run.stop.load(std::memory_order_relaxed) && !queues.empty()) {
        bool came = false;
        for (auto& reading : queues) {
            if (run.stop.load(std::memory_order_relaxed) || (limit > 0 && run.sent.load() >= limit)) break;
            const auto begin = clock.now();
            const auto batch = admin.messagesAt(reading.queue, reading.at, kPullBatch);
            times.push_back(std::chrono::duration_cast<std::chrono::microseconds>(clock.now() - begin).count());
            if (!batch) {
                run.failed.fetch_add(1);
                const std::lock_guard lock(run.mutex);
                if (run.firstFailure) run.firstFailure = batch.error();
                reading.done = true;   // this is no test of how brokers come back
                continue;
            }
            if (batch->empty()) {
                // A part of a log that holds nothing for this queue is the end of what is there.
                reading.done = whatIsThere;
                continue;
            }
            came = true;
            std::int64_t bytes = 0;
            for (const auto& message : *batch) bytes += static_cast<std::int64_t>(message.body().size());
            run.bytes.fetch_add(bytes, std::memory_order_relaxed);
            run.sent.fetch_add(static_cast<std::int64_t>(batch->size()));
            reading.at = batch->back().queueOffset() + 1;
            reading.done = whatIsThere && reading.at >= reading.end;
        }
        std::erase_if(queues, [](const Reading& reading) { return reading.done; });
        if (limit > 0 && run.sent.load() >= limit) break;
        if (!came && !queues.empty()) std::this_thread::sleep_for(kEmptyPause);
    }
    const std::lock_guard lock(run.mutex);
    run.timesUs.insert(run.timesUs.end(), times.begin(), times.end());
}

Exit pull(Session& session, const Arguments& arguments) {
    const auto stats = session.topicStats(arguments.at(0));
    if (!stats) return session.fail(stats.error());
    const bool whatIsThere = arguments.text("from") == "first";
    std::vector<Reading> all;
    for (const auto& [queue, entry] : stats->offsetTable) all.push_back({queue, whatIsThere ? entry.minOffset : entry.maxOffset, entry.maxOffset});
    if (whatIsThere) std::erase_if(all, [](const Reading& reading) { return reading.at >= reading.end; });
    std::vector<std::vector<Reading>> shares(std::min(static_cast<std::size_t>(arguments.number("threads")), std::max<std::size_t>(all.size(), 1)));
    for (std::size_t i = 0; i < all.size(); ++i) shares[i % shares.size()].push_back(std::move(all[i]));
    Run run;
    const Clock& clock = session.clock();
    client::AdminClient& admin = **session.client();
    const std::int64_t limit = arguments.number("messages");
    const std::int64_t seconds = arguments.number("seconds");
    const auto begin = clock.now();
    std::atomic<std::size_t> running{shares.size()};
    std::vector<std::jthread> threads;
    for (auto& share : shares) {
        threads.emplace_back([&run, &admin, &clock, &running, whatIsThere, limit, own = std::move(share)]() mutable {
            readUntilStopped(run, admin, std::move(own), clock, whatIsThere, limit);
            running.fetch_sub(1);
        });
    }
    while (running.load() > 0 && clock.now() - begin < std::chrono::seconds(seconds)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        session.out().progress("seconds", std::chrono::duration_cast<std::chrono::seconds>(clock.now() - begin).count(), seconds);
    }
    run.stop.store(true);
    threads.clear();
    return report(session, run, clock.now() - begin, run.sent.load(), run.bytes.load());
}

constexpr Command kCommands[] = {
    {.words = "bench send", .summary = "Sends as fast as it can and tells rate and latency", .arguments = kTopic, .options = kSend,
     .example = "patchctl bench send BenchmarkTest --threads 16 --seconds 5", .run = send},
    {.words = "bench pull", .summary = "Reads a topic as fast as it can and tells rate and latency",
     .text = "Reads every message once, whoever consumes it, and moves no group's offsets. Times are those of pulls, of up to 32 messages each. Beside "
             "'bench send', with --from end, it tells both rates.",
     .arguments = kRead, .options = kPull, .example = "patchctl bench pull BenchmarkTest --threads 4", .run = pull},
};

}  // namespace

std::span<const Command> benchCommands() noexcept { return kCommands; }

}  // namespace patchbay::patchctl

// Proved: on a link that takes 40 ms each way and loses packets a consumer keeps its queues, each goes on all the time, everything is consumed once,
// and what is told as progress reaches the end. When connections stall, are reset or cut one way as well, no queue rests for long and nothing is lost.
// How: a running broker on each store whose advertised address is a slow link to it; queues are divided anew, routes refreshed and heartbeats sent every second.
// PATCHBAY_BAD_NETWORK_SECONDS says how long the second case takes (default 12); `./dev bad-network` takes ten minutes.
// Left to others: links that break (producer_faults_test, unit tests of the connection).
#include "ConsumerFixture.h"
#include "support/SlowLink.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace patchbay::test {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr const char* kAdvertised = "127.0.0.2";
constexpr int kQueues = 4;

struct Patience : ClientFixture {
    using ClientFixture::soon;
};

/// When each queue's messages were consumed.
class Journal {
public:
    client::Listener listener() {
        return [this](std::span<const client::ReceivedMessage> messages, client::ConsumeContext&) {
            const std::lock_guard lock(mutex_);
            for (const auto& message : messages) {
                ++times_[std::string(message.body())];
                auto& queue = queues_[message.queueId()];
                const auto now = Clock::now();
                if (queue.last != Clock::time_point()) queue.longest = std::max(queue.longest, now - queue.last);
                queue.last = now;
                ++total_;
            }
            return client::ConsumeResult::Success;
        };
    }
    [[nodiscard]] int total() const { const std::lock_guard lock(mutex_); return total_; }
    [[nodiscard]] int different() const { const std::lock_guard lock(mutex_); return static_cast<int>(times_.size()); }
    [[nodiscard]] bool hasAll(const std::set<std::string>& bodies) const {
        const std::lock_guard lock(mutex_);
        return std::all_of(bodies.begin(), bodies.end(), [&](const std::string& body) { return times_.contains(body); });
    }
    /// The longest pause of any queue between two of its messages.
    [[nodiscard]] std::chrono::milliseconds longestPause() const {
        const std::lock_guard lock(mutex_);
        Clock::duration longest{};
        for (const auto& [id, queue] : queues_) longest = std::max(longest, queue.longest);
        return std::chrono::duration_cast<std::chrono::milliseconds>(longest);
    }
    [[nodiscard]] std::size_t queues() const { const std::lock_guard lock(mutex_); return queues_.size(); }

private:
    struct Queue {
        Clock::time_point last{};
        Clock::duration longest{};
    };
    mutable std::mutex mutex_;
    std::map<std::string, int> times_;
    std::map<std::int32_t, Queue> queues_;
    int total_ = 0;
};

class SlowNetwork : public OnEachStore {
protected:
    void begin(const SlowLink::Manners& manners) {
        broker_ = std::make_unique<BrokerProcess>("brokerName = broker-t\nbrokerIP1 = " + std::string(kAdvertised) + "\n" + onStore(GetParam()));
        ASSERT_TRUE(broker_->start()) << broker_->output();
        link_ = std::make_unique<SlowLink>(kAdvertised, "127.0.0.1", broker_->brokerPort(), manners);
        ASSERT_TRUE(link_->listening());
        options_.nameServers = "127.0.0.1:" + std::to_string(broker_->namesrvPort());
        options_.heartbeatInterval = 1s;
        options_.routeRefreshInterval = 1s;
        options_.log = [](auto, auto) {};
        auto tool = client::AdminClient::create(options_);
        ASSERT_TRUE(tool);
        ASSERT_TRUE(until([&] { return !tool->masters().value_or({}).empty(); }));
        protocol::TopicConfig topic;
        topic.topicName = "Slow";
        topic.readQueueNums = topic.writeQueueNums = kQueues;
        ASSERT_TRUE(tool->createTopic(std::string(kAdvertised) + ":" + std::to_string(broker_->brokerPort()), topic));
        ASSERT_TRUE(until([&] { return tool->route("Slow").has_value(); }));
    }
    client::PushConsumer reader(Journal& journal) {
        client::ConsumerOptions consuming;
        consuming.client = options_;
        consuming.group = "SlowReaders";
        consuming.from = client::ConsumeFrom::FirstOffset;
        consuming.rebalanceInterval = 1s;
        consuming.offsetInterval = 200ms;
        auto made = client::PushConsumer::create(consuming);
        EXPECT_TRUE(made);
        EXPECT_TRUE(made->subscribe("Slow"));
        EXPECT_TRUE(made->consume(journal.listener()));
        return std::move(*made);
    }
    [[nodiscard]] client::ProducerOptions producing() const {
        client::ProducerOptions made;
        made.client = options_;
        made.group = "SlowWriters";
        return made;
    }
    static bool until(const std::function<bool()>& condition, std::chrono::seconds limit = 20s) { return Patience::soon(condition, limit); }
    [[nodiscard]] const SlowLink& link() const noexcept { return *link_; }

private:
    std::unique_ptr<BrokerProcess> broker_;
    std::unique_ptr<SlowLink> link_;
    client::ClientOptions options_;
};

TEST_P(SlowNetwork, AConsumerKeepsItsQueuesAndEachOfThemGoesOn) {
    ASSERT_NO_FATAL_FAILURE(begin({}));
    Journal journal;
    const auto consumer = reader(journal);
    ASSERT_TRUE(until([&] { return consumer.progress().size() == kQueues + 1U; })) << "with that of the retry topic";
    auto sender = client::Producer::create(producing());
    ASSERT_TRUE(sender);
    // Each takes the way there and back, so this is a matter of seconds.
    int sent = 0;
    for (const auto end = Clock::now() + 6s; Clock::now() < end;) {
        const auto receipt = sender->send({.topic = "Slow", .body = "body " + std::to_string(sent)});
        ASSERT_TRUE(receipt) << receipt.error().toString();
        ++sent;
        EXPECT_EQ(consumer.progress().size(), kQueues + 1U) << "after " << sent << " messages";
    }
    EXPECT_GT(sent, 20);
    ASSERT_TRUE(until([&] { return journal.different() == sent; })) << journal.different() << " of " << sent;
    EXPECT_EQ(journal.total(), sent) << "a queue that is given up and taken again brings messages twice";
    EXPECT_EQ(journal.queues(), static_cast<std::size_t>(kQueues));
    EXPECT_LT(journal.longestPause(), 4s);
    EXPECT_TRUE(until([&] {
        std::int64_t consumed = 0;
        for (const auto& [queue, offset] : consumer.progress()) consumed += queue.topic == "Slow" ? std::max<std::int64_t>(offset, 0) : 0;
        return consumed == sent;
    }));
}

TEST_P(SlowNetwork, NothingIsLostAndNoQueueRestsWhenConnectionsStallAndBreak) {
    const char* wanted = std::getenv("PATCHBAY_BAD_NETWORK_SECONDS");
    const auto duration = std::chrono::seconds(wanted != nullptr ? std::stoi(wanted) : 12);
    ASSERT_NO_FATAL_FAILURE(begin({.mischiefEvery = 2500ms}));
    Journal journal;
    const auto consumer = reader(journal);
    auto options = producing();
    options.sendTimeout = 20s;
    options.retries = 20;
    auto sender = client::Producer::create(options);
    ASSERT_TRUE(sender);
    std::mutex mutex;
    std::set<std::string> stored;
    std::atomic<int> failed{0};
    std::vector<std::thread> threads;
    const auto end = Clock::now() + duration;
    for (int thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&, thread] {
            for (int i = 0; Clock::now() < end; ++i) {
                const auto body = std::to_string(thread) + " " + std::to_string(i);
                const bool good = sender->send({.topic = "Slow", .body = body}).has_value();
                failed += good ? 0 : 1;
                const std::lock_guard lock(mutex);
                if (good) stored.insert(body);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_TRUE(until([&] { return journal.hasAll(stored); }, 60s)) << journal.different() << " of " << stored.size();
    EXPECT_LT(journal.longestPause(), 10s);
    EXPECT_EQ(journal.queues(), static_cast<std::size_t>(kQueues));
    for (const auto kind : {SlowLink::Stall, SlowLink::Reset, SlowLink::HalfClose}) EXPECT_GT(link().count(kind), 0) << kind;
    std::cout << stored.size() << " messages stored, " << failed << " sends failed, " << journal.total() - journal.different() << " consumed again; longest pause of a queue "
              << journal.longestPause().count() << " ms; " << link().count(SlowLink::Stall) << " stalls, " << link().count(SlowLink::Reset) << " resets, "
              << link().count(SlowLink::HalfClose) << " half-closes\n";
}

PATCHBAY_ON_EACH_STORE(SlowNetwork);

}  // namespace
}  // namespace patchbay::test

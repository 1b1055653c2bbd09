// Proved: on a link that takes 40 ms each way and loses packets a consumer keeps its queues, each goes on all the time, everything is consumed once,
// and what is told as progress reaches the end.
// How: a running broker on each store whose advertised address is a slow link to it; queues are divided anew, routes refreshed and heartbeats sent every second.
// Left to others: links that break (producer_faults_test, unit tests of the connection).
#include "ConsumerFixture.h"
#include "support/SlowLink.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>

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

class SlowNetwork : public OnEachStore {};

TEST_P(SlowNetwork, AConsumerKeepsItsQueuesAndEachOfThemGoesOn) {
    BrokerProcess broker("brokerName = broker-t\nbrokerIP1 = " + std::string(kAdvertised) + "\n" + onStore(GetParam()));
    ASSERT_TRUE(broker.start()) << broker.output();
    const SlowLink link(kAdvertised, "127.0.0.1", broker.brokerPort(), {});
    ASSERT_TRUE(link.listening());
    client::ClientOptions options;
    options.nameServers = "127.0.0.1:" + std::to_string(broker.namesrvPort());
    options.heartbeatInterval = 1s;
    options.routeRefreshInterval = 1s;

    auto tool = client::AdminClient::create(options);
    ASSERT_TRUE(tool);
    const auto until = [](const std::function<bool()>& condition) { return Patience::soon(condition, 20s); };
    ASSERT_TRUE(until([&] { return !tool->masters().value_or({}).empty(); }));
    protocol::TopicConfig topic;
    topic.topicName = "Slow";
    topic.readQueueNums = topic.writeQueueNums = kQueues;
    ASSERT_TRUE(tool->createTopic(std::string(kAdvertised) + ":" + std::to_string(broker.brokerPort()), topic));
    ASSERT_TRUE(until([&] { return tool->route("Slow").has_value(); }));

    Journal journal;
    client::ConsumerOptions consuming;
    consuming.client = options;
    consuming.group = "SlowReaders";
    consuming.from = client::ConsumeFrom::FirstOffset;
    consuming.rebalanceInterval = 1s;
    consuming.offsetInterval = 200ms;
    auto reader = client::PushConsumer::create(consuming);
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe("Slow"));
    ASSERT_TRUE(reader->consume(journal.listener()));
    ASSERT_TRUE(until([&] { return reader->progress().size() == kQueues + 1U; })) << "with that of the retry topic";

    client::ProducerOptions producing;
    producing.client = options;
    producing.group = "SlowWriters";
    auto sender = client::Producer::create(producing);
    ASSERT_TRUE(sender);
    // Each takes the way there and back, so this is a matter of seconds.
    int sent = 0;
    for (const auto end = Clock::now() + 6s; Clock::now() < end;) {
        const auto receipt = sender->send({.topic = "Slow", .body = "body " + std::to_string(sent)});
        ASSERT_TRUE(receipt) << receipt.error().toString();
        ++sent;
        EXPECT_EQ(reader->progress().size(), kQueues + 1U) << "after " << sent << " messages";
    }
    EXPECT_GT(sent, 20);
    ASSERT_TRUE(until([&] { return journal.different() == sent; })) << journal.different() << " of " << sent;
    EXPECT_EQ(journal.total(), sent) << "a queue that is given up and taken again brings messages twice";
    EXPECT_EQ(journal.queues(), static_cast<std::size_t>(kQueues));
    EXPECT_LT(journal.longestPause(), 4s);
    EXPECT_TRUE(until([&] {
        std::int64_t consumed = 0;
        for (const auto& [queue, offset] : reader->progress()) consumed += queue.topic == "Slow" ? std::max<std::int64_t>(offset, 0) : 0;
        return consumed == sent;
    }));
}

PATCHBAY_ON_EACH_STORE(SlowNetwork);

}  // namespace
}  // namespace patchbay::test

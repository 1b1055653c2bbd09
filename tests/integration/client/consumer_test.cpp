// Proved: push consumers get each message at least once and nothing is lost, in every model and order, over failures, handovers and closes.
// How: producers and consumers of this library against a running broker with each store, or a cluster named by the environment.
// Left to others: what the wire carries (golden comparison), pulling by the application (pull_test), allocation (unit tests).
#include "ConsumerFixture.h"

#include <map>

namespace patchbay::test {
namespace {

using namespace std::chrono_literals;

class Pushing : public ConsumerFixture {};

TEST_P(Pushing, EveryMessageIsConsumedOnce) {
    const auto topic = fresh("All");
    createTopic(topic);
    Seen seen;
    auto reader = pushConsumer(topic, seen);
    send(topic, 200);
    ASSERT_TRUE(soon([&] { return seen.count() == 200; })) << seen.count();
    EXPECT_EQ(seen.total(), 200);
    // Four queues, and that of the retry topic.
    EXPECT_TRUE(soon([&] { return reader.progress().size() == 5; }));
}

TEST_P(Pushing, TagsAreFilteredExactly) {
    const auto topic = fresh("Tags");
    createTopic(topic, 1);
    Seen seen;
    auto made = consumerOptions();
    auto reader = client::PushConsumer::create(made);
    ASSERT_TRUE(reader);
    // "Aa" and "BB" have the same hash: the broker lets both pass.
    ASSERT_TRUE(reader->subscribe(topic, client::Filter::tags("Aa || Cc")));
    ASSERT_TRUE(reader->consume(seen.listener()));
    auto sender = producer();
    for (const auto* tag : {"Aa", "BB", "Cc", "Dd", "BB"}) ASSERT_TRUE(sender.send({.topic = topic, .body = tag, .tags = tag}));
    ASSERT_TRUE(soon([&] { return seen.count() == 2; }));
    EXPECT_TRUE(seen.has("Aa"));
    EXPECT_TRUE(seen.has("Cc"));
    // Progress passes over what is not wanted.
    auto tool = admin();
    const client::MessageQueue queue{topic, tool.cluster()->brokerAddrTable.begin()->first, 0};
    EXPECT_TRUE(soon([&] { return tool.consumerOffset(made.group, queue).value_or(0) == 5; }));
}

TEST_P(Pushing, TracesAreFoundByTheMessagesIdAndKeys) {
    const auto topic = fresh("Traced");
    createTopic(topic, 1);
    const auto key = fresh("key");
    auto made = consumerOptions();
    made.trace = true;
    Seen seen;
    auto reader = pushConsumer(topic, seen, made);
    auto sending = producerOptions();
    sending.trace = true;
    auto sender = client::Producer::create(sending);
    ASSERT_TRUE(sender);
    const auto receipt = sender->send({.topic = topic, .body = "x", .keys = {key}});
    ASSERT_TRUE(receipt);
    ASSERT_TRUE(soon([&] { return seen.count() == 1; }));
    sender->close();
    reader.close();
    auto tool = admin();
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
    for (const auto& name : {receipt->messageId, key}) {
        std::string all;
        const auto has = [&](std::string_view kind, const std::string& group) {
            return all.find(kind) != std::string::npos && all.find(receipt->messageId) != std::string::npos && all.find(group) != std::string::npos;
        };
        EXPECT_TRUE(soon([&] {
            all.clear();
            for (const auto& one : tool.messagesByKey("RMQ_SYS_TRACE_TOPIC", name, 32, now - 3'600'000, now + 3'600'000).value_or({})) all += one.body();
            return has("Pub\x01", sending.group) && has("SubBefore\x01", made.group) && has("SubAfter\x01", made.group);
        })) << all;
    }
}

TEST_P(Pushing, WhatFailsTooOftenEndsInTheDeadLetters) {
    const auto topic = fresh("Dead");
    createTopic(topic, 1);
    auto made = consumerOptions();
    made.maxReconsumeTimes = 0;
    auto reader = client::PushConsumer::create(made);
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe(topic));
    ASSERT_TRUE(reader->consume([](auto, auto&) -> client::ConsumeResult { throw std::runtime_error("no"); }));
    send(topic, 1);
    auto tool = admin();
    const auto letters = "%DLQ%" + made.group;
    ASSERT_TRUE(soon([&] {
        const auto stats = tool.topicStats(letters);
        return stats && !stats->offsetTable.empty() && stats->offsetTable.begin()->second.maxOffset == 1;
    }));
    const auto queue = tool.topicStats(letters)->offsetTable.begin()->first;
    EXPECT_EQ(tool.messagesAt(queue, 0, 1)->front().body(), "body 0");
}

TEST_P(Pushing, WhatFailsOnceComesAgain) {
    const auto topic = fresh("Again");
    createTopic(topic, 1);
    auto made = consumerOptions();
    auto reader = client::PushConsumer::create(made);
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe(topic));
    std::atomic<int> calls{0};
    std::atomic<int> times{-1};
    std::atomic<bool> sameTopic{false};
    ASSERT_TRUE(reader->consume([&](auto messages, client::ConsumeContext& context) {
        if (++calls == 1) {
            context.delayLevel = 1;
            return client::ConsumeResult::Later;
        }
        times = messages.front().reconsumeTimes();
        sameTopic = messages.front().topic() == topic;
        return client::ConsumeResult::Success;
    }));
    send(topic, 1);
    ASSERT_TRUE(soon([&] { return times == 1; }, 15s)) << calls;
    EXPECT_TRUE(sameTopic);
}

TEST_P(Pushing, AnOrderlyListenerSeesEachQueueInOrder) {
    const auto topic = fresh("Orderly");
    createTopic(topic, 2);
    std::mutex mutex;
    std::map<std::int32_t, std::vector<std::int64_t>> order;
    std::atomic<int> count{0};
    std::atomic<bool> suspended{false};
    auto reader = client::PushConsumer::create(consumerOptions());
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe(topic));
    ASSERT_TRUE(reader->consumeOrderly([&](auto messages, client::OrderlyContext& context) {
        if (!suspended.exchange(true)) {
            context.suspendTime = 20ms;
            return client::OrderlyResult::Suspend;
        }
        const std::lock_guard lock(mutex);
        for (const auto& message : messages) order[message.queueId()].push_back(message.queueOffset());
        count += static_cast<int>(messages.size());
        return client::OrderlyResult::Success;
    }));
    send(topic, 100);
    ASSERT_TRUE(soon([&] { return count == 100; })) << count;
    const std::lock_guard lock(mutex);
    for (const auto& [queue, offsets] : order) {
        for (std::size_t i = 0; i < offsets.size(); ++i) EXPECT_EQ(offsets[i], static_cast<std::int64_t>(i)) << queue;
    }
}

TEST_P(Pushing, AGroupSharesAndHandsOver) {
    const auto topic = fresh("Share");
    createTopic(topic, 4);
    const auto made = consumerOptions();
    Seen first;
    Seen second;
    auto one = pushConsumer(topic, first, made);
    {
        auto two = pushConsumer(topic, second, made);
        EXPECT_NE(one.clientId(), two.clientId());
        const auto queuesOf = [&](const client::PushConsumer& reader) {
            const auto all = reader.progress();
            return std::count_if(all.begin(), all.end(), [&](const auto& entry) { return entry.first.topic == topic; });
        };
        ASSERT_TRUE(soon([&] { return queuesOf(one) == 2 && queuesOf(two) == 2; }));
        send(topic, 40);
        ASSERT_TRUE(soon([&] { return first.total() + second.total() >= 40; }));
        EXPECT_GT(first.total(), 0);
        EXPECT_GT(second.total(), 0);
    }
    // The second has left; the first takes all.
    ASSERT_TRUE(soon([&] { return one.progress().size() == 5; }));
    send(topic, 40, 40);
    ASSERT_TRUE(soon([&] { return first.count() + second.count() >= 80; })) << first.count() << " " << second.count();
}

TEST_P(Pushing, EveryBroadcastingConsumerGetsAllAndGoesOnWhereItWas) {
    const auto topic = fresh("Broadcast");
    createTopic(topic, 2);
    const TempFolder folder;
    auto made = consumerOptions();
    made.model = client::ConsumerModel::Broadcasting;
    made.offsetDirectory = folder.path();
    made.client.instanceName = "first";
    auto other = made;
    other.client.instanceName = "second";
    Seen second;
    auto two = pushConsumer(topic, second, other);
    {
        Seen first;
        auto one = pushConsumer(topic, first, made);
        ASSERT_TRUE(soon([&] { return one.progress().size() == 2 && two.progress().size() == 2; }));
        send(topic, 10);
        ASSERT_TRUE(soon([&] { return first.count() == 10 && second.count() == 10; }));
    }
    send(topic, 5, 10);
    Seen again;
    auto one = pushConsumer(topic, again, made);
    ASSERT_TRUE(soon([&] { return again.count() == 5; })) << again.count();
    EXPECT_EQ(again.total(), 5);
}

TEST_P(Pushing, ATruncatedOffsetFileIsReportedAndStopsNobody) {
    const auto topic = fresh("Truncated");
    createTopic(topic, 1);
    const TempFolder folder;
    auto made = consumerOptions();
    made.model = client::ConsumerModel::Broadcasting;
    made.offsetDirectory = folder.path();
    made.client.instanceName = fresh("device");
    std::atomic<bool> reported{false};
    made.client.log = [&](client::LogLevel, std::string_view text) { reported = reported || text.find("offsets.json") != std::string_view::npos; };
    send(topic, 5);
    std::string file;
    {
        Seen first;
        auto one = pushConsumer(topic, first, made);
        ASSERT_TRUE(soon([&] { return first.count() == 5; }));
        file = one.clientId() + "/" + made.group + "/offsets.json";
    }
    const auto text = folder.read(file);
    ASSERT_FALSE(text.empty());
    folder.write(file, text.substr(0, text.size() / 2));
    std::filesystem::remove(folder / (file + ".bak"));
    Seen again;
    auto one = pushConsumer(topic, again, made);
    EXPECT_TRUE(soon([&] { return again.count() == 5; })) << again.count();
    EXPECT_TRUE(reported);
}

TEST_P(Pushing, AClosedConsumerHasToldItsProgress) {
    const auto topic = fresh("Close");
    createTopic(topic, 1);
    const auto made = consumerOptions();
    send(topic, 50);
    Seen seen;
    {
        auto slow = client::PushConsumer::create(made);
        ASSERT_TRUE(slow);
        ASSERT_TRUE(slow->subscribe(topic));
        ASSERT_TRUE(slow->consume(seen.listener(20ms)));
        ASSERT_TRUE(soon([&] { return seen.count() >= 20; }));
    }
    const auto before = seen.count();
    auto next = pushConsumer(topic, seen, made);
    ASSERT_TRUE(soon([&] { return seen.count() == 50; }));
    // At most what was in work on the listener's threads twenty at a time comes twice, and a graceful close leaves none of it.
    EXPECT_EQ(seen.total(), 50) << "first part: " << before;
}

TEST_P(Pushing, AListenerThatBlocksNowAndThenHoldsUpNoOtherMessage) {
    const auto topic = fresh("Block");
    createTopic(topic, 1);
    constexpr int kCount = 600;
    constexpr int kBlocked = 10;   // the first ones of the second half
    send(topic, kCount);
    std::atomic<int> quick{0};
    std::atomic<int> patient{0};
    auto reader = client::PushConsumer::create(consumerOptions());
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe(topic));
    ASSERT_TRUE(reader->consume([&](auto messages, auto&) {
        const auto number = std::stoi(std::string(messages.front().body().substr(5)));
        if (number < kCount / 2 || number >= kCount / 2 + kBlocked) return ++quick, client::ConsumeResult::Success;
        if (soon([&] { return quick == kCount - kBlocked; })) ++patient;
        return client::ConsumeResult::Success;
    }));
    EXPECT_TRUE(soon([&] { return patient == kBlocked; })) << patient << " of those that blocked, " << quick << " others";
}

TEST_P(Pushing, ASuspendedConsumerTakesNothing) {
    const auto topic = fresh("Suspend");
    createTopic(topic, 1);
    Seen seen;
    auto reader = pushConsumer(topic, seen);
    ASSERT_TRUE(soon([&] { return reader.progress().size() == 2; }));
    send(topic, 1);
    ASSERT_TRUE(soon([&] { return seen.count() == 1; }));
    reader.suspend();
    // The question that is with the broker already still brings what comes first.
    send(topic, 1, 1);
    ASSERT_TRUE(soon([&] { return seen.count() == 2; }));
    send(topic, 10, 2);
    EXPECT_FALSE(soon([&] { return seen.count() > 2; }, 300ms));
    reader.resume();
    EXPECT_TRUE(soon([&] { return seen.count() == 12; }));
}

TEST_P(Pushing, AdministratorsSeeItAndMakeItConsume) {
    const auto topic = fresh("Watched");
    createTopic(topic, 1);
    const auto made = consumerOptions();
    Seen seen;
    auto reader = pushConsumer(topic, seen, made);
    send(topic, 3);
    ASSERT_TRUE(soon([&] { return seen.count() == 3; }));
    auto tool = admin();
    ASSERT_TRUE(soon([&] { return tool.consumers(made.group).has_value(); }));
    const auto connected = tool.consumers(made.group);
    ASSERT_EQ(connected->connectionSet.size(), 1U);
    EXPECT_EQ(connected->connectionSet.front().clientId, reader.clientId());
    EXPECT_EQ(connected->connectionSet.front().language, "CPP");
    const auto info = tool.consumerRunningInfo(made.group, reader.clientId());
    ASSERT_TRUE(info) << info.error().toString();
    EXPECT_NE(info->find("\"PROP_CONSUMEORDERLY\":\"false\""), std::string::npos) << *info;
    EXPECT_NE(info->find(topic), std::string::npos);
    const auto receipt = producer().send({.topic = topic, .body = "directly"});
    ASSERT_TRUE(receipt);
    ASSERT_TRUE(soon([&] { return seen.has("directly"); }));
    const auto direct = tool.consumeDirectly(made.group, reader.clientId(), topic, receipt->offsetMessageId);
    ASSERT_TRUE(direct) << direct.error().toString();
    EXPECT_EQ(direct->result, "CR_SUCCESS");
    EXPECT_EQ(seen.total(), 5);
}

TEST_P(Pushing, OffsetsSetByAnAdministratorAreFollowed) {
    const auto topic = fresh("Reset");
    createTopic(topic, 1);
    const auto made = consumerOptions();
    Seen seen;
    auto reader = pushConsumer(topic, seen, made);
    send(topic, 10);
    ASSERT_TRUE(soon([&] { return seen.count() == 10; }));
    auto tool = admin();
    const client::MessageQueue queue{topic, tool.cluster()->brokerAddrTable.begin()->first, 0};
    ASSERT_TRUE(soon([&] { return tool.consumerOffset(made.group, queue).value_or(0) == 10; }));
    const auto reset = tool.resetOffsets(made.group, topic, 0);
    if (!reset && reset.error().code() == StatusCode::Unsupported) GTEST_SKIP() << "this broker does not reset offsets";
    ASSERT_TRUE(reset) << reset.error().toString();
    // The question that waits at the broker learns of it when it ends, by the next message at the latest.
    send(topic, 1, 10);
    EXPECT_TRUE(soon([&] { return seen.total() >= 21; }, 40s)) << seen.total();
}

TEST_P(Pushing, ARequestGetsItsReply) {
    const auto topic = fresh("Question");
    createTopic(topic, 1);
    auto replier = producer();
    auto reader = client::PushConsumer::create(consumerOptions());
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe(topic));
    ASSERT_TRUE(reader->consume([&](auto messages, auto&) {
        for (const auto& message : messages) {
            const auto sent = replier.reply(message, "reply to " + std::string(message.body()));
            EXPECT_TRUE(sent) << sent.error().toString();
        }
        return client::ConsumeResult::Success;
    }));
    auto asker = producer();
    for (int i = 0; i < 3; ++i) {
        const auto reply = asker.request({.topic = topic, .body = "question " + std::to_string(i)}, 10s);
        ASSERT_TRUE(reply) << reply.error().toString();
        EXPECT_EQ(reply->body(), "reply to question " + std::to_string(i));
    }
    const auto nobody = fresh("Nobody");
    createTopic(nobody, 1);
    const auto silent = asker.request({.topic = nobody, .body = "?"}, 300ms);
    EXPECT_EQ(silent.error().code(), StatusCode::DeadlineExceeded) << silent.error().toString();
}

TEST_P(Pushing, AConsumerMayEndInsideItsListener) {
    const auto topic = fresh("Inside");
    createTopic(topic, 1);
    std::optional<client::PushConsumer> reader;
    auto made = client::PushConsumer::create(consumerOptions());
    ASSERT_TRUE(made);
    reader.emplace(std::move(*made));
    ASSERT_TRUE(reader->subscribe(topic));
    std::atomic<bool> ended{false};
    ASSERT_TRUE(reader->consume([&](auto, auto&) {
        reader->close();
        ended = true;
        return client::ConsumeResult::Success;
    }));
    send(topic, 1);
    EXPECT_TRUE(soon([&] { return ended.load(); }));
}

TEST_P(Pushing, AMessageInWorkWhenItsConsumerEndsComesAgainAndLeavesNoCopy) {
    const auto topic = fresh("Restarted");
    createTopic(topic, 1);
    const auto made = consumerOptions();
    send(topic, 1);
    auto tool = admin();
    const client::MessageQueue schedule{"SCHEDULE_TOPIC_XXXX", tool.cluster()->brokerAddrTable.begin()->first, 0};
    const auto before = tool.maxOffset(schedule).value_or(0);
    for (int restart = 0; restart < 5; ++restart) {
        auto reader = client::PushConsumer::create(made);
        ASSERT_TRUE(reader);
        ASSERT_TRUE(reader->subscribe(topic));
        std::atomic<int> calls{0};
        std::atomic<bool> ended{false};
        ASSERT_TRUE(reader->consume([&](auto, client::ConsumeContext& context) {
            ++calls;
            reader->close();
            context.delayLevel = 1;
            ended = true;
            return client::ConsumeResult::Later;
        }));
        ASSERT_TRUE(soon([&] { return ended.load(); })) << restart;
        EXPECT_EQ(calls, 1) << restart;
    }
    Seen seen;
    auto last = pushConsumer(topic, seen, made);
    ASSERT_TRUE(soon([&] { return seen.count() == 1; }));
    EXPECT_EQ(seen.total(), 1);
    EXPECT_EQ(tool.maxOffset(schedule).value_or(0), before) << "what is not committed is not sent back as well";
}

TEST_P(Pushing, ANamespaceIsInvisibleInside) {
    const auto topic = fresh("Inner");
    createTopic("tenant1%" + topic, 1);
    auto made = consumerOptions();
    made.client.nameSpace = "tenant1";
    Seen seen;
    auto reader = pushConsumer(topic, seen, made);
    auto writing = producerOptions();
    writing.client.nameSpace = "tenant1";
    auto sender = client::Producer::create(writing);
    ASSERT_TRUE(sender);
    ASSERT_TRUE(sender->send({.topic = topic, .body = "x"}));
    ASSERT_TRUE(soon([&] { return seen.count() == 1; }));
    EXPECT_EQ(seen.lastTopic(), topic);
}

PATCHBAY_ON_EACH_STORE(Pushing);

}  // namespace
}  // namespace patchbay::test

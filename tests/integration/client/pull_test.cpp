// Proved: a pull consumer gets the messages it asks for, by subscription or assignment, and its progress is what it has acknowledged.
// How: against a running broker with each store, or a cluster named by the environment.
// Left to others: dividing queues (consumer_test does it with push consumers, the code is the same).
#include "ConsumerFixture.h"

#include "patchbay/client/PullConsumer.h"

namespace patchbay::test {
namespace {

using namespace std::chrono_literals;

class Pulling : public ConsumerFixture {
protected:
    client::PullConsumer puller(const client::PullOptions& made) {
        auto reader = client::PullConsumer::create(made);
        EXPECT_TRUE(reader) << reader.error().toString();
        return std::move(*reader);
    }
    client::PullOptions pullOptions() {
        client::PullOptions made;
        made.consumer = consumerOptions();
        return made;
    }
    static std::size_t drain(client::PullConsumer& reader, std::size_t wanted) {
        std::size_t count = 0;
        static_cast<void>(soon([&] {
            count += reader.poll(200ms)->size();
            return count >= wanted;
        }));
        return count;
    }
};

TEST_P(Pulling, ASubscribedTopicIsPolledAndAcknowledgedByTheNextPoll) {
    const auto topic = fresh("Polled");
    createTopic(topic, 2);
    send(topic, 30);
    const auto made = pullOptions();
    auto reader = puller(made);
    EXPECT_EQ(reader.poll(10ms).error().code(), StatusCode::Unavailable);
    ASSERT_TRUE(reader.subscribe(topic));
    EXPECT_EQ(reader.assign({}).code(), StatusCode::InvalidArgument);
    EXPECT_EQ(drain(reader, 30), 30U);
    ASSERT_EQ(reader.assignment().size(), 2U);
    EXPECT_TRUE(reader.poll(0ms)->empty());
    const auto sum = [&] {
        std::int64_t all = 0;
        for (const auto& queue : reader.assignment()) all += reader.committed(queue).value_or(0);
        return all;
    };
    EXPECT_TRUE(soon([&] { return sum() == 30; })) << sum();
}

TEST_P(Pulling, WhatIsNotCommittedComesAgain) {
    const auto topic = fresh("Uncommitted");
    createTopic(topic, 1);
    send(topic, 10);
    auto made = pullOptions();
    made.autoCommit = false;
    made.pollMax = 4;
    {
        auto reader = puller(made);
        ASSERT_TRUE(reader.subscribe(topic));
        Result<std::vector<client::ReceivedMessage>> first = std::vector<client::ReceivedMessage>();
        ASSERT_TRUE(soon([&] { first = reader.poll(200ms); return !first->empty(); }));
        ASSERT_EQ(first->size(), 4U);
        ASSERT_TRUE(reader.commit());
        EXPECT_EQ(reader.committed(first->front().queue()).value_or(-1), 4);
        EXPECT_EQ(reader.poll(1s)->size(), 4U);
    }
    auto next = puller(made);
    ASSERT_TRUE(next.subscribe(topic));
    Result<std::vector<client::ReceivedMessage>> again = std::vector<client::ReceivedMessage>();
    ASSERT_TRUE(soon([&] { again = next.poll(200ms); return !again->empty(); }));
    EXPECT_EQ(again->front().queueOffset(), 4);
}

TEST_P(Pulling, AssignedQueuesAreSoughtAndPaused) {
    const auto topic = fresh("Assigned");
    createTopic(topic, 2);
    send(topic, 20);
    auto reader = puller(pullOptions());
    const auto queues = reader.queuesOf(topic);
    ASSERT_TRUE(queues);
    ASSERT_EQ(queues->size(), 2U);
    ASSERT_TRUE(reader.assign({queues->front()}));
    EXPECT_EQ(drain(reader, 10), 10U);
    ASSERT_TRUE(reader.seek(queues->front(), 7));
    EXPECT_EQ(drain(reader, 3), 3U);
    EXPECT_EQ(reader.seek(queues->back(), 0).code(), StatusCode::NotFound);
    ASSERT_TRUE(reader.assign(*queues));
    ASSERT_TRUE(soon([&] { return reader.assignment().size() == 2; }));
    EXPECT_EQ(drain(reader, 10), 10U);
    reader.pause(std::span(&queues->front(), 1));
    ASSERT_TRUE(reader.seek(queues->front(), 0));
    EXPECT_TRUE(reader.poll(200ms)->empty());
    reader.resume(std::span(&queues->front(), 1));
    EXPECT_EQ(drain(reader, 10), 10U);
    EXPECT_EQ(reader.assign({{fresh("NoSuchTopic"), "b", 0}}).code(), StatusCode::NotFound);
}

PATCHBAY_ON_EACH_STORE(Pulling);

}  // namespace
}  // namespace patchbay::test

// Proved: what a producer sends arrives at a broker as it was meant, by every way of sending, and its receipts and errors are true.
// How: messages are looked at afterwards through the administrator's client, against either store or a cluster named by the environment.
// Left to others: what consumers make of them (consumer tests), retries and faults (unit tests with a scripted server).
#include "ClientFixture.h"

#include "patchbay/client/Producer.h"
#include "patchbay/client/TransactionProducer.h"
#include "patchbay/protocol/message/Properties.h"

#include <atomic>
#include <chrono>
#include <future>
#include <set>

namespace patchbay::test {
namespace {

using client::Message;
using client::Producer;
using client::ProducerOptions;
using client::ReceivedMessage;
using client::SendReceipt;

class Sending : public ClientFixture {
protected:
    ProducerOptions producerOptions() {
        ProducerOptions made;
        made.client = options();
        made.group = fresh("Producers");
        return made;
    }
    Producer producer() {
        auto made = Producer::create(producerOptions());
        EXPECT_TRUE(made) << made.error().toString();
        return std::move(*made);
    }
    /// That many messages from that of a receipt on. Queues may be written a moment after the answer.
    std::vector<ReceivedMessage> storedFrom(const SendReceipt& receipt, std::size_t count) {
        auto tool = admin();
        Result<std::vector<ReceivedMessage>> messages = std::vector<ReceivedMessage>();
        EXPECT_TRUE(soon([&] {
            messages = tool.messagesAt(receipt.queue, receipt.queueOffset, 32);
            return messages && messages->size() >= count;
        })) << messages.error().toString();
        return *messages;
    }
    /// How many messages the topic has.
    std::int64_t total(const std::string& topic) {
        const auto stats = admin().topicStats(topic);
        std::int64_t sum = 0;
        for (const auto& [queue, entry] : stats->offsetTable) sum += entry.maxOffset;
        return sum;
    }
    /// The stored message of a receipt.
    ReceivedMessage stored(const SendReceipt& receipt) {
        return storedFrom(receipt, 1).front();
    }
};

TEST_P(Sending, AMessageArrivesWithAllItsParts) {
    const auto topic = fresh("Parts");
    createTopic(topic);
    auto sender = producer();
    const Message message{.topic = topic, .body = std::string("bytes \0 \x01\x02", 9), .tags = "TagA", .keys = {"k1", "k2"},
                          .properties = {{"colour", "blau \xc3\xa4"}}, .flag = 7};
    const auto receipt = sender.send(message);
    ASSERT_TRUE(receipt) << receipt.error().toString();
    EXPECT_EQ(receipt->status, client::SendStatus::Ok);
    EXPECT_EQ(receipt->queue.topic, topic);
    const auto read = stored(*receipt);
    EXPECT_EQ(read.body(), message.body);
    EXPECT_EQ(read.tags(), "TagA");
    EXPECT_EQ(read.keys(), "k1 k2");
    EXPECT_EQ(read.property("colour"), "blau \xc3\xa4");
    EXPECT_EQ(read.flag(), 7);
    EXPECT_EQ(read.id(), receipt->messageId);
    EXPECT_EQ(read.offsetId(), receipt->offsetMessageId);
}

TEST_P(Sending, ATopicIsMadeByItsFirstMessage) {
    if (!admin().route("TBW102")) GTEST_SKIP() << "this broker makes no topics";
    auto sender = producer();
    const auto topic = fresh("MadeByUse");
    const auto receipt = sender.send({.topic = topic, .body = "x"});
    ASSERT_TRUE(receipt) << receipt.error().toString();
    EXPECT_EQ(sender.queues(topic)->size(), 4U);
    EXPECT_TRUE(soon([&] { return admin().route(topic).has_value(); }));
}

TEST_P(Sending, LargeBodiesArePackedAndUnpacked) {
    const auto topic = fresh("Packed");
    createTopic(topic);
    const std::string body(100'000, 'z');
    for (const auto codec : {client::Compression::None, client::Compression::Zlib, client::Compression::Lz4, client::Compression::Zstd}) {
        auto made = producerOptions();
        made.compression = codec;
        auto sender = Producer::create(made);
        ASSERT_TRUE(sender);
        const auto receipt = sender->send({.topic = topic, .body = body});
        ASSERT_TRUE(receipt) << receipt.error().toString();
        const auto read = stored(*receipt);
        EXPECT_EQ(read.body(), body);
        EXPECT_EQ((read.sysFlag() & 1) != 0, codec != client::Compression::None);
    }
}

TEST_P(Sending, ABatchIsStoredInOneQueueInOrder) {
    const auto topic = fresh("Batch");
    createTopic(topic);
    auto sender = producer();
    std::vector<Message> batch;
    for (int i = 0; i < 5; ++i) batch.push_back({.topic = topic, .body = "body " + std::to_string(i), .keys = {"k" + std::to_string(i)}});
    const auto receipt = sender.send(batch);
    ASSERT_TRUE(receipt) << receipt.error().toString();
    const auto messages = storedFrom(*receipt, 5);
    ASSERT_EQ(messages.size(), 5U);
    std::string ids;
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(messages[i].body(), batch[i].body);
        ids.append(ids.empty() ? "" : ",").append(messages[i].id());
    }
    EXPECT_EQ(receipt->messageId, ids);
}

TEST_P(Sending, GatheredMessagesAreStoredEachWhereItsReceiptSays) {
    const auto topic = fresh("Gathered");
    createTopic(topic);
    auto made = producerOptions();
    made.gatherTime = std::chrono::milliseconds(20);
    auto sender = Producer::create(made);
    ASSERT_TRUE(sender);
    std::vector<std::future<Result<client::SendReceipt>>> outcomes;
    for (int i = 0; i < 50; ++i) outcomes.push_back(sender->sendAsync({.topic = topic, .body = "body " + std::to_string(i), .keys = {"k" + std::to_string(i)}}));
    for (int i = 0; i < 50; ++i) {
        const auto receipt = outcomes[static_cast<std::size_t>(i)].get();
        ASSERT_TRUE(receipt) << receipt.error().toString();
        const auto read = stored(*receipt);
        EXPECT_EQ(read.body(), "body " + std::to_string(i));
        EXPECT_EQ(read.id(), receipt->messageId);
        EXPECT_EQ(read.offsetId(), receipt->offsetMessageId);
    }
    EXPECT_EQ(total(topic), 50);
}

TEST_P(Sending, RoundRobinUsesAllQueuesAndAKeyOnlyOne) {
    const auto topic = fresh("Queues");
    createTopic(topic, 4);
    auto sender = producer();
    std::set<std::int32_t> used;
    std::set<std::int32_t> keyed;
    for (int i = 0; i < 8; ++i) used.insert(sender.send({.topic = topic, .body = "x"})->queue.queueId);
    for (int i = 0; i < 8; ++i) keyed.insert(sender.send({.topic = topic, .body = "x"}, {.orderKey = "machine 7"})->queue.queueId);
    EXPECT_EQ(used.size(), 4U);
    EXPECT_EQ(keyed.size(), 1U);
    const auto chosen = sender.send({.topic = topic, .body = "x"}, {.selector = [](auto queues) { return queues.size() - 1; }});
    EXPECT_EQ(chosen->queue.queueId, 3);
    const auto out = sender.send({.topic = topic, .body = "x"}, {.selector = [](auto queues) { return queues.size(); }});
    EXPECT_EQ(out.error().code(), StatusCode::InvalidArgument);
}

TEST_P(Sending, AsynchronousMessagesAllEnd) {
    const auto topic = fresh("Async");
    createTopic(topic);
    constexpr int kMessages = 500;
    std::atomic<int> good{0};
    {
        auto sender = producer();
        for (int i = 0; i < kMessages; ++i) {
            sender.sendAsync({.topic = topic, .body = "x"}, [&](const auto& receipt) { good += receipt ? 1 : 0; });
        }
        auto future = sender.sendAsync({.topic = topic, .body = "last"});
        EXPECT_TRUE(future.get());
    }
    // The destructor has waited for all callbacks.
    EXPECT_EQ(good, kMessages);
    EXPECT_TRUE(soon([&] { return total(topic) == kMessages + 1; })) << total(topic);
}

TEST_P(Sending, OnewayMessagesArriveBeforeTheProducerIsGone) {
    const auto topic = fresh("Oneway");
    createTopic(topic, 1);
    {
        auto sender = producer();
        ASSERT_TRUE(sender.send({.topic = topic, .body = "connects"}));
        for (int i = 0; i < 20; ++i) ASSERT_TRUE(sender.sendOneway({.topic = topic, .body = "x"}));
    }
    EXPECT_TRUE(soon([&] { return total(topic) == 21; })) << total(topic);
}

TEST_P(Sending, MessagesThatBreakARuleAreRefusedHere) {
    auto sender = producer();
    const auto refused = [&](const Message& message) { return sender.send(message).error().code() == StatusCode::InvalidArgument; };
    EXPECT_TRUE(refused({.topic = "", .body = "x"}));
    EXPECT_TRUE(refused({.topic = "bad topic", .body = "x"}));
    EXPECT_TRUE(refused({.topic = "T", .body = ""}));
    EXPECT_TRUE(refused({.topic = "SCHEDULE_TOPIC_XXXX", .body = "x"}));
    EXPECT_TRUE(refused({.topic = "T", .body = "x", .properties = {{"UNIQ_KEY", "mine"}}}));
    EXPECT_TRUE(refused({.topic = "T", .body = "x", .properties = {{"a", "b\x01"}}}));
    EXPECT_TRUE(refused({.topic = "T", .body = "x", .delayLevel = 0}));
    EXPECT_TRUE(refused({.topic = "T", .body = "x", .delayLevel = 1, .delay = std::chrono::seconds(1)}));
    EXPECT_TRUE(refused({.topic = "T", .body = std::string((4U << 20) + 1, 'x')}));
    EXPECT_EQ(sender.send(std::span<const Message>()).error().code(), StatusCode::InvalidArgument);
}

TEST_P(Sending, AMessageIsFoundByItsIdsAndItsKeys) {
    const auto topic = fresh("Lookup");
    createTopic(topic);
    auto sender = producer();
    const auto receipt = sender.send({.topic = topic, .body = "find me", .keys = {"order-17"}});
    ASSERT_TRUE(receipt);
    auto tool = admin();
    const auto byOffsetId = tool.messageByOffsetId(topic, receipt->offsetMessageId);
    ASSERT_TRUE(byOffsetId) << byOffsetId.error().toString();
    EXPECT_EQ(byOffsetId->body(), "find me");
    // Indexes may be written a moment later.
    ASSERT_TRUE(soon([&] { return tool.messageById(topic, receipt->messageId).has_value(); }));
    EXPECT_EQ(tool.messageById(topic, receipt->messageId)->body(), "find me");
    const auto byKey = tool.messagesByKey(topic, "order-17", 10, 0, INT64_MAX);
    ASSERT_TRUE(byKey) << byKey.error().toString();
    ASSERT_EQ(byKey->size(), 1U);
}

TEST_P(Sending, ADelayLevelIsLeftToTheBroker) {
    const auto topic = fresh("Delay");
    createTopic(topic, 1);
    auto sender = producer();
    const auto receipt = sender.send({.topic = topic, .body = "later", .delayLevel = 18});
    ASSERT_TRUE(receipt) << receipt.error().toString();
    EXPECT_EQ(total(topic), 0);
}

class Books final : public client::TransactionListener {
public:
    client::TransactionState execute(const Message&, const SendReceipt&) override { return state; }
    client::TransactionState check(const ReceivedMessage&) override { return client::TransactionState::Commit; }
    client::TransactionState state = client::TransactionState::Commit;
};

TEST_P(Sending, ATransactionIsVisibleAfterItsCommitOnly) {
    const auto topic = fresh("Transaction");
    createTopic(topic, 1);
    Books books;
    auto sender = client::TransactionProducer::create(producerOptions(), books);
    ASSERT_TRUE(sender) << sender.error().toString();
    books.state = client::TransactionState::Rollback;
    ASSERT_TRUE(sender->send({.topic = topic, .body = "rolled back"}));
    books.state = client::TransactionState::Commit;
    const auto receipt = sender->send({.topic = topic, .body = "committed", .properties = {{"p", "q"}}});
    ASSERT_TRUE(receipt) << receipt.error().toString();
    EXPECT_EQ(receipt->state, client::TransactionState::Commit);
    auto tool = admin();
    const auto visible = [&] { return tool.topicStats(topic)->offsetTable.begin()->second.maxOffset; };
    ASSERT_TRUE(soon([&] { return visible() > 0; }));
    EXPECT_EQ(visible(), 1);
    auto first = receipt->sent;
    first.queueOffset = 0;
    const auto committed = storedFrom(first, 1).front();
    EXPECT_EQ(committed.body(), "committed");
    EXPECT_EQ(committed.id(), receipt->sent.messageId);
}

TEST_P(Sending, ErrorsSayWhatToDo) {
    auto made = producerOptions();
    made.client.nameServers = "127.0.0.1:1";
    made.sendTimeout = std::chrono::milliseconds(300);
    auto sender = Producer::create(made);
    ASSERT_TRUE(sender);
    const auto lost = sender->send({.topic = "T", .body = "x"});
    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code(), StatusCode::Unavailable) << lost.error().toString();
    made.group = "";
    EXPECT_EQ(Producer::create(made).error().code(), StatusCode::InvalidArgument);
    sender->close();
    EXPECT_EQ(sender->send({.topic = "T", .body = "x"}).error().code(), StatusCode::Unavailable);
    sender->close();
}

TEST_P(Sending, NamespacesSeparateTenants) {
    auto made = producerOptions();
    made.client.nameSpace = "tenant1";
    const auto topic = fresh("Shared");
    createTopic("tenant1%" + topic);
    auto sender = Producer::create(made);
    ASSERT_TRUE(sender);
    const auto receipt = sender->send({.topic = topic, .body = "x"});
    ASSERT_TRUE(receipt) << receipt.error().toString();
    EXPECT_EQ(receipt->queue.topic, "tenant1%" + topic);
}

PATCHBAY_ON_EACH_STORE(Sending);

}  // namespace
}  // namespace patchbay::test

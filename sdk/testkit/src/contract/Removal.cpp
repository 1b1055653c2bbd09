// Trimming, deleting topics, and what readers hold meanwhile.
#include "Groups.h"

namespace patchbay::testkit {

void linkRemovalTests() {}

namespace {

using service::ReadStatus;

TEST_P(MessageStoreContract, TrimMovesTheMinimumAndKeepsTheRest) {
    appendMany(100);
    appendMany(5, "Other");
    const auto cut = messagesOf(read("TopicTest", 0, 60, ReadStatus::Found)).at(0).physicalOffset;
    const auto range = store().range("TopicTest", 0);
    ASSERT_TRUE(store().trim(cut));
    const auto after = store().range("TopicTest", 0);
    EXPECT_EQ(after.max, range.max);
    ASSERT_LE(after.min, 60);
    observed("trims to the message", after.min == 60 ? "yes" : "no");
    if (after.min > 0) {
        EXPECT_EQ(read("TopicTest", 0, 0, ReadStatus::OffsetTooSmall).nextOffset, after.min);
        EXPECT_EQ(store().at(0).error().code(), StatusCode::NotFound);
        EXPECT_EQ(*store().offsetAt("TopicTest", 0, 0, service::Bound::Lower), after.min);
    }
    const auto rest = bodies("TopicTest", 0, after.min);
    ASSERT_EQ(rest.size(), static_cast<std::size_t>(100 - after.min));
    EXPECT_EQ(rest.front(), "body-" + std::to_string(after.min));
    EXPECT_EQ(bodies("Other").size(), 5U);
    EXPECT_GE(store().stats().minPhysicalOffset, 0);
    if (durable()) {
        close();
        EXPECT_EQ(store().range("TopicTest", 0).min, after.min);
    }
    EXPECT_EQ(appendOne(store(), {}).queueOffset, 100);
}

TEST_P(MessageStoreContract, OffsetsGoOnAfterEverythingWasTrimmed) {
    appendMany(10);
    const auto last = appendOne(store(), {});
    ASSERT_TRUE(store().trim(last.physicalOffset + last.recordBytes));
    const auto range = store().range("TopicTest", 0);
    EXPECT_EQ(range.max, 11);
    if (range.min == 11) {
        read("TopicTest", 0, 11, ReadStatus::OffsetAtEnd);
        read("TopicTest", 0, 10, ReadStatus::OffsetTooSmall);
        EXPECT_EQ(*store().offsetAt("TopicTest", 0, clock.wallMs(), service::Bound::Lower), 11);
    }
    if (durable()) close();
    const auto next = appendOne(store(), {.body = "next"});
    EXPECT_EQ(next.queueOffset, 11);
    EXPECT_GT(next.physicalOffset, last.physicalOffset);
    EXPECT_EQ(bodies("TopicTest", 0, 11), std::vector<std::string>{"next"});
}

TEST_P(MessageStoreContract, ReadersKeepTheirBytesAcrossTrimDeleteAndLaterAppends) {
    appendMany(50);
    service::ReadResult held;
    store().read("TopicTest", 0, 10, {.messagesMax = 5}, nullptr, held);
    ASSERT_EQ(held.status, ReadStatus::Found);
    const auto before = messagesOf(held);
    const auto slice = store().at(before.at(0).physicalOffset);
    ASSERT_TRUE(slice);
    ASSERT_TRUE(store().trim(store().stats().maxPhysicalOffset));
    ASSERT_TRUE(store().deleteTopic("TopicTest"));
    for (int i = 0; i < 20; ++i) appendOne(store(), {.topic = "Fresh", .body = std::string(100'000, 'f')});
    const auto after = messagesOf(held);
    ASSERT_EQ(after.size(), 5U);
    for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i].body, "body-" + std::to_string(10 + i));
    EXPECT_EQ(parseRecords(slice->bytes).at(0).body, "body-10");
}

TEST_P(MessageStoreContract, HeldBytesOutliveTheStore) {
    appendMany(20);
    service::ReadResult held;
    store().read("TopicTest", 0, 5, {.messagesMax = 5}, nullptr, held);
    ASSERT_EQ(held.status, ReadStatus::Found);
    const auto slice = store().at(messagesOf(held).at(0).physicalOffset);
    ASSERT_TRUE(slice);
    close();
    const auto after = messagesOf(held);
    ASSERT_EQ(after.size(), 5U);
    for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i].body, "body-" + std::to_string(5 + i));
    EXPECT_EQ(parseRecords(slice->bytes).at(0).body, "body-5");
}

TEST_P(MessageStoreContract, ADeletedTopicIsForgottenAndStartsAgainAtZero) {
    appendMany(5);
    appendMany(5, "TopicTest", 1);
    appendMany(5, "TopicTest2");
    const auto gone = messagesOf(read("TopicTest", 0, 0, ReadStatus::Found)).at(0).physicalOffset;
    EXPECT_TRUE(store().deleteTopic("TopicTest"));
    EXPECT_FALSE(store().range("TopicTest", 0).exists);
    read("TopicTest", 1, 0, ReadStatus::NoSuchQueue);
    EXPECT_EQ(store().at(gone).error().code(), StatusCode::NotFound);
    EXPECT_EQ(store().queues().size(), 1U);
    EXPECT_EQ(bodies("TopicTest2").size(), 5U);
    if (durable()) {
        killAndReopen();
        EXPECT_FALSE(store().range("TopicTest", 0).exists);
    }
    EXPECT_EQ(appendOne(store(), {.body = "new"}).queueOffset, 0);
    EXPECT_EQ(bodies(), std::vector<std::string>{"new"});
    EXPECT_TRUE(store().deleteTopic("NeverThere"));
}

TEST_P(MessageStoreContract, CapabilitiesAreWhatTheyClaim) {
    const auto can = store().capabilities();
    EXPECT_FALSE(can.name.empty());
    appendMany(3);
    service::ReadResult first;
    service::ReadResult second;
    store().read("TopicTest", 0, 0, {}, nullptr, first);
    store().read("TopicTest", 0, 0, {}, nullptr, second);
    ASSERT_EQ(first.status, ReadStatus::Found);
    ASSERT_EQ(second.status, ReadStatus::Found);
    const bool shared = first.pieces.at(0).data() == second.pieces.at(0).data();
    EXPECT_TRUE(shared || !can.zeroCopyRead) << "two reads of the same message are two copies";
    observed("backend", can.name);
    observed("zero-copy reads of fresh messages", shared ? "yes" : "no");
    observed("zero-copy reads of old messages", can.zeroCopyRead ? "yes" : "no");
    observed("durable", can.durable ? "yes" : "no");
    observed("replication stream (declared)", can.replicationStream ? "yes" : "no");
    observed("SQL (declared)", can.sql ? "yes" : "no");
    observed("batches in one record (declared)", can.innerBatches ? "yes" : "no");
    observed("RocketMQ's commit log (declared)", can.commitLog ? "yes" : "no");
}

}  // namespace
}  // namespace patchbay::testkit

// Trimming, deleting topics, and what readers hold meanwhile.
#include "Groups.h"

#include <limits>

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
        EXPECT_EQ(*store().offsetAt("TopicTest", 0, 0, service::Bound::Upper), after.min);
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

TEST_P(MessageStoreContract, ATrimFreesWhatItPromisesAndAKillDoesNotBringItBack) {
    const std::int64_t grain = GetParam().traits.trimGrainBytes;
    std::int64_t count = 0;
    for (std::int64_t bytes = 0; bytes < 2 * grain || count < 20; bytes += 1'000'000, ++count) {
        ASSERT_EQ(appendOne(store(), {.body = std::string(grain > 0 ? 1'000'000 : 100, 'b')}).status, service::AppendStatus::PutOk);
    }
    const auto end = store().stats().maxPhysicalOffset;
    EXPECT_EQ(store().stats().minPhysicalOffset, 0);
    ASSERT_TRUE(store().trim(end));
    const auto expectTrimmed = [&] {
        const auto range = store().range("TopicTest", 0);
        EXPECT_EQ(range.max, count);
        EXPECT_GT(range.min, 0) << "nothing was removed";
        const auto stats = store().stats();
        EXPECT_GE(stats.minPhysicalOffset, end - grain) << "less was removed than the grain allows";
        EXPECT_LE(stats.minPhysicalOffset, end);
        EXPECT_EQ(read("TopicTest", 0, 0, ReadStatus::OffsetTooSmall).nextOffset, range.min);
        EXPECT_EQ(store().at(0).error().code(), StatusCode::NotFound);
        EXPECT_EQ(store().storeTimeAt("TopicTest", 0, 0).error().code(), StatusCode::NotFound);
        EXPECT_EQ(static_cast<std::int64_t>(bodies("TopicTest", 0, range.min).size()), count - range.min);
        return range.min;
    };
    const auto min = expectTrimmed();
    // Behind the end there is nothing to remove, and backwards neither.
    const auto minPhysical = store().stats().minPhysicalOffset;
    ASSERT_TRUE(store().trim(0));
    ASSERT_TRUE(store().trim(-1));
    EXPECT_EQ(expectTrimmed(), min);
    EXPECT_EQ(store().stats().minPhysicalOffset, minPhysical);
    if (durable()) {
        killAndReopen();
        EXPECT_EQ(expectTrimmed(), min);
    }
    expectAppends(count);
}

TEST_P(MessageStoreContract, ATrimBeyondTheEndTakesNothingThatComesLater) {
    appendMany(5);
    const auto end = store().stats().maxPhysicalOffset;
    ASSERT_TRUE(store().trim(std::numeric_limits<std::int64_t>::max()));
    EXPECT_LE(store().stats().minPhysicalOffset, end);
    EXPECT_EQ(store().stats().maxPhysicalOffset, end);
    const auto next = appendOne(store(), {.body = "body-5"});
    EXPECT_EQ(next.queueOffset, 5);
    EXPECT_GE(next.physicalOffset, end);
    const auto expectThere = [&] {
        EXPECT_EQ(bodies("TopicTest", 0, 5), std::vector<std::string>{"body-5"});
        EXPECT_TRUE(store().at(next.physicalOffset));
    };
    expectThere();
    if (durable()) {
        killAndReopen();
        expectThere();
    }
    expectAppends(6);
}

TEST_P(MessageStoreContract, PhysicalOffsetsGrowThoughTheirMessagesAreGone) {
    std::int64_t last = -1;
    for (int round = 0; round < 3; ++round) {
        appendMany(3, "Gone");
        const auto newest = appendOne(store(), {.topic = "Gone"});
        EXPECT_GT(newest.physicalOffset, last);
        last = newest.physicalOffset;
        ASSERT_TRUE(store().deleteTopic("Gone"));
        if (!durable()) continue;
        if (round == 0) close();
        else killAndReopen();
        const auto fresh = appendOne(store(), {.topic = "Gone"});
        EXPECT_GT(fresh.physicalOffset, last) << "a number that a message had is given to another one";
        EXPECT_EQ(fresh.queueOffset, 0);
        EXPECT_EQ(store().at(last).error().code(), StatusCode::NotFound);
        last = fresh.physicalOffset;
        ASSERT_TRUE(store().deleteTopic("Gone"));
    }
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
    const auto isShared = [&] {
        service::ReadResult first;
        service::ReadResult second;
        store().read("TopicTest", 0, 0, {}, nullptr, first);
        store().read("TopicTest", 0, 0, {}, nullptr, second);
        EXPECT_EQ(first.status, ReadStatus::Found);
        EXPECT_EQ(second.status, ReadStatus::Found);
        return !first.pieces.empty() && !second.pieces.empty() && first.pieces[0].data() == second.pieces[0].data();
    };
    const bool fresh = isShared();
    EXPECT_TRUE(fresh || !can.zeroCopyRead) << "two reads of the same message are two copies";
    observed("backend", can.name);
    observed("zero-copy reads of fresh messages", fresh ? "yes" : "no");
    observed("durable (declared)", can.durable ? "yes" : "no");
    observed("replication stream (declared)", can.replicationStream ? "yes" : "no");
    observed("SQL (declared)", can.sql ? "yes" : "no");
    observed("batches in one record (declared)", can.innerBatches ? "yes" : "no");
    observed("RocketMQ's commit log (declared)", can.commitLog ? "yes" : "no");
    if (!can.durable) return;
    close();
    const bool old = isShared();
    EXPECT_TRUE(old || !can.zeroCopyRead) << "two reads of the same message are two copies after a restart";
    observed("zero-copy reads of old messages", old ? "yes" : "no");
}

}  // namespace
}  // namespace patchbay::testkit

// Finding messages by time and by key.
#include "Groups.h"

#include <limits>

namespace patchbay::testkit {

void linkLookupTests() {}

namespace {

using service::Bound;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

TEST_P(MessageStoreContract, OffsetsByTimeFollowTheTable) {
    const std::int64_t base = 1'700'000'000'000;
    for (const int t : {10, 10, 20, 20, 30}) {
        clock.setWallMs(base + t);
        appendOne(store(), {});
    }
    const auto at = [&](std::int64_t time, Bound bound) {
        const auto offset = store().offsetAt("TopicTest", 0, time, bound);
        return offset ? *offset : -1;
    };
    struct Row {
        std::int64_t time;
        std::int64_t lower;
        std::int64_t upper;
    };
    for (const Row& row : {Row{base + 20, 2, 3}, Row{base + 15, 2, 1}, Row{base + 5, 0, 0}, Row{base + 10, 0, 1}, Row{base + 30, 4, 4},
                           Row{base + 31, 5, 4}, Row{base + 35, 5, 4}, Row{-1, 0, 0}, Row{0, 0, 0}, Row{kNever, 5, 4}}) {
        SCOPED_TRACE(row.time - base);
        EXPECT_EQ(at(row.time, Bound::Lower), row.lower);
        EXPECT_EQ(at(row.time, Bound::Upper), row.upper);
    }
    EXPECT_EQ(*store().offsetAt("NoSuchTopic", 0, base, Bound::Lower), 0);
    EXPECT_EQ(*store().storeTimeAt("TopicTest", 0, 2), base + 20);
    EXPECT_EQ(*store().storeTimeAt("TopicTest", 0, 4), base + 30);
    EXPECT_EQ(store().storeTimeAt("TopicTest", 0, 5).error().code(), StatusCode::NotFound);
    EXPECT_EQ(store().storeTimeAt("TopicTest", 0, -1).error().code(), StatusCode::NotFound);
    EXPECT_EQ(store().storeTimeAt("NoSuchTopic", 0, 0).error().code(), StatusCode::NotFound);
}

TEST_P(MessageStoreContract, TimeSearchIsExactInALongQueue) {
    const std::int64_t base = clock.wallMs();
    for (int i = 0; i < 300; ++i) {
        clock.setWallMs(base + i * 10);
        appendOne(store(), {});
    }
    for (int i = 0; i < 300; ++i) {
        ASSERT_EQ(*store().offsetAt("TopicTest", 0, base + i * 10, Bound::Lower), i);
        ASSERT_EQ(*store().offsetAt("TopicTest", 0, base + i * 10 - 1, Bound::Lower), i);
        ASSERT_EQ(*store().offsetAt("TopicTest", 0, base + i * 10, Bound::Upper), i);
    }
}

TEST_P(MessageStoreContract, KeysAreFoundNewestFirst) {
    if (!store().capabilities().keyIndex) {
        EXPECT_EQ(store().findByKey({.topic = "TopicTest", .key = "k"}).error().code(), StatusCode::Unsupported);
        observed("key index", "no");
        GTEST_SKIP() << "no key index";
    }
    const auto find = [&](std::string_view key, service::KeyQuery query = {.topic = "TopicTest", .key = {}, .endMs = kNever}) {
        query.key = key;
        std::vector<std::string> found;
        const auto hits = store().findByKey(query);
        EXPECT_TRUE(hits) << hits.error().toString();
        if (!hits) return found;
        for (const auto& hit : hits->hits) {
            const auto message = parseRecords(hit.record.bytes).at(0);
            EXPECT_EQ(message.physicalOffset, hit.physicalOffset);
            found.push_back(message.body);
        }
        return found;
    };
    using List = std::vector<std::string>;
    EXPECT_TRUE(find("k").empty());
    const std::int64_t start = clock.wallMs();
    appendOne(store(), {.body = "1", .keys = "k shared", .uniqueKey = "U1"});
    clock.advance(std::chrono::hours(1));
    appendOne(store(), {.queueId = 1, .body = "2", .keys = "k  Aa", .uniqueKey = "U2"});
    appendOne(store(), {.body = "3", .keys = "BB shared"});
    appendOne(store(), {.topic = "Other", .body = "4", .keys = "k"});

    EXPECT_EQ(find("k"), (List{"2", "1"}));
    EXPECT_EQ(find("shared"), (List{"3", "1"}));
    EXPECT_EQ(find("Aa"), List{"2"}) << "a key whose hash collides with another";
    EXPECT_EQ(find("BB"), List{"3"});
    EXPECT_EQ(find("U1"), List{"1"});
    EXPECT_TRUE(find("k shared").empty());
    EXPECT_TRUE(find("").empty());
    EXPECT_EQ(find("k", {.topic = "Other", .key = {}, .endMs = kNever}), List{"4"});
    EXPECT_EQ(find("k", {.topic = "TopicTest", .key = {}, .endMs = kNever, .messagesMax = 1}), List{"2"});
    EXPECT_EQ(find("U2", {.topic = "TopicTest", .key = {}, .endMs = kNever, .uniqueKey = true}), List{"2"});
    EXPECT_TRUE(find("Aa", {.topic = "TopicTest", .key = {}, .endMs = kNever, .uniqueKey = true}).empty());
    EXPECT_EQ(find("k", {.topic = "TopicTest", .key = {}, .beginMs = start - 1000, .endMs = start + 1000}), List{"1"});
    EXPECT_TRUE(find("k", {.topic = "TopicTest", .key = {}, .beginMs = start + 1, .endMs = start + 1000}).empty());

    const auto hits = store().findByKey({.topic = "TopicTest", .key = "k", .endMs = kNever});
    EXPECT_EQ(hits->indexTimestampMs, clock.wallMs());
    if (durable()) {
        close();
        EXPECT_EQ(find("k"), (List{"2", "1"}));
    }
    observed("key index", "yes");
}

TEST_P(MessageStoreContract, TimeSearchStaysInTheQueueWhenTheClockGoesBack) {
    const std::int64_t base = clock.wallMs();
    for (const int t : {100, 200, 50, 60, 300}) {
        clock.setWallMs(base + t);
        ASSERT_EQ(appendOne(store(), {}).status, service::AppendStatus::PutOk);
    }
    // Where times do not grow there is no right answer but one of the queue.
    for (int t = 0; t <= 350; t += 10) {
        for (const Bound bound : {Bound::Lower, Bound::Upper}) {
            const auto offset = store().offsetAt("TopicTest", 0, base + t, bound);
            ASSERT_TRUE(offset) << offset.error().toString();
            EXPECT_GE(*offset, 0);
            EXPECT_LE(*offset, bound == Bound::Lower ? 5 : 4);
        }
    }
    EXPECT_EQ(*store().offsetAt("TopicTest", 0, base + 301, Bound::Lower), 5);
    EXPECT_EQ(*store().offsetAt("TopicTest", 0, base + 40, Bound::Lower), 0);
    EXPECT_EQ(bodies().size(), 5U);
}

TEST_P(MessageStoreContract, KeysOfWhatWasRemovedAreNotFound) {
    if (!store().capabilities().keyIndex) GTEST_SKIP() << "no key index";
    const auto found = [&](std::string_view key, std::string_view topic = "TopicTest") {
        std::vector<std::string> all;
        const auto hits = store().findByKey({.topic = topic, .key = key, .endMs = kNever});
        EXPECT_TRUE(hits) << hits.error().toString();
        if (!hits) return all;
        for (const auto& hit : hits->hits) {
            EXPECT_GE(hit.physicalOffset, store().stats().minPhysicalOffset) << "a message that was trimmed";
            all.push_back(parseRecords(hit.record.bytes).at(0).body);
        }
        return all;
    };
    using List = std::vector<std::string>;
    appendOne(store(), {.body = "old", .keys = "k"});
    appendOne(store(), {.topic = "Other", .body = "other", .keys = "k"});
    ASSERT_TRUE(store().deleteTopic("TopicTest"));
    EXPECT_TRUE(found("k").empty()) << "of a deleted topic";
    appendOne(store(), {.body = "new", .keys = "k"});
    EXPECT_EQ(found("k"), List{"new"}) << "of a topic that is there again";
    EXPECT_EQ(found("k", "Other"), List{"other"});
    if (durable()) {
        killAndReopen();
        EXPECT_EQ(found("k"), List{"new"}) << "after a kill";
        EXPECT_EQ(found("k", "Other"), List{"other"});
    }
    const std::int64_t grain = GetParam().traits.trimGrainBytes;
    for (std::int64_t bytes = 0; bytes < 2 * grain; bytes += 1'000'000) appendOne(store(), {.topic = "Fill", .body = std::string(1'000'000, 'f')});
    ASSERT_TRUE(store().trim(store().stats().maxPhysicalOffset));
    EXPECT_TRUE(found("k").empty()) << "of a trimmed message";
    EXPECT_TRUE(found("k", "Other").empty());
    appendOne(store(), {.body = "newest", .keys = "k"});
    EXPECT_EQ(found("k"), List{"newest"});
    if (!durable()) return;
    close();
    EXPECT_EQ(found("k"), List{"newest"});
}

}  // namespace
}  // namespace patchbay::testkit

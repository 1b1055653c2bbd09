// Order, limits, batches and filters: what append and read promise to each other.
#include "Groups.h"
#include "Recorder.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/util/Hash.h"
#include "patchbay/service/QueueEnds.h"

namespace patchbay::testkit {

void linkBasicTests() {}

namespace {

using service::AppendStatus;
using service::ReadStatus;

class TagFilter : public service::ReadFilter {
public:
    explicit TagFilter(std::string_view tag) : code_(protocol::tagsCode(tag)) {}
    [[nodiscard]] bool matchesTags(std::int64_t code) const noexcept override { return code == code_; }

private:
    std::int64_t code_;
};

/// Wants records whose body ends in an odd digit.
class OddBodies final : public service::ReadFilter {
public:
    [[nodiscard]] bool matchesTags(std::int64_t) const noexcept override { return true; }
    [[nodiscard]] bool needsRecord() const noexcept override { return true; }
    [[nodiscard]] bool matchesRecord(std::string_view record) const noexcept override {
        protocol::RecordView view;
        if (protocol::RecordView::parse(record, view) != protocol::RecordStatus::Message || view.body.empty()) return false;
        return (view.body.back() - '0') % 2 == 1;
    }
};

TEST_P(MessageStoreContract, QueueOffsetsAreDenseAndPhysicalOffsetsGrow) {
    std::int64_t physical = -1;
    for (std::int64_t i = 0; i < 20; ++i) {
        for (const std::int32_t queue : {0, 3}) {
            const auto item = appendOne(store(), {.queueId = queue, .body = std::string(static_cast<std::size_t>(i), 'x')});
            ASSERT_EQ(item.status, AppendStatus::PutOk);
            EXPECT_EQ(item.queueOffset, i);
            EXPECT_GT(item.physicalOffset, physical);
            physical = item.physicalOffset;
        }
    }
    EXPECT_EQ(store().range("TopicTest", 3).max, 20);
    EXPECT_EQ(store().queues().size(), 2U);
}

TEST_P(MessageStoreContract, ReadReturnsWhatWasAppendedByteForByte) {
    std::string everyByte;
    for (int byte = 0; byte < 256; ++byte) everyByte += static_cast<char>(byte);
    TestBatch batch;
    auto& item = batch.add({.topic = "%RETRY%group-1", .queueId = 2, .body = everyByte, .tags = "TagA", .keys = "k1 k2"});
    item.flag = 7;
    item.sysFlag = protocol::kSysFlagCompressed;
    item.reconsumeTimes = 3;
    item.preparedTransactionOffset = 12'345;
    item.bornHost = SocketAddress::v6({0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 50'000);
    const std::string broker = std::string("CLUSTER") + '\x01' + "c\xC3\xA9" + '\x02';
    item.brokerProperties = broker;
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    ASSERT_EQ(item.status, AppendStatus::PutOk) << batch.failure.toString();
    EXPECT_EQ(item.storeTimestamp, clock.wallMs());

    const auto& result = read("%RETRY%group-1", 2, 0, ReadStatus::Found);
    ASSERT_EQ(result.messages, 1);
    std::string joined;
    for (const auto piece : result.pieces) joined += piece;
    protocol::RecordView view;
    ASSERT_EQ(protocol::RecordView::parse(joined, view), protocol::RecordStatus::Message);
    EXPECT_EQ(view.size, item.recordBytes);
    EXPECT_EQ(view.topic, "%RETRY%group-1");
    EXPECT_EQ(view.body, everyByte);
    EXPECT_EQ(view.properties, std::string(item.properties) + broker);
    EXPECT_EQ(view.queueId, 2);
    EXPECT_EQ(view.flag, 7);
    EXPECT_EQ(view.sysFlag, protocol::kSysFlagCompressed | protocol::kSysFlagBornHostV6);
    EXPECT_EQ(view.reconsumeTimes, 3);
    EXPECT_EQ(view.preparedTransactionOffset, 12'345);
    EXPECT_EQ(view.bornTimestamp, item.bornTimestamp);
    EXPECT_EQ(view.storeTimestamp, item.storeTimestamp);
    EXPECT_EQ(view.queueOffset, 0);
    EXPECT_EQ(view.physicalOffset, item.physicalOffset);
    EXPECT_EQ(view.bornHost(), item.bornHost);
    EXPECT_EQ(view.storeHost(), item.storeHost);

    const auto same = store().at(item.physicalOffset);
    ASSERT_TRUE(same) << same.error().toString();
    EXPECT_EQ(same->bytes, joined);
    EXPECT_EQ(store().at(item.physicalOffset + 1).error().code(), StatusCode::NotFound);
    EXPECT_EQ(store().at(-1).error().code(), StatusCode::NotFound);
}

TEST_P(MessageStoreContract, HalfMessagesAndRollBacksAreStoredButStandInNoQueue) {
    const std::int32_t flags[] = {protocol::kSysFlagNotTransactional, protocol::kSysFlagPrepared, protocol::kSysFlagCommit, protocol::kSysFlagRollback};
    Recorder listener;
    store().addListener(listener);
    TestBatch batch;
    for (const std::int32_t flag : flags) batch.add({.body = "flag-" + std::to_string(flag), .keys = "k"}).sysFlag = flag;
    batch.add({.topic = "HalvesOnly", .body = "half"}).sysFlag = protocol::kSysFlagPrepared;
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    store().removeListener(listener);
    std::int64_t physical = -1;
    for (const auto& item : batch.items) {
        ASSERT_EQ(item.status, AppendStatus::PutOk) << batch.failure.toString();
        EXPECT_EQ(item.queueOffset, item.sysFlag == protocol::kSysFlagCommit ? 1 : 0);
        EXPECT_GT(item.physicalOffset, physical);
        physical = item.physicalOffset;
    }
    const auto told = listener.told();
    ASSERT_EQ(told.size(), 2U) << "listeners wake readers of a queue";
    EXPECT_EQ(told[1].physicalOffset, batch.items[2].physicalOffset);
    EXPECT_EQ(store().stats().messagesAppended, 5);

    const auto expectAll = [&] {
        EXPECT_EQ(bodies(), (std::vector<std::string>{"flag-0", "flag-8"}));
        EXPECT_EQ(store().range("TopicTest", 0).max, 2);
        EXPECT_EQ(store().range("HalvesOnly", 0).max, 0);
        EXPECT_TRUE(bodies("HalvesOnly").empty());
        for (std::size_t i = 0; i < std::size(flags); ++i) {
            const auto record = store().at(batch.items[i].physicalOffset);
            ASSERT_TRUE(record) << record.error().toString();
            protocol::RecordView view;
            ASSERT_EQ(protocol::RecordView::parse(record->bytes, view), protocol::RecordStatus::Message);
            EXPECT_EQ(view.sysFlag, flags[i]);
            EXPECT_EQ(view.queueOffset, batch.items[i].queueOffset);
        }
        if (!store().capabilities().keyIndex) return;
        const auto hits = store().findByKey({.topic = "TopicTest", .key = "k", .endMs = std::numeric_limits<std::int64_t>::max()});
        ASSERT_TRUE(hits) << hits.error().toString();
        EXPECT_EQ(hits->hits.size(), 3U) << "all but the roll-back";
    };
    expectAll();
    if (durable()) {
        close();
        expectAll();
        killAndReopen();
        expectAll();
    }
    expectAppends(0, "first", "HalvesOnly");
    expectAppends(2);
    ASSERT_TRUE(store().trim(std::numeric_limits<std::int64_t>::max()));
    if (GetParam().traits.trimGrainBytes > 0) return;
    EXPECT_EQ(store().at(batch.items[1].physicalOffset).error().code(), StatusCode::NotFound);
}

TEST_P(MessageStoreContract, EveryReadStatusHasItsOffsets) {
    EXPECT_FALSE(store().range("TopicTest", 0).exists);
    EXPECT_EQ(read("TopicTest", 0, 0, ReadStatus::NoSuchQueue).nextOffset, 0);
    appendMany(5);
    auto* result = &read("TopicTest", 0, 5, ReadStatus::OffsetAtEnd);
    EXPECT_EQ(result->nextOffset, 5);
    EXPECT_EQ(result->minOffset, 0);
    EXPECT_EQ(result->maxOffset, 5);
    EXPECT_EQ(read("TopicTest", 0, 6, ReadStatus::OffsetBeyondEnd).nextOffset, 5);
    EXPECT_EQ(read("TopicTest", 0, -1, ReadStatus::OffsetTooSmall).nextOffset, 0);
    EXPECT_EQ(read("TopicTest", 1, 0, ReadStatus::NoSuchQueue).nextOffset, 0);
    result = &read("TopicTest", 0, 3, ReadStatus::Found);
    EXPECT_EQ(result->nextOffset, 5);
    EXPECT_EQ(result->messages, 2);
    EXPECT_TRUE(read("TopicTest", 0, 5, ReadStatus::OffsetAtEnd).pieces.empty());
}

TEST_P(MessageStoreContract, ReadsKeepToTheirLimitsButReturnOneMessage) {
    appendMany(50);
    auto* result = &read("TopicTest", 0, 0, ReadStatus::Found, {.messagesMax = 7});
    EXPECT_EQ(result->messages, 7);
    EXPECT_EQ(result->nextOffset, 7);
    const auto record = appendOne(store(), {.topic = "Sized", .body = std::string(100, 'a')}).recordBytes;
    for (int i = 0; i < 4; ++i) appendOne(store(), {.topic = "Sized", .body = std::string(100, 'a')});
    result = &read("Sized", 0, 0, ReadStatus::Found, {.bytesMax = record * 3});
    EXPECT_EQ(result->messages, 3);
    result = &read("Sized", 0, 0, ReadStatus::Found, {.bytesMax = record * 3 - 1});
    EXPECT_EQ(result->messages, 2);
    result = &read("Sized", 0, 1, ReadStatus::Found, {.bytesMax = 1});
    EXPECT_EQ(result->messages, 1);
    EXPECT_EQ(result->nextOffset, 2);
    EXPECT_EQ(messagesOf(*result).at(0).queueOffset, 1);
}

TEST_P(MessageStoreContract, BodiesFromEmptyToTheLargestAreKept) {
    const std::string large((4U << 20) - 1, 'L');
    ASSERT_EQ(appendOne(store(), {.body = ""}).status, AppendStatus::PutOk);
    ASSERT_EQ(appendOne(store(), {.body = large}).status, AppendStatus::PutOk);
    ASSERT_EQ(appendOne(store(), {.body = "after"}).status, AppendStatus::PutOk);
    const auto all = bodies();
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0], "");
    EXPECT_TRUE(all[1] == large);
    EXPECT_EQ(all[2], "after");
    EXPECT_EQ(appendOne(store(), {.body = std::string((4U << 20) + 1, 'X')}).status, AppendStatus::MessageIllegal);
}

TEST_P(MessageStoreContract, TopicsAndPropertiesOverTheirLimitsAreRefused) {
    EXPECT_EQ(appendOne(store(), {.topic = ""}).status, AppendStatus::MessageIllegal);
    EXPECT_EQ(appendOne(store(), {.topic = std::string(128, 't')}).status, AppendStatus::MessageIllegal);
    EXPECT_EQ(appendOne(store(), {.topic = std::string(127, 't')}).status, AppendStatus::PutOk);
    EXPECT_EQ(appendOne(store(), {.topic = "%RETRY%" + std::string(248, 'g')}).status, AppendStatus::PutOk);
    EXPECT_EQ(appendOne(store(), {.topic = "%RETRY%" + std::string(249, 'g')}).status, AppendStatus::MessageIllegal);
    EXPECT_EQ(readAll(store(), "%RETRY%" + std::string(248, 'g'), 0).size(), 1U);

    const std::string most(32'767 - 6, 'p');  // "KEYS" and two separators stand around it
    EXPECT_EQ(appendOne(store(), {.keys = most}).status, AppendStatus::PutOk);
    EXPECT_EQ(appendOne(store(), {.keys = most + "p"}).status, AppendStatus::PropertiesSizeExceeded);
    EXPECT_EQ(store().range("TopicTest", 0).max, 1);
}

TEST_P(MessageStoreContract, AGroupIsStoredWholeOrNotAtAll) {
    TestBatch batch;
    batch.add({.body = "single"});
    batch.add({.body = "g0", .groupSize = 3});
    batch.add({.body = std::string((4U << 20) + 1, 'X')});
    batch.add({.body = "g2"});
    batch.add({.body = "h0", .groupSize = 2});
    batch.add({.body = "h1"});
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    EXPECT_EQ(batch.items[0].status, AppendStatus::PutOk);
    for (std::size_t i = 1; i <= 3; ++i) EXPECT_FALSE(service::isStored(batch.items[i].status)) << i;
    EXPECT_EQ(batch.items[2].status, AppendStatus::MessageIllegal);
    EXPECT_EQ(batch.items[4].queueOffset, 1);
    EXPECT_EQ(batch.items[5].queueOffset, 2);
    EXPECT_EQ(bodies(), (std::vector<std::string>{"single", "h0", "h1"}));
}

TEST_P(MessageStoreContract, OneBatchMaySpanQueuesAndAnEmptyOneIsDone) {
    TestBatch none;
    none.appendTo(store());
    EXPECT_TRUE(none.wait());
    EXPECT_EQ(none.timesDone(), 1);

    TestBatch batch;
    for (int i = 0; i < 12; ++i) batch.add({.topic = i % 2 == 0 ? "A" : "B", .queueId = i % 3, .body = std::to_string(i)});
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    EXPECT_EQ(batch.timesDone(), 1);
    EXPECT_EQ(bodies("A", 0), (std::vector<std::string>{"0", "6"}));
    EXPECT_EQ(bodies("B", 2), (std::vector<std::string>{"5", "11"}));
    std::vector<std::pair<std::string, std::int32_t>> queues;
    for (const auto& queue : store().queues()) queues.emplace_back(queue.topic, queue.queueId);
    std::sort(queues.begin(), queues.end());
    EXPECT_EQ(queues, (std::vector<std::pair<std::string, std::int32_t>>{{"A", 0}, {"A", 1}, {"A", 2}, {"B", 0}, {"B", 1}, {"B", 2}}));
}

TEST_P(MessageStoreContract, FiltersSkipAndTheNextOffsetIsBehindWhatTheySkipped) {
    TestBatch batch;
    for (int i = 0; i < 20; ++i) batch.add({.body = std::to_string(i), .tags = i % 10 == 4 ? "Rare" : "Common"});
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    const TagFilter rare("Rare");
    auto* result = &read("TopicTest", 0, 0, ReadStatus::Found, {}, &rare);
    EXPECT_EQ(result->messages, 2);
    EXPECT_EQ(result->nextOffset, 20);
    EXPECT_EQ(messagesOf(*result).at(1).body, "14");

    const TagFilter nobody("Nobody");
    result = &read("TopicTest", 0, 3, ReadStatus::NoMatchedMessage, {}, &nobody);
    EXPECT_EQ(result->nextOffset, 20);
    EXPECT_TRUE(result->pieces.empty());

    const OddBodies odd;
    result = &read("TopicTest", 0, 0, ReadStatus::Found, {.messagesMax = 4}, &odd);
    const auto found = messagesOf(*result);
    ASSERT_EQ(found.size(), 4U);
    EXPECT_EQ(found[3].body, "7");
    EXPECT_EQ(bodies("TopicTest", 0, result->nextOffset).front(), std::to_string(result->nextOffset));
    EXPECT_GE(result->nextOffset, 8);
    EXPECT_LE(result->nextOffset, 9);
}

// One read need not look at all of it; but each goes on, and none passes a message that is wanted.
TEST_P(MessageStoreContract, AFilterFindsWhatIsFarAway) {
    static constexpr int kMessages = 2'500;
    static constexpr int kWanted[] = {801, 1'600, 2'499};
    TestBatch batch;
    for (int i = 0; i < kMessages; ++i) {
        const bool wanted = std::find(std::begin(kWanted), std::end(kWanted), i) != std::end(kWanted);
        batch.add({.body = std::to_string(i), .tags = wanted ? "Rare" : "Common"});
    }
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    const TagFilter rare("Rare");
    std::vector<std::int64_t> found;
    service::ReadResult result;
    for (std::int64_t offset = 0; offset < kMessages; offset = result.nextOffset) {
        store().read("TopicTest", 0, offset, {}, &rare, result);
        ASSERT_TRUE(result.status == ReadStatus::Found || result.status == ReadStatus::NoMatchedMessage) << "at offset " << offset;
        for (const auto& message : messagesOf(result)) found.push_back(message.queueOffset);
        ASSERT_GT(result.nextOffset, offset) << "a read that found nothing does not go on";
        ASSERT_LE(result.nextOffset, kMessages);
        EXPECT_EQ(result.status == ReadStatus::Found, !result.pieces.empty());
    }
    EXPECT_EQ(found, std::vector<std::int64_t>(std::begin(kWanted), std::end(kWanted)));
}

TEST_P(MessageStoreContract, HotReadsAnswerOrSayThatTheyWouldWait) {
    appendMany(3);
    service::ReadResult result;
    store().read("TopicTest", 0, 0, {.hotOnly = true}, nullptr, result);
    ASSERT_TRUE(result.status == ReadStatus::Found || result.status == ReadStatus::NotResident);
    observed("fresh messages are resident", result.status == ReadStatus::Found ? "yes" : "no");
    store().read("TopicTest", 0, 3, {.hotOnly = true}, nullptr, result);
    EXPECT_EQ(result.status, ReadStatus::OffsetAtEnd);
    store().read("TopicTest", 9, 0, {.hotOnly = true}, nullptr, result);
    EXPECT_EQ(result.status, ReadStatus::NoSuchQueue);
    // The ends of a queue without waiting, which is no read.
    const auto missed = store().stats().readsMissed;
    const auto ends = service::rangeIfKnown(store(), "TopicTest", 0);
    ASSERT_TRUE(ends);
    EXPECT_EQ(ends->min, 0);
    EXPECT_EQ(ends->max, 3);
    EXPECT_TRUE(ends->exists);
    EXPECT_FALSE(service::rangeIfKnown(store(), "TopicTest", 9)->exists);
    EXPECT_EQ(store().stats().readsMissed, missed);
}

TEST_P(MessageStoreContract, StatisticsCount) {
    appendMany(4);
    bodies();
    const auto stats = store().stats();
    EXPECT_EQ(stats.messagesAppended, 4);
    EXPECT_GT(stats.bytesAppended, 4 * 6);
    EXPECT_EQ(stats.messagesRead, 4);
    EXPECT_GT(stats.readsFound, 0);
    service::ReadResult nothing;
    store().read("TopicTest", 0, stats.messagesAppended, {}, nullptr, nothing);
    store().read("TopicTest", 9, 0, {}, nullptr, nothing);
    EXPECT_EQ(store().stats().readsFound, stats.readsFound);
    EXPECT_EQ(store().stats().readsMissed, stats.readsMissed + 2);
    EXPECT_EQ(stats.messagesRefused, 0);
    EXPECT_EQ(stats.oldestAppendMs, 0) << "nothing is under way";
    if (stats.times) {
        EXPECT_EQ(std::accumulate(stats.times->appends.begin(), stats.times->appends.end(), std::int64_t{0}), 4);
    }
    EXPECT_EQ(stats.queues, 1);
    EXPECT_EQ(stats.earliestMessageMs, clock.wallMs());
    EXPECT_GT(stats.maxPhysicalOffset, stats.minPhysicalOffset);
    EXPECT_TRUE(stats.writable);
    EXPECT_TRUE(stats.health) << stats.health.toString();
}

}  // namespace
}  // namespace patchbay::testkit

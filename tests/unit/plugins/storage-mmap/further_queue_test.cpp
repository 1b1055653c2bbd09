// Proved: a message with INNER_MULTI_DISPATCH is in all the queues that it names, as RocketMQ writes it, also after kills, and what
// would stop RocketMQ's dispatch is refused. How: a disk in memory; a listener that writes down what it is told.
// Left to others: directories of a Java broker with such queues (golden_test.cpp), a Java broker on ours (interoperation).
#include "Fixture.h"

#include "patchbay/protocol/message/Properties.h"

#include <tuple>

namespace patchbay::mmapstore {

namespace {

using service::AppendStatus;

class MmapFurtherQueues : public MmapStoreTest, protected service::AppendListener {
protected:
    MmapFurtherQueues() { options.furtherQueues = true; }
    ~MmapFurtherQueues() override { close(); }

    void appended(std::span<const service::AppendedRecord> records) noexcept override {
        for (const auto& record : records) told.emplace_back(std::string(record.topic), record.queueId, record.queueOffset);
    }
    service::AppendItem send(const std::string& names, const std::string& body = "body", const std::string& topic = "TopicTest",
                             std::int32_t sysFlag = 0) {
        testkit::TestBatch batch;
        service::AppendItem& item = batch.add({.topic = topic, .body = body});
        std::string properties = "TAGS\x01T\x02";
        protocol::appendProperty(properties, protocol::kPropertyInnerMultiDispatch, names);
        item.properties = properties;
        item.sysFlag = sysFlag;
        batch.appendTo(store());
        EXPECT_TRUE(batch.wait());
        return batch.items[0];
    }
    /// Bodies of what a further queue shows; its messages have the offsets of their own queue.
    std::vector<std::string> further(const std::string& name) {
        std::vector<std::string> all;
        service::ReadResult result;
        const auto range = store().range(name, 0);
        for (std::int64_t offset = range.min; offset < range.max; offset = result.nextOffset) {
            store().read(name, 0, offset, {}, nullptr, result);
            EXPECT_EQ(result.status, service::ReadStatus::Found);
            if (result.status != service::ReadStatus::Found) break;
            for (const auto& message : testkit::messagesOf(result)) all.push_back(message.body);
        }
        return all;
    }
    std::string offsetsOf(const service::AppendItem& item) {
        const auto record = store().at(item.physicalOffset);
        return std::string(protocol::findProperty(testkit::parseRecords(record->bytes).at(0).properties, protocol::kPropertyInnerMultiQueueOffset));
    }

    std::vector<std::tuple<std::string, std::int32_t, std::int64_t>> told;
};

TEST_F(MmapFurtherQueues, AMessageIsInAllQueuesThatItNamesAndSaysWhere) {
    open();
    store().addListener(*this);
    send("%LMQ%a", "0");
    const auto second = send("%LMQ%b,%LMQ%a,%LMQ%b,", "1");
    append("2");
    EXPECT_EQ(offsetsOf(second), "0,1,0");
    EXPECT_EQ(bodies(), (std::vector<std::string>{"0", "1", "2"}));
    EXPECT_EQ(further("%LMQ%a"), (std::vector<std::string>{"0", "1"}));
    EXPECT_EQ(further("%LMQ%b"), std::vector<std::string>{"1"});
    using Told = decltype(told);
    EXPECT_EQ(told, (Told{{"TopicTest", 0, 0}, {"%LMQ%a", 0, 0}, {"TopicTest", 0, 1}, {"%LMQ%b", 0, 0}, {"%LMQ%a", 0, 1}, {"TopicTest", 0, 2}}));
    store().removeListener(*this);
    close();
    const Unit unit = loadUnit(file("/store/consumequeue/%LMQ%a/0/" + fileName(0)).data() + 20);
    EXPECT_EQ(unit.physical, second.physicalOffset);
    EXPECT_EQ(unit.bytes, second.recordBytes);
    EXPECT_EQ(unit.tagsCode, second.tagsCode);
}

TEST_F(MmapFurtherQueues, NumbersGoOnAfterStopsAndKills) {
    options.appendCrc = true;
    open();
    for (int round = 0; round < 6; ++round) {
        const auto item = send("%LMQ%a,%LMQ%b", std::to_string(round));
        EXPECT_EQ(offsetsOf(item), std::to_string(round) + "," + std::to_string(round));
        if (round % 2 == 0) kill();
        open();
        EXPECT_EQ(further("%LMQ%b").size(), static_cast<std::size_t>(round + 1));
    }
    close();
    ASSERT_TRUE(removeTree(*disk, "/store/consumequeue"));
    open();
    EXPECT_EQ(further("%LMQ%a"), (std::vector<std::string>{"0", "1", "2", "3", "4", "5"}));
}

TEST_F(MmapFurtherQueues, AFailedWriteTakesAllNumbersBack) {
    open();
    send("%LMQ%a,%LMQ%b", "0");
    disk->failWrite(1, Status(StatusCode::Io, "no"));
    EXPECT_FALSE(isStored(send("%LMQ%b,%LMQ%a", "lost").status));
    EXPECT_EQ(offsetsOf(send("%LMQ%b,%LMQ%a", "1")), "1,1");
    EXPECT_EQ(further("%LMQ%a"), (std::vector<std::string>{"0", "1"}));
}

TEST_F(MmapFurtherQueues, UnderSynchronousFlushTheyAreVisibleTogether) {
    options.syncFlush = true;
    open();
    for (int i = 0; i < 20; ++i) send("%LMQ%a,%LMQ%b", std::to_string(i));
    EXPECT_EQ(further("%LMQ%a").size(), 20U);
    EXPECT_EQ(further("%LMQ%b").size(), 20U);
}

TEST_F(MmapFurtherQueues, NamesThatWouldStopADispatchAreRefused) {
    open();
    for (const char* names : {"other", "%LMQ%a,other", "%LMQ%a,,%LMQ%b", "%LMQ%a/b", ",%LMQ%a"}) {
        EXPECT_EQ(send(names).status, AppendStatus::MessageIllegal) << names;
    }
    EXPECT_EQ(send(",,").status, AppendStatus::PutOk);
    EXPECT_FALSE(store().range("%LMQ%a", 0).exists);
}

TEST_F(MmapFurtherQueues, WhatWaitsForItsTimeOrItsCommitIsInNone) {
    open();
    send("%LMQ%a", "delayed", "SCHEDULE_TOPIC_XXXX");
    send("%LMQ%a", "timed", "rmq_sys_wheel_timer");
    send("%LMQ%a", "half", "RMQ_SYS_TRANS_HALF_TOPIC");
    send("%LMQ%a", "retried", "%RETRY%group");
    send("%LMQ%a", "prepared", "TopicTest", 4);
    EXPECT_FALSE(store().range("%LMQ%a", 0).exists);
}

TEST_F(MmapFurtherQueues, WithoutItsKeysThePropertyIsOneOfMany) {
    options.furtherQueues = false;
    open();
    const auto item = send("%LMQ%a,other");
    EXPECT_EQ(item.status, AppendStatus::PutOk);
    EXPECT_EQ(offsetsOf(item), "");
    EXPECT_FALSE(store().range("%LMQ%a", 0).exists);
}

TEST_F(MmapFurtherQueues, AKeyIsFoundOnceAndUnderTheMessagesTopic) {
    open();
    testkit::TestBatch batch;
    service::AppendItem& item = batch.add({.body = "body"});
    const std::string properties = "KEYS\x01k\x02INNER_MULTI_DISPATCH\x01%LMQ%a\x02";
    item.properties = properties;
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    service::KeyQuery query{.topic = "TopicTest", .key = "k", .beginMs = 0, .endMs = clock.wallMs() + 1};
    EXPECT_EQ(store().findByKey(query)->hits.size(), 1U);
    query.topic = "%LMQ%a";
    EXPECT_EQ(store().findByKey(query)->hits.size(), 0U);
}

}  // namespace

}  // namespace patchbay::mmapstore

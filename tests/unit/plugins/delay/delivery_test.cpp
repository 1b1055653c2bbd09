// Proved: delayed messages come when they are due, not earlier, in order, whole, once, whatever the store and the clock do.
// How: the plugin on a fake kernel with a manual clock; time moves from timer to timer.
// Left to others: the progress file (progress_test), real clocks and stores (interop).
#include "Bench.h"

#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/util/Hash.h"

#include <thread>

namespace patchbay::plugins::delay {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using service::AppendStatus;
using Bodies = std::vector<std::string>;

TEST_F(DelayBench, AScheduleThatCannotBeReadIsNotBegunAnew) {
    start();
    schedule(1, "first");
    context_.advance(1s);
    ASSERT_EQ(delivered(), std::vector<std::string>{"first"});
    stop();
    store_.unreadableTopic = protocol::kTopicSchedule;
    start();
    context_.advance(60s);
    stop();
    store_.unreadableTopic.clear();
    start();
    context_.advance(60s);
    EXPECT_EQ(delivered(), std::vector<std::string>{"first"});
}

TEST_F(DelayBench, AMessageComesWhenItIsDueAndNotAMillisecondEarlier) {
    start();
    schedule(2, "five");
    context_.advance(4999ms);
    EXPECT_TRUE(delivered().empty());
    context_.advance(1ms);
    EXPECT_EQ(delivered(), Bodies{"five"});
    context_.advance(1min);
    EXPECT_EQ(delivered(), Bodies{"five"}) << "once";
}

TEST_F(DelayBench, EachMessageOfALevelHasItsOwnTime) {
    start();
    schedule(1, "a");
    context_.advance(400ms);
    schedule(1, "b");
    schedule(2, "late");
    context_.advance(600ms);
    EXPECT_EQ(delivered(), Bodies{"a"});
    context_.advance(399ms);
    EXPECT_EQ(delivered(), Bodies{"a"});
    context_.advance(1ms);
    EXPECT_EQ(delivered(), (Bodies{"a", "b"}));
    context_.advance(4s);
    EXPECT_EQ(delivered(), (Bodies{"a", "b", "late"}));
}

TEST_F(DelayBench, TheCopyIsTheMessageInItsOwnTopic) {
    start();
    testkit::TestBatch batch;
    auto& item = batch.add({.topic = "T", .queueId = 2, .body = "body"});
    item.properties = "DELAY\0011\2TAGS\1tag\2";
    item.flag = 5;
    item.sysFlag = protocol::kSysFlagCommit | protocol::kSysFlagCompressed;
    item.reconsumeTimes = 4;
    item.bornTimestamp = 123;
    item.bornHost = *SocketAddress::parse("10.0.0.1:77");
    item.storeHost = *SocketAddress::parse("10.0.0.2:88");
    std::string text;
    ASSERT_TRUE(context_.services().find<service::DelaySchedule>()->prepare(item, text));
    batch.appendTo(store_.below);
    context_.pump();
    context_.advance(1s);
    service::ReadResult read;
    store_.read("T", 2, 0, {}, nullptr, read);
    ASSERT_EQ(read.status, service::ReadStatus::Found);
    protocol::RecordView record;
    ASSERT_EQ(protocol::RecordView::parse(read.pieces.front(), record), protocol::RecordStatus::Message);
    EXPECT_EQ(record.body, "body");
    EXPECT_EQ(record.properties, text) << "consumers see DELAY, REAL_TOPIC and REAL_QID";
    EXPECT_EQ(record.flag, 5);
    EXPECT_EQ(record.sysFlag, protocol::kSysFlagCommit | protocol::kSysFlagCompressed);
    EXPECT_EQ(record.reconsumeTimes, 4);
    EXPECT_EQ(record.bornTimestamp, 123);
    EXPECT_EQ(record.bornHost().toString(), "10.0.0.1:77");
    EXPECT_EQ(record.storeHost().toString(), "10.0.0.2:88");
    EXPECT_EQ(record.storeTimestamp, context_.clock().wallMs());
    struct TagOnly final : service::ReadFilter {
        bool matchesTags(std::int64_t code) const noexcept override { return code == protocol::tagsCode("tag"); }
    } filter;
    store_.read("T", 2, 0, {}, &filter, read);
    EXPECT_EQ(read.status, service::ReadStatus::Found) << "filters see the tag, not the time";
}

TEST_F(DelayBench, NothingTicksWhileNothingWaits) {
    start();
    EXPECT_EQ(context_.timers().count(), 1U) << "only the one that writes the progress";
    schedule(3, "a");
    schedule(4, "b");
    EXPECT_EQ(context_.timers().count(), 2U) << "one for all that waits";
    context_.advance(30s);
    EXPECT_EQ(delivered().size(), 2U);
    EXPECT_EQ(context_.timers().count(), 1U);
}

TEST_F(DelayBench, ManyDueMessagesShareAppendsAndKeepTheirOrder) {
    start();
    Bodies expected;
    for (int i = 0; i < 1000; ++i) {
        schedule(1, std::to_string(i));
        expected.push_back(std::to_string(i));
    }
    context_.advance(1s);
    EXPECT_EQ(delivered(), expected);
    EXPECT_LE(store_.appends.size(), 4U);
}

TEST_F(DelayBench, WhatIsDueOfSeveralLevelsIsAppendedTogether) {
    start();
    for (int i = 0; i < 20; ++i) schedule(2, "five" + std::to_string(i));
    context_.advance(4s);
    for (int i = 0; i < 20; ++i) schedule(1, "one" + std::to_string(i));
    context_.advance(1s);
    EXPECT_EQ(delivered().size(), 40U);
    EXPECT_EQ(store_.appends, std::vector<std::size_t>{40});
}

TEST_F(DelayBench, AStreamIsAppendedInPartsAndOneMessageIsExact) {
    start();
    const std::int64_t begin = context_.clock().wallMs();
    for (int i = 0; i < 200; ++i) {
        for (int k = 0; k < 4; ++k) schedule(1, std::to_string(i));
        context_.advance(1ms);
    }
    context_.advance(2s);
    EXPECT_EQ(delivered().size(), 800U);
    EXPECT_LE(store_.appends.size(), 20U);
    for (const auto& message : testkit::readAll(store_, "T", 0)) {
        const std::int64_t due = begin + std::stoi(message.body) + 1000;
        EXPECT_GE(message.storeTimestamp, due);
        EXPECT_LE(message.storeTimestamp, due + 15);
    }
    schedule(1, "alone");
    context_.advance(1s);
    EXPECT_EQ(delivered().back(), "alone");
}

TEST_F(DelayBench, RefusedMessagesAreTriedAgainAndTheOthersAreNotRepeated) {
    start();
    for (const char* body : {"a", "b", "c"}) schedule(1, body);
    bool full = true;
    store_.refuses = [&full](const service::AppendItem& item) {
        return full && item.body == "b" ? AppendStatus::ServiceNotAvailable : AppendStatus::PutOk;
    };
    context_.advance(1s);
    EXPECT_EQ(delivered(), (Bodies{"a", "c"}));
    context_.advance(1s);
    full = false;
    context_.advance(100ms);
    EXPECT_EQ(delivered(), (Bodies{"a", "c", "b"}));
    EXPECT_EQ(context_.metrics().value("delay_delivered_total"), 3U);
    schedule(1, "d");
    context_.advance(1s);
    EXPECT_EQ(delivered(), (Bodies{"a", "c", "b", "d"}));
}

TEST_F(DelayBench, WhatIsStoredButNotYetSafeCountsAsDelivered) {
    start();
    schedule(1, "a");
    store_.below.refuse(1, AppendStatus::FlushDiskTimeout, {});
    context_.advance(1min);
    EXPECT_EQ(store_.appends.size(), 1U) << "another try would make it two";
    EXPECT_EQ(context_.metrics().value("delay_delivered_total"), 1U);
}

TEST_F(DelayBench, AMessageThatNoTryCanDeliverDoesNotHoldUpTheOthers) {
    start();
    putIntoSchedule(1, "DELAY\0011\2REAL_TOPIC\1T\2"s);
    putIntoSchedule(1, "DELAY\0011\2REAL_TOPIC\1T\2REAL_QID\1x\2"s);
    putIntoSchedule(1, "DELAY\0011\2REAL_TOPIC\1T\2REAL_QID\1-2\2"s);
    putIntoSchedule(1, "DELAY\0011\2REAL_TOPIC\1RMQ_SYS_TRANS_HALF_TOPIC\2REAL_QID\0010\2"s);
    schedule(1, "big");
    schedule(1, "good");
    store_.refuses = [](const service::AppendItem& item) {
        return item.body == "big" ? AppendStatus::MessageIllegal : AppendStatus::PutOk;
    };
    context_.advance(1s);
    EXPECT_EQ(delivered(), Bodies{"good"});
    EXPECT_EQ(context_.metrics().value("delay_undeliverable_total"), 5U);
    EXPECT_EQ(store_.range("RMQ_SYS_TRANS_HALF_TOPIC", 0).max, 0);
}

TEST_F(DelayBench, AClockThatIsSetBackMakesNothingEarly) {
    start();
    schedule(2, "a");
    context_.advance(1s);
    schedule(2, "b");
    context_.manualClock().setWallMs(context_.clock().wallMs() - 3'600'000);
    restart();
    context_.advance(4999ms);
    EXPECT_TRUE(delivered().empty());
    context_.advance(1ms);
    EXPECT_EQ(delivered(), Bodies{"a"}) << "and nothing waits an hour more";
    context_.advance(1s);
    EXPECT_EQ(delivered(), (Bodies{"a", "b"}));
    schedule(2, "c");
    context_.advance(4999ms);
    EXPECT_EQ(delivered().size(), 2U);
    context_.advance(1ms);
    EXPECT_EQ(delivered().size(), 3U);
}

TEST_F(DelayBench, AClockThatIsSetForwardIsNoticed) {
    start();
    schedule(18, "two hours");
    context_.manualClock().setWallMs(context_.clock().wallMs() + 7'200'000);
    context_.advance(10s);
    EXPECT_EQ(delivered(), Bodies{"two hours"});
}

TEST_F(DelayBench, MessagesOfALevelThatIsGoneStillCome) {
    start();
    schedule(18, "a");
    settings_ = {{"messageDelayLevel", "1s 2s"}};
    restart();
    context_.advance(1999ms);
    EXPECT_TRUE(delivered().empty());
    context_.advance(1ms);
    EXPECT_EQ(delivered(), Bodies{"a"});
}

TEST_F(DelayBench, MessagesThatExpiredInTheStoreAreLeftOut) {
    start();
    for (const char* body : {"a", "b"}) schedule(2, body);
    const auto second = testkit::readAll(store_, std::string(protocol::kTopicSchedule), 1)[1].physicalOffset;
    ASSERT_TRUE(store_.trim(second));
    context_.advance(5s);
    EXPECT_EQ(delivered(), Bodies{"b"});
}

TEST_F(DelayBench, AReplicaDeliversNothing) {
    context_.brokerIdentity().brokerId = 1;
    start();
    schedule(1, "a");
    context_.advance(10s);
    EXPECT_TRUE(delivered().empty());
}

TEST_F(DelayBench, StopTakesOverWhatTheStoreStillHas) {
    start();
    schedule(1, "a");
    store_.below.setManual(true);
    context_.advance(1s);
    EXPECT_TRUE(delivered().empty());
    std::thread stopping([this] { stop(); });
    EXPECT_EQ(store_.below.complete(), 1U);
    stopping.join();
    EXPECT_EQ(delivered(), Bodies{"a"});
    EXPECT_NE(readText(path()).find("{1:1"), std::string::npos) << readText(path());
}

}  // namespace
}  // namespace patchbay::plugins::delay

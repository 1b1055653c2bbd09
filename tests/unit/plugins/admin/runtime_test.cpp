// Proves: what brokerStatus and clusterList show: all keys of RocketMQ that its tools read, rates, counts by day; configuration as text.
// How: the store in memory and the manual clock; the key set is the recorded one.
// Left to others: recorded refusals of changes (golden_test), what a real store adds (its own tests).
#include "AdminBench.h"

#include "patchbay/protocol/headers/Admin.h"
#include "patchbay/protocol/route/ConfigText.h"
#include "patchbay/protocol/route/DataVersion.h"
#include "patchbay/service/DelaySchedule.h"
#include "patchbay/service/Observation.h"
#include "patchbay/service/TimerSchedule.h"

#include <ctime>

namespace patchbay::plugins::admin {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class AdminRuntimeTest : public AdminTest {
protected:
    protocol::KvTable info() {
        auto table = protocol::KvTable::fromJson(context_.call(RequestCode::GetBrokerRuntimeInfo).body());
        EXPECT_TRUE(table);
        return std::move(*table);
    }
    std::string info(std::string_view key) {
        const auto table = info();
        const auto at = table.table.find(key);
        return at == table.table.end() ? "(absent)" : at->second;
    }
    void read(const std::string& topic, std::int64_t offset) {
        service::ReadResult result;
        store_.read(topic, 0, offset, {}, nullptr, result);
    }
    static std::int64_t untilMidnight(std::int64_t wallMs) {
        const std::time_t now = wallMs / 1000;
        std::tm local{};
        localtime_r(&now, &local);
        local.tm_hour = 24;
        local.tm_min = local.tm_sec = 0;
        local.tm_isdst = -1;
        return static_cast<std::int64_t>(std::mktime(&local)) - now;
    }
};

TEST_F(AdminRuntimeTest, HasEveryKeyThatToolsParse) {
    begin();
    const auto table = info().table;
    for (const char* key : {"brokerVersionDesc", "brokerVersion", "putTps", "getTransferredTps", "getTotalTps", "getFoundTps", "getMissTps",
                            "sendThreadPoolQueueSize", "pullThreadPoolQueueSize", "ackThreadPoolQueueSize",
                            "sendThreadPoolQueueHeadWaitTimeMills", "pullThreadPoolQueueHeadWaitTimeMills",
                            "ackThreadPoolQueueHeadWaitTimeMills", "pageCacheLockTimeMills", "earliestMessageTimeStamp",
                            "commitLogDiskRatio", "timerReadBehind", "timerOffsetBehind", "timerCongestNum", "timerEnqueueTps",
                            "timerDequeueTps", "brokerActive", "bootTimestamp", "runtime", "msgPutTotalYesterdayMorning",
                            "msgPutTotalTodayMorning", "msgPutTotalTodayNow", "msgGetTotalYesterdayMorning",
                            "msgGetTotalTodayMorning", "msgGetTotalTodayNow", "putMessageEntireTimeMax", "putMessageTimesTotal",
                            "putMessageFailedTimes", "putMessageSizeTotal", "putMessageDistributeTime", "putMessageAverageSize",
                            "dispatchMaxBuffer", "getMessageEntireTimeMax", "dispatchBehindBytes", "startAcceptSendRequestTimeStamp",
                            "remainTransientStoreBufferNumbs", "remainHowManyDataToCommit", "remainHowManyDataToFlush",
                            "commitLogDirCapacity", "commitLogMinOffset", "commitLogMaxOffset", "consumeQueueDiskRatio",
                            "litePullThreadPoolQueueSize", "litePullThreadPoolQueueHeadWaitTimeMills", "queryThreadPoolQueueSize",
                            "queryThreadPoolQueueHeadWaitTimeMills", "ackThreadPoolQueueCapacity", "EndTransactionQueueSize",
                            "EndTransactionThreadPoolQueueCapacity"}) {
        EXPECT_TRUE(table.contains(key)) << key;
    }
    EXPECT_EQ(table.at("brokerVersion"), "479");
    EXPECT_EQ(table.at("brokerVersionDesc"), "V5_3_3");
}

class FakeObservation final : public service::Observation {
public:
    [[nodiscard]] std::vector<service::RequestStats> requests() const override {
        service::RequestStats send{"broker", "send", 310, 104, 100, 0, 0, {}, {}};
        send.latency.counts[1] = 99;   // up to 100 us
        send.latency.counts[5] = 1;    // up to 10 ms
        service::RequestStats pull{"broker", "pull", 11, 100, 100, 0, 0, {}, {}};
        pull.latency.counts[12] = 100;
        return {send, pull};
    }
    [[nodiscard]] std::vector<service::ExecutorStats> executors() const override {
        service::ExecutorStats pull;
        pull.name = "pull";
        pull.queueCapacity = 500;
        pull.queued = 7;
        pull.headWaitMs = 12;
        service::ExecutorStats query;
        query.name = "query";
        query.queueCapacity = 100;
        query.queued = 3;
        service::ExecutorStats ends;
        ends.name = "transaction";
        ends.queueCapacity = 1'000;
        ends.queued = 2;
        return {pull, query, ends};
    }
    [[nodiscard]] std::vector<service::PluginFaults> faults() const override { return {}; }
    [[nodiscard]] service::ProcessStats process() const override { return {}; }
    [[nodiscard]] std::optional<bool> serves(std::string_view, std::int32_t) const override { return true; }
};

TEST_F(AdminRuntimeTest, LatenciesAndQueuesAreThoseThatTheKernelCounts) {
    FakeObservation observation;
    context_.provide<service::Observation>(observation);
    begin();
    EXPECT_EQ(info("putLatency99"), "0.10");
    EXPECT_EQ(info("putLatency999"), "10.00");
    EXPECT_EQ(info("pullThreadPoolQueueSize"), "7");
    EXPECT_EQ(info("litePullThreadPoolQueueCapacity"), "500");
    EXPECT_EQ(info("queryThreadPoolQueueCapacity"), "100");
    EXPECT_EQ(info("queryThreadPoolQueueSize"), "3");
    EXPECT_EQ(info("pullThreadPoolQueueHeadWaitTimeMills"), "12");
    EXPECT_EQ(info("sendThreadPoolQueueSize"), "4") << "sends that have come and are not answered";
    EXPECT_EQ(info("EndTransactionQueueSize"), "2");
    EXPECT_EQ(info("EndTransactionThreadPoolQueueCapacity"), "1000");
    EXPECT_TRUE(info("commitLogDirCapacity").starts_with("Total : ")) << info("commitLogDirCapacity");
    runner_.stop();
}

TEST_F(AdminRuntimeTest, TellsFromWhenOnSendsAreTaken) {
    begin();
    EXPECT_EQ(info("startAcceptSendRequestTimeStamp"), "0");
    context_.runtimeConfig().set("startAcceptSendRequestTimeStamp", "1700000099000");
    EXPECT_EQ(info("startAcceptSendRequestTimeStamp"), "1700000099000");
}

struct FakeTimers final : service::TimerSchedule {
    Status prepare(service::AppendItem&, std::string&) override { return Status::ok(); }
    [[nodiscard]] service::TimerFigures figures() const noexcept override { return now; }
    service::TimerFigures now;
};

TEST_F(AdminRuntimeTest, TellsHowManySendsMayWait) {
    begin();
    EXPECT_EQ(info("sendThreadPoolQueueCapacity"), "(absent)") << "nobody sends";
    context_.runtimeConfig().set("sendThreadPoolQueueCapacity", "777");
    EXPECT_EQ(info("sendThreadPoolQueueCapacity"), "777");
}

TEST_F(AdminRuntimeTest, SizesHaveRocketMqsUnits) {
    begin();
    const auto capacity = info("commitLogDirCapacity");
    EXPECT_NE(capacity.find("iB, Free : "), std::string::npos) << capacity;
    EXPECT_TRUE(info("remainHowManyDataToFlush").ends_with(" B")) << info("remainHowManyDataToFlush");
}

TEST_F(AdminRuntimeTest, TheTimersAreTheirOwn) {
    FakeTimers timers;
    context_.provide<service::TimerSchedule>(timers);
    begin();
    context_.advance(seconds(100));
    timers.now = {2'500, 7, 12, 100, 50};
    EXPECT_EQ(info("timerReadBehind"), "2") << "seconds";
    EXPECT_EQ(info("timerOffsetBehind"), "7");
    EXPECT_EQ(info("timerCongestNum"), "12");
    EXPECT_EQ(info("timerEnqueueTps"), "10.0");
    EXPECT_EQ(info("timerDequeueTps"), "5.0");
    context_.advance(seconds(60));
    EXPECT_EQ(info("timerEnqueueTps"), "0.0");
    runner_.stop();
}

TEST_F(AdminRuntimeTest, WithoutTimersTheirKeysAreNought) {
    begin();
    EXPECT_EQ(info("timerCongestNum"), "0");
    EXPECT_EQ(info("timerEnqueueTps"), "0.0");
}

TEST_F(AdminRuntimeTest, WhatNothingMeasuresIsLeftOut) {
    begin();
    EXPECT_EQ(info("putLatency99"), "(absent)");
    EXPECT_EQ(info("scheduleMessageOffset_1"), "(absent)");
}

TEST_F(AdminRuntimeTest, TellsHowLongTheStoreTook) {
    begin();
    makeTopic("T");
    append("T", 0, 3);
    EXPECT_EQ(info("putMessageDistributeTime"),
              "[<=0ms]:3 [0~10ms]:0 [10~50ms]:0 [50~100ms]:0 [100~200ms]:0 [200~500ms]:0 [500ms~1s]:0 [1~2s]:0 [2~3s]:0 [3~4s]:0 [4~5s]:0 "
              "[5~10s]:0 [10s~]:0 ");
    EXPECT_EQ(info("putMessageEntireTimeMax"), "0");
    store_.setManual(true);
    testkit::TestBatch slow;
    slow.add({.topic = "T"});
    slow.add({.topic = "T"});
    slow.appendTo(store_);
    context_.manualClock().advance(std::chrono::milliseconds(250));
    store_.complete();
    ASSERT_TRUE(slow.wait());
    EXPECT_EQ(info("putMessageEntireTimeMax"), "250");
    EXPECT_NE(info("putMessageDistributeTime").find("[<=0ms]:3 [0~10ms]:0 [10~50ms]:0 [50~100ms]:0 [100~200ms]:0 [200~500ms]:2 "), std::string::npos);
    context_.advance(seconds(80));
    EXPECT_NE(info("putMessageDistributeTime").find("[<=0ms]:0 "), std::string::npos) << "of the last minute";
    EXPECT_EQ(info("putMessageEntireTimeMax"), "250") << "since the start";
    EXPECT_EQ(info("getMessageEntireTimeMax"), "0");
}

TEST_F(AdminRuntimeTest, TellsHowManyMessagesTheStoreRefused) {
    begin();
    makeTopic("T");
    store_.refuse(1, service::AppendStatus::Busy, Status(StatusCode::Busy, "full"));
    testkit::TestBatch batch;
    batch.add({.topic = "T"});
    batch.add({.topic = "T"});
    batch.appendTo(store_);
    ASSERT_TRUE(batch.wait());
    EXPECT_EQ(info("putMessageFailedTimes"), "2");
}

TEST_F(AdminRuntimeTest, TellsHowFarEachDelayLevelIs) {
    struct Delays final : service::DelaySchedule {
        Status prepare(service::AppendItem&, std::string&) override { return Status::ok(); }
        [[nodiscard]] std::vector<service::DelayLevelProgress> progress() const override {
            return {{1, {"Sched", 0}, 2}, {2, {"Sched", 1}, 0}, {3, {"Sched", 2}, 0}};
        }
    } delays;
    context_.provide<service::DelaySchedule>(delays);
    begin();
    makeTopic("Sched");
    append("Sched", 0, 3);
    append("Sched", 2, 1);
    EXPECT_EQ(info("scheduleMessageOffset_1"), "2,3");
    EXPECT_EQ(info("scheduleMessageOffset_2"), "(absent)") << "it never had a message";
    EXPECT_EQ(info("scheduleMessageOffset_3"), "0,1");
    runner_.stop();
}

TEST_F(AdminRuntimeTest, TellsHowLongTheBrokerRuns) {
    begin();
    context_.advance(hours(50) + std::chrono::minutes(3) + seconds(7));
    EXPECT_EQ(info("runtime"), "[ 2 days, 2 hours, 3 minutes, 7 seconds ]");
}

TEST_F(AdminRuntimeTest, RatesAreOverTenSecondsAMinuteAndTenMinutes) {
    begin();
    makeTopic("T");
    context_.advance(seconds(600));
    append("T", 0, 60);
    EXPECT_EQ(info("putTps"), "6.0000 1.0000 0.1000");
    context_.advance(seconds(10));
    read("T", 0);
    read("T", 32);
    read("T", 60);
    context_.manualClock().advance(seconds(5));
    EXPECT_EQ(info("putTps"), "4.0000 0.9231 0.0992") << "60 messages in 15, 65 and 605 s";
    EXPECT_EQ(info("getTransferredTps"), "4.0000 0.9231 0.0992");
    EXPECT_EQ(info("getFoundTps"), "0.1333 0.0308 0.0033");
    EXPECT_EQ(info("getMissTps"), "0.0667 0.0154 0.0017");
    EXPECT_EQ(info("getTotalTps"), "0.2000 0.0462 0.0050");
}

TEST_F(AdminRuntimeTest, DaysBeginAtLocalMidnight) {
    begin();
    makeTopic("T");
    append("T", 0, 3);
    read("T", 0);
    EXPECT_EQ(info("msgPutTotalTodayNow"), "3");
    EXPECT_EQ(info("msgPutTotalTodayMorning"), "0");
    const std::int64_t left = untilMidnight(context_.clock().wallMs());
    context_.advance(seconds(left - 30));
    append("T", 0, 1);
    EXPECT_EQ(info("msgPutTotalTodayMorning"), "0");
    context_.advance(seconds(60));
    EXPECT_EQ(info("msgPutTotalTodayMorning"), "4");
    EXPECT_EQ(info("msgGetTotalTodayMorning"), "3");
    EXPECT_EQ(info("msgPutTotalYesterdayMorning"), "0");
    append("T", 0, 2);
    context_.advance(hours(24));
    EXPECT_EQ(info("msgPutTotalTodayMorning"), "6");
    EXPECT_EQ(info("msgPutTotalYesterdayMorning"), "4");
    EXPECT_EQ(info("msgGetTotalYesterdayMorning"), "3");
    EXPECT_EQ(info("msgPutTotalTodayNow"), "6");
}

TEST_F(AdminRuntimeTest, ConfigurationIsPropertiesTextWithItsVersion) {
    begin();
    context_.runtimeConfig().set("brokerName", "gold-a");
    context_.runtimeConfig().set("aKey", "1");
    const auto answer = context_.call(RequestCode::GetBrokerConfig);
    EXPECT_EQ(answer.body(), "aKey=1\nbrokerName=gold-a\n");
    const auto before = protocol::DataVersion::fromJson(answer.field("version"));
    ASSERT_TRUE(before) << answer.field("version");
    EXPECT_EQ(context_.call(RequestCode::UpdateBrokerConfig, Fields{}, "aKey=2\n").code(), ResponseCode::Success);
    EXPECT_EQ(registration_.asked, 1) << "name servers may have to know";
    const auto after = protocol::DataVersion::fromJson(context_.call(RequestCode::GetBrokerConfig).field("version"));
    EXPECT_EQ(after->counter, before->counter + 1);
}

TEST_F(AdminRuntimeTest, RefusedChangesChangeNothing) {
    begin();
    context_.runtimeConfig().set("storePath", "/a");
    context_.runtimeConfig().answerWith(Status(StatusCode::Denied, "storePath must not be changed"));
    EXPECT_EQ(context_.call(RequestCode::UpdateBrokerConfig, Fields{}, "storePath=/b").code(), ResponseCode::NoPermission);
    context_.runtimeConfig().answerWith(Status(StatusCode::Unsupported, "storePath needs a restart"));
    const auto restart = context_.call(RequestCode::UpdateBrokerConfig, Fields{}, "storePath=/b");
    EXPECT_EQ(restart.code(), ResponseCode::SystemError);
    EXPECT_EQ(restart.remark(), "storePath needs a restart");
    EXPECT_EQ(registration_.asked, 0);
    EXPECT_TRUE(context_.runtimeConfig().applied().empty());
}

}  // namespace
}  // namespace patchbay::plugins::admin

// Proved: delayOffset.json has RocketMQ's form, is written when and only when it should be, and no damage or crash loses a
// message.
// How: the plugin on a fake kernel with real files in a temporary folder; a crash is a file put back to what it was.
// Left to others: delivery itself (delivery_test), torn writes (base tests of replaceAtomically).
#include "Bench.h"

#include "patchbay/testkit/ManualClock.h"

namespace patchbay::plugins::delay {
namespace {

using namespace std::chrono_literals;
using Bodies = std::vector<std::string>;
using protocol::RequestCode;

TEST_F(DelayBench, RocketMqsFileIsReadAndWrittenTheSame) {
    const std::string text = readText(std::string(PATCHBAY_TEST_DATA) + "/config/c-complex/delayOffset.json");
    writeText(path(), text);
    DelayProgress progress(context_.files(), context_.clock(), path(), 200);
    ASSERT_TRUE(progress.load(context_.log()));
    EXPECT_EQ(progress.at(1), 6);
    EXPECT_EQ(progress.at(18), 0);
    EXPECT_EQ(progress.at(3), 0);
    EXPECT_EQ(progress.toJson(json::Dialect::Pretty), text);
}

TEST_F(DelayBench, TheVersionGrowsOncePerStep) {
    DelayProgress progress(context_.files(), context_.clock(), path(), 3);
    ASSERT_TRUE(progress.load(context_.log()));
    for (int i = 1; i <= 7; ++i) progress.set(1, i);
    progress.set(1, 7);
    EXPECT_NE(progress.toJson(json::Dialect::Fastjson).find("\"counter\":2,"), std::string::npos);
}

TEST_F(DelayBench, TheServiceTellsHowFarEachLevelIs) {
    start();
    schedule(1, "a");
    schedule(1, "b");
    schedule(2, "later");
    context_.advance(1s);
    const auto levels = context_.services().find<service::DelaySchedule>()->progress();
    ASSERT_EQ(levels.size(), 18U);
    EXPECT_EQ(levels[0].level, 1);
    EXPECT_EQ(levels[0].delivered, 2);
    EXPECT_EQ(levels[1].delivered, 0);
    EXPECT_EQ(levels[1].queue.topic, protocol::kTopicSchedule);
    EXPECT_EQ(store_.range(levels[1].queue.topic, levels[1].queue.queueId).max, 1);
}

TEST_F(DelayBench, ProgressIsWrittenOncePerIntervalWhenSomethingWasDelivered) {
    start();
    context_.advance(10s);
    EXPECT_FALSE(std::filesystem::exists(path()));
    schedule(1, "a");
    context_.advance(1s);
    EXPECT_FALSE(std::filesystem::exists(path()));
    context_.advance(9s);
    ASSERT_TRUE(std::filesystem::exists(path()));
    EXPECT_NE(readText(path()).find("\"offsetTable\":{1:1"), std::string::npos) << readText(path());
    std::filesystem::remove(path());
    context_.advance(1min);
    EXPECT_FALSE(std::filesystem::exists(path())) << "nothing has changed";
}

TEST_F(DelayBench, ProgressNeverGetsAheadOfWhatIsDurable) {
    start();
    schedule(1, "a");
    store_.flushAnswer = Status(StatusCode::Io, "the disk is gone");
    context_.advance(10s);
    EXPECT_FALSE(std::filesystem::exists(path()));
    EXPECT_TRUE(context_.log().contains("the disk is gone"));
    store_.flushAnswer = Status::ok();
    context_.advance(10s);
    EXPECT_TRUE(std::filesystem::exists(path()));
}

TEST_F(DelayBench, ARestartDeliversWhatIsLeftAndNothingTwice) {
    start();
    schedule(1, "a");
    schedule(2, "b");
    context_.advance(1s);
    restart();
    EXPECT_EQ(delivered(), Bodies{"a"});
    context_.advance(4s);
    EXPECT_EQ(delivered(), (Bodies{"a", "b"}));
    schedule(1, "due while it is down");
    stop();
    context_.advance(1min);
    start();
    EXPECT_EQ(delivered().size(), 3U) << "at once";
}

TEST_F(DelayBench, AKilledBrokerDeliversAgainWhatItsFileDoesNotKnow) {
    start();
    schedule(1, "a");
    context_.advance(10s);
    const std::string known = readText(path());
    schedule(1, "b");
    context_.advance(1s);
    stop();
    writeText(path(), known);
    start();
    EXPECT_EQ(delivered(), (Bodies{"a", "b", "b"}));
}

TEST_F(DelayBench, OffsetsBeyondTheQueueArePulledBack) {
    writeText(path(), "{\"offsetTable\":{1:50}}");
    start();
    schedule(1, "a");
    context_.advance(1s);
    EXPECT_EQ(delivered(), Bodies{"a"});
}

TEST_F(DelayBench, ADamagedFileIsReplacedByItsBackup) {
    start();
    schedule(1, "0");
    schedule(1, "1");
    stop();
    writeText(path(), "{\"offsetTable\":{1:");
    writeText(path() + ".bak", "{\"offsetTable\":{\"1\":1}}");
    start();
    EXPECT_TRUE(context_.log().contains("backup"));
    context_.advance(1s);
    EXPECT_EQ(delivered(), Bodies{"1"}) << "the first was delivered already, says the backup";
}

TEST_F(DelayBench, WithoutAnyUsableFileTheBrokerDoesNotGuess) {
    writeText(path(), "{\"offsetTable\":{1:-4}}");
    writeText(path() + ".bak", "null");
    EXPECT_FALSE(tryStart());
}

TEST_F(DelayBench, ReplicasGetTheProgress) {
    start();
    schedule(1, "a");
    context_.advance(1s);
    auto answer = context_.call(RequestCode::GetAllDelayOffset);
    EXPECT_EQ(answer.code(), protocol::ResponseCode::Success);
    EXPECT_TRUE(answer.body().ends_with("\"offsetTable\":{1:1}}")) << answer.body();
    EXPECT_TRUE(answer.fields().empty());
}

TEST_F(DelayBench, BadLevelsEndTheStart) {
    settings_ = {{"messageDelayLevel", "1s soon"}};
    const Status started = tryStart();
    EXPECT_EQ(started.code(), StatusCode::InvalidArgument) << started.toString();
}

}  // namespace
}  // namespace patchbay::plugins::delay

// Proved: what a Java broker 5.3.3 left waiting (messages, a recalled one, one that waits for days, state of pop) comes, each once, over a
// restart in between; nothing that it had delivered comes again.
// How: the recorded store "c-complex" under the real store and a manual clock.
// Left to others: the way back to Java, and kills (interop).
#include "Bench.h"

#include "MmapStore.h"

#include "patchbay/base/Clock.h"

#include <cstdlib>
#include <set>

namespace patchbay::plugins::timer {
namespace {

class TimerTakeoverTest : public ::testing::Test {
protected:
    TimerTakeoverTest() {
        const std::string command = "tar -xzf " PATCHBAY_TEST_DATA "/golden/store/c-complex.tar.gz -C " + dir_.path();
        EXPECT_EQ(std::system(command.c_str()), 0);
        mmapstore::StoreOptions options;
        options.root = dir_.path() + "/store";
        options.segmentBytes = 1'048'576;
        options.queueFileBytes = 20'000;
        options.keyIndex = false;
        store_ = std::make_unique<mmapstore::MmapStore>(systemFiles(), systemClock(), context_.log(), options);
        // The recording gets older, and the disk of who runs this may be full.
        store_->tunables().deleteHours = 0;
        store_->tunables().cleanForcibly = 0;
        store_->tunables().diskFreeBytesMin = 1;
        const Status opened = store_->open();
        EXPECT_TRUE(opened) << opened.toString();
        context_.brokerIdentity().storeRoot = options.root;
        context_.provide<service::MessageStore>(*store_);
        context_.provide<service::TopicConfigs>(topics_);
        // When it was recorded.
        context_.manualClock().setWallMs(1'795'973'736'000);
    }

    void start() {
        runner_ = std::make_unique<testkit::PluginRunner>(context_);
        runner_->add<TimerPlugin>(testkit::Settings{{"timerFlushIntervalMs", "1h"}});
        const Status started = runner_->start();
        ASSERT_TRUE(started) << started.toString();
        context_.pump();
    }
    void stop() {
        runner_.reset();
        context_.forgetPlugins();
    }
    [[nodiscard]] std::int64_t waiting() { return context_.services().find<service::TimerSchedule>()->figures().waiting; }
    std::multiset<std::string> keys(const std::string& topic) {
        std::multiset<std::string> all;
        for (std::int32_t queue = 0; queue < 8; ++queue) {
            for (const auto& message : testkit::readAll(*store_, topic, queue)) {
                all.emplace(protocol::findProperty(message.properties, "UNIQ_KEY"));
            }
        }
        return all;
    }

    KnownTopics topics_;
    testkit::TempDir dir_;
    testkit::FakeContext context_;
    std::unique_ptr<mmapstore::MmapStore> store_;
    std::unique_ptr<testkit::PluginRunner> runner_;
};

TEST_F(TimerTakeoverTest, WhatJavaLeftComesOnce) {
    const std::string revive = "rmq_sys_REVIVE_LOG_FixCluster";
    const auto before = keys("FcTime");
    const auto reviveBefore = keys(revive).size();
    start();
    EXPECT_EQ(waiting(), 13) << "six of a topic and seven of pop, as its timermetrics say";
    context_.advance(std::chrono::hours(1));
    stop();
    start();
    context_.advance(std::chrono::hours(80));
    EXPECT_EQ(waiting(), 0);
    stop();
    auto after = keys("FcTime");
    EXPECT_EQ(after.size(), before.size() + 6);
    for (const auto& key : before) after.erase(after.find(key));
    EXPECT_EQ(std::set<std::string>(after.begin(), after.end()).size(), 6U) << "each once, and none that had come before";
    for (const auto& key : before) EXPECT_FALSE(after.contains(key)) << key;
    EXPECT_EQ(keys(revive).size(), reviveBefore + 7);
}

}  // namespace
}  // namespace patchbay::plugins::timer

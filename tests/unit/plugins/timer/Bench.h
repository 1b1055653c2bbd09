// The timer plugin on a fake kernel, above a store in memory that can refuse single messages.
#pragma once

#include "../PickyStore.h"

#include "TimerPlugin.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::plugins::timer {

/// Topics that exist, and no more.
struct KnownTopics final : service::TopicConfigs {
    std::vector<std::string> names{"T"};

    bool find(std::string_view topic, service::TopicFacts& facts) const noexcept override {
        facts = {4, 4, 6, 0, false, false};
        return std::ranges::find(names, topic) != names.end();
    }
    std::optional<protocol::TopicConfig> get(std::string_view) const override { return std::nullopt; }
    std::vector<protocol::TopicConfig> all() const override { return {}; }
    protocol::DataVersion dataVersion() const override { return {}; }
    Status put(const protocol::TopicConfig&) override { return Status::ok(); }
    Status putAll(std::vector<protocol::TopicConfig>) override { return Status::ok(); }
    Status remove(std::string_view) override { return Status::ok(); }
    Result<service::TopicFacts> createForSend(const service::TopicWish&) override { return service::TopicFacts{}; }
    Result<service::TopicFacts> createIfMissing(std::string_view, std::int32_t, std::int32_t, std::int32_t, bool) override {
        return service::TopicFacts{};
    }
    bool isSystem(std::string_view) const override { return false; }
    std::vector<std::string> systemTopics() const override { return {}; }
    void addListener(service::TopicListener&) override {}
    void removeListener(service::TopicListener&) noexcept override {}
};

/// Restartable; the store and the files stay. With `store_.commitLog` there are RocketMQ's timer files.
class TimerBench : public ::testing::Test {
protected:
    TimerBench() {
        context_.brokerIdentity().storeRoot = dir_.path();
        context_.provide<service::MessageStore>(store_);
        context_.provide<service::TopicConfigs>(topics_);
    }

    [[nodiscard]] Status tryStart() {
        runner_ = std::make_unique<testkit::PluginRunner>(context_);
        plugin_ = &runner_->add<TimerPlugin>(settings_);
        Status started = runner_->start();
        context_.pump();
        return started;
    }
    void start() {
        const Status started = tryStart();
        ASSERT_TRUE(started) << started.toString();
    }
    void stop() {
        runner_.reset();
        context_.forgetPlugins();
    }
    void restart() {
        stop();
        start();
    }
    /// As after a kill: what the plugin writes when it stops is undone.
    void kill() {
        const testkit::TempDir before;
        copyTimerFiles(dir_.path(), before.path());
        stop();
        for (const char* name : kTimerFiles) std::filesystem::remove_all(dir_.file(name));
        copyTimerFiles(before.path(), dir_.path());
        start();
    }
    static void copyTimerFiles(const std::string& from, const std::string& to) {
        for (const char* name : kTimerFiles) {
            if (!exists(from + '/' + name)) continue;
            std::filesystem::create_directories(std::filesystem::path(to + '/' + name).parent_path());
            std::filesystem::copy(from + '/' + name, to + '/' + name, std::filesystem::copy_options::recursive);
        }
    }

    [[nodiscard]] std::int64_t now() const { return context_.clock().wallMs(); }
    /// Sends a message with these properties (name=value) to queue 2 of `topic`, as the send plugin does.
    service::AppendItem send(const std::string& body, const std::string& wish, const std::string& topic = "T") {
        auto* timers = context_.services().find<service::TimerSchedule>();
        testkit::TestBatch batch;
        auto& item = batch.add({.topic = topic, .queueId = 2, .body = body, .tags = "tag", .uniqueKey = "U-" + body});
        std::string own(item.properties);
        if (protocol::needsPropertySeparator(own)) own += '\2';
        own += wish.substr(0, wish.find('=')) + '\1' + wish.substr(wish.find('=') + 1) + '\2';
        std::string text;
        item.properties = own;
        const Status prepared = timers->prepare(item, text);
        EXPECT_TRUE(prepared) << prepared.toString();
        batch.appendTo(store_.below);
        EXPECT_TRUE(batch.wait());
        auto done = batch.items.front();
        context_.pump();
        return done;
    }
    void sendIn(std::int64_t ms, const std::string& body) { send(body, "TIMER_DELIVER_MS=" + std::to_string(now() + ms)); }
    /// A message that lies in the timer topic as it is.
    void putIntoTopic(const std::string& body, const std::string& properties) {
        testkit::TestBatch batch;
        auto& item = batch.add({.topic = std::string(protocol::kTopicTimer), .queueId = 0, .body = body});
        item.properties = properties;
        batch.appendTo(store_.below);
        ASSERT_TRUE(batch.wait());
        context_.pump();
    }
    std::vector<testkit::StoredMessage> stored(const std::string& topic = "T", std::int32_t queue = 2) {
        return testkit::readAll(store_, topic, queue);
    }
    std::vector<std::string> delivered(const std::string& topic = "T") {
        std::vector<std::string> bodies;
        for (const auto& message : stored(topic)) bodies.push_back(message.body);
        return bodies;
    }
    void advance(std::int64_t ms) { context_.advance(std::chrono::milliseconds(ms)); }
    std::uint64_t counted(std::string_view name) { return context_.metrics().value(name); }

    [[nodiscard]] std::string path() const { return dir_.path() + "/config/timercheck"; }
    static bool exists(const std::string& path) { return std::filesystem::exists(path); }
    static std::string readText(const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        std::ostringstream text;
        text << file.rdbuf();
        return std::move(text).str();
    }
    static void writeText(const std::string& path, const std::string& text) {
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    }

    static constexpr const char* kTimerFiles[] = {"config/timercheck", "config/timermetrics", "timerlog", "timerwheel"};
    testkit::TempDir dir_;
    testkit::FakeContext context_;
    PickyStore store_{context_.clock()};
    KnownTopics topics_;
    testkit::Settings settings_;
    std::unique_ptr<testkit::PluginRunner> runner_;
    TimerPlugin* plugin_ = nullptr;
};

}  // namespace patchbay::plugins::timer

// The delay plugin on a fake kernel, above a store in memory that can refuse single messages.
#pragma once

#include "../PickyStore.h"

#include "DelayPlugin.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::plugins::delay {

/// Restartable; the store and the files stay.
class DelayBench : public ::testing::Test {
protected:
    DelayBench() {
        context_.brokerIdentity().storeRoot = dir_.path();
        context_.provide<service::MessageStore>(store_);
    }

    [[nodiscard]] Status tryStart() {
        runner_ = std::make_unique<testkit::PluginRunner>(context_);
        runner_->add<DelayPlugin>(settings_);
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

    /// Sends a message with that delay level to queue 2 of `topic`.
    void schedule(int level, const std::string& body, const std::string& topic = "T") {
        auto* delays = context_.services().find<service::DelaySchedule>();
        ASSERT_NE(delays, nullptr);
        testkit::TestBatch batch;
        auto& item = batch.add({.topic = topic, .queueId = 2, .body = body, .tags = "tag"});
        const std::string own = std::string(item.properties) + "DELAY\1" + std::to_string(level) + "\2";
        std::string text;
        item.properties = own;
        ASSERT_TRUE(delays->prepare(item, text));
        batch.appendTo(store_.below);
        ASSERT_TRUE(batch.wait());
        context_.pump();
    }
    /// A message that lies in the schedule as it is.
    void putIntoSchedule(int level, const std::string& properties) {
        testkit::TestBatch batch;
        auto& item = batch.add({.topic = std::string(protocol::kTopicSchedule), .queueId = level - 1, .body = "odd"});
        item.properties = properties;
        batch.appendTo(store_.below);
        ASSERT_TRUE(batch.wait());
        context_.pump();
    }
    std::vector<std::string> delivered(const std::string& topic = "T") {
        std::vector<std::string> bodies;
        for (const auto& message : testkit::readAll(store_, topic, 2)) bodies.push_back(message.body);
        return bodies;
    }
    [[nodiscard]] std::string path() const { return dir_.path() + "/config/delayOffset.json"; }
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

    testkit::TempDir dir_;
    testkit::FakeContext context_;
    PickyStore store_{context_.clock()};
    testkit::Settings settings_;
    std::unique_ptr<testkit::PluginRunner> runner_;
};

}  // namespace patchbay::plugins::delay

// The delay plugin on a fake kernel, above a store in memory that can refuse single messages.
#pragma once

#include "DelayPlugin.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/MemoryStore.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::plugins::delay {

/// A MemoryStore in which a test can refuse single items of a batch, or the flush.
class PickyStore final : public service::MessageStore {
public:
    explicit PickyStore(const Clock& clock) : below(clock) {}

    testkit::MemoryStore below;
    /// The status with which an item is refused, or PutOk.
    std::function<service::AppendStatus(const service::AppendItem&)> refuses;
    Status flushAnswer;
    std::vector<std::size_t> appends;  // sizes of the batches that came

    void append(service::AppendBatch& batch) noexcept override {
        appends.push_back(batch.items.size());
        if (!refuses) return below.append(batch);
        Part part;
        std::vector<service::AppendItem*> taken;
        for (auto& item : batch.items) {
            item.status = refuses(item);
            if (item.status != service::AppendStatus::PutOk) continue;
            taken.push_back(&item);
            part.items.push_back(item);
        }
        if (!taken.empty()) below.append(part);
        for (std::size_t i = 0; i < taken.size(); ++i) *taken[i] = part.items[i];
        batch.done();
    }
    Status flush() override { return flushAnswer; }

    [[nodiscard]] service::StoreCapabilities capabilities() const override { return below.capabilities(); }
    void read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
              const service::ReadFilter* filter, service::ReadResult& result) noexcept override {
        below.read(topic, queueId, offset, limits, filter, result);
    }
    [[nodiscard]] service::OffsetRange range(std::string_view topic, std::int32_t queueId) const noexcept override {
        return below.range(topic, queueId);
    }
    [[nodiscard]] Result<std::int64_t> offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timeMs,
                                               service::Bound bound) const override {
        return below.offsetAt(topic, queueId, timeMs, bound);
    }
    [[nodiscard]] Result<std::int64_t> storeTimeAt(std::string_view topic, std::int32_t queueId, std::int64_t offset) const override {
        return below.storeTimeAt(topic, queueId, offset);
    }
    [[nodiscard]] Result<Slice> at(std::int64_t physicalOffset) const override { return below.at(physicalOffset); }
    [[nodiscard]] Result<service::KeyHits> findByKey(const service::KeyQuery& query) const override { return below.findByKey(query); }
    [[nodiscard]] std::vector<service::QueueKey> queues() const override { return below.queues(); }
    Status deleteTopic(std::string_view topic) override { return below.deleteTopic(topic); }
    void addListener(service::AppendListener& listener) override { below.addListener(listener); }
    void removeListener(service::AppendListener& listener) noexcept override { below.removeListener(listener); }
    Status trim(std::int64_t physicalOffset) override { return below.trim(physicalOffset); }
    [[nodiscard]] service::StoreStats stats() const override { return below.stats(); }

private:
    struct Part final : service::AppendBatch {
        void done() noexcept override {}
    };
};

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

// The retry plugin with the real topics, delay and send plugins, above a store in memory.
#pragma once

#include "../Recorded.h"

#include "DelayPlugin.h"
#include "RetryPlugin.h"
#include "TopicsPlugin.h"

#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/service/QueueLocks.h"
#include "patchbay/service/TrafficStats.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/MemoryStore.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

extern "C" patchbay::plugin::Plugin* patchbay_plugin_create() noexcept;

namespace patchbay::plugins::retry {

/// A stored message; `record` views into `bytes`.
struct Stored {
    std::string bytes;
    protocol::RecordView record;
};

/// A group either holds a lock or not.
struct FakeLocks final : service::QueueLocks {
    std::string group;
    bool anyHeld(std::string_view asked) const override { return asked == group; }
    std::vector<service::QueueLock> held(std::string_view) const override { return {}; }
};

/// What others would be told of.
struct FakeTraffic final : service::TrafficStats {
    [[nodiscard]] std::optional<Figures> find(std::string_view, std::string_view) const override { return std::nullopt; }
    void count(std::string_view name, std::string_view key, std::int64_t sum) override { told[std::string(name) + " " + std::string(key)] += sum; }
    std::map<std::string, std::int64_t> told;
};

/// Has topic T, and group G with its defaults.
class RetryBench : public ::testing::Test {
protected:
    void SetUp() override {
        context_.brokerIdentity().storeRoot = dir_.path();
        context_.provide<service::MessageStore>(store_);
        context_.provide<service::QueueLocks>(locks_);
        context_.provide<service::TrafficStats>(traffic_);
        runner_.add<topics::TopicsPlugin>();
        runner_.add<delay::DelayPlugin>();
        plugin_ = &runner_.add<RetryPlugin>();
        runner_.add(std::unique_ptr<plugin::Plugin>(patchbay_plugin_create()));
        const Status started = runner_.start();
        ASSERT_TRUE(started) << started.toString();
        ASSERT_TRUE(topics().createIfMissing("T", 4, 6, 0));
        group("G", 16, 1);
    }
    service::TopicConfigs& topics() { return recorded::provided<service::TopicConfigs>(context_); }
    void group(const std::string& name, std::int32_t retryMaxTimes, std::int32_t retryQueueNums) {
        protocol::SubscriptionGroupConfig config;
        config.groupName = name;
        config.retryMaxTimes = retryMaxTimes;
        config.retryQueueNums = retryQueueNums;
        ASSERT_TRUE(recorded::provided<service::SubscriptionGroups>(context_).put(config));
    }

    /// Where a message lies that was consumed that often already.
    std::int64_t consumed(std::int32_t reconsumeTimes = 0, const std::string& properties = "UNIQ_KEY\1U\2TAGS\1tag\2") {
        testkit::TestBatch batch;
        auto& item = batch.add({.topic = "T", .body = "work"});
        item.properties = properties;
        item.reconsumeTimes = reconsumeTimes;
        item.flag = 9;
        item.bornTimestamp = 321;
        item.bornHost = *SocketAddress::parse("10.0.0.1:77");
        item.storeHost = context_.identity().storeHost;
        batch.appendTo(store_);
        EXPECT_TRUE(batch.wait());
        return batch.items.front().physicalOffset;
    }
    testkit::CallResult sendBack(std::int64_t offset, std::int32_t level = 0, std::optional<std::int32_t> limit = {},
                                 const std::string& group = "G", const testkit::CallOptions& options = {}) {
        protocol::ConsumerSendMsgBackRequest header;
        header.offset = offset;
        header.group = group;
        header.delayLevel = level;
        header.originMsgId = "U";
        header.originTopic = "T";
        header.maxReconsumeTimes = limit;
        auto call = context_.call(protocol::RequestCode::ConsumerSendMsgBack, header, {}, options);
        context_.pump();
        return call;
    }
    Stored stored(const std::string& topic, std::int64_t offset = 0, std::int32_t queue = 0) {
        service::ReadResult result;
        service::ReadLimits limits;
        limits.messagesMax = 1;
        store_.read(topic, queue, offset, limits, nullptr, result);
        Stored message;
        for (const auto piece : result.pieces) message.bytes += piece;
        EXPECT_EQ(protocol::RecordView::parse(message.bytes, message.record), protocol::RecordStatus::Message) << topic;
        return message;
    }
    std::int64_t count(const std::string& topic, std::int32_t queue = 0) { return store_.range(topic, queue).max; }
    static std::string property(const Stored& message, std::string_view name) {
        return std::string(protocol::findProperty(message.record.properties, name));
    }

    testkit::TempDir dir_;
    testkit::FakeContext context_;
    testkit::MemoryStore store_{context_.clock()};
    FakeLocks locks_;
    FakeTraffic traffic_;
    testkit::PluginRunner runner_{context_};
    RetryPlugin* plugin_ = nullptr;
};

}  // namespace patchbay::plugins::retry

// A broker with the plugins that a transaction needs, over a store in memory.
#pragma once

#include "ClientsPlugin.h"
#include "HalfMessage.h"
#include "OffsetsPlugin.h"
#include "TopicsPlugin.h"
#include "TransactionPlugin.h"

#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/headers/Transaction.h"
#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/SysFlag.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/MemoryStore.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/TempDir.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

extern "C" patchbay::plugin::Plugin* patchbay_plugin_create() noexcept;

namespace patchbay::plugins::transaction {

struct Stored {
    Stored() = default;
    Stored(Stored&&) = default;   // a record is long enough to lie on the heap, so it stays where the view looks
    Stored& operator=(Stored&&) = default;
    Stored(const Stored& other) : bytes(other.bytes) {
        PATCHBAY_ASSERT(protocol::RecordView::parse(bytes, view) == protocol::RecordStatus::Message);
    }

    std::string bytes;
    protocol::RecordView view;
    [[nodiscard]] std::string property(std::string_view name) const { return std::string(protocol::findProperty(view.properties, name)); }
};

/// Where a half message lies, as its producer knows it.
struct Half {
    std::int64_t queueOffset = -1;
    std::int64_t physicalOffset = -1;
};

/// One life of the broker. Several may follow each other on one store; what is not in `dir` is lost in between.
struct Broker {
    Broker(testkit::MemoryStore& messages, const std::string& dir, testkit::Settings settings = {})
        : Broker(messages, messages, dir, std::move(settings)) {}
    /// The plugins see `front`, which puts its messages into `messages`.
    Broker(service::MessageStore& front, testkit::MemoryStore& messages, const std::string& dir, testkit::Settings settings = {})
        : store(messages) {
        context.brokerIdentity().storeRoot = dir;
        context.provide<service::MessageStore>(front);
        runner.add<topics::TopicsPlugin>();
        runner.add<clients::ClientsPlugin>();
        runner.add<consumer_offsets::OffsetsPlugin>();
        transactions = &runner.add<TransactionPlugin>(std::move(settings));
        runner.add(std::unique_ptr<plugin::Plugin>(patchbay_plugin_create()));
    }
    void start() {
        const Status started = runner.start();
        PATCHBAY_ASSERT(started);
        protocol::TopicConfig topic;
        topic.topicName = "T";
        topic.readQueueNums = topic.writeQueueNums = 4;
        PATCHBAY_ASSERT(context.services().find<service::TopicConfigs>()->put(topic));
    }

    testkit::CallResult send(const std::string& properties, std::string_view body = "body", std::int32_t queue = 2) {
        protocol::SendMessageRequest header;
        header.producerGroup = "P";
        header.topic = "T";
        header.defaultTopic = "TBW102";
        header.defaultTopicQueueNums = 4;
        header.queueId = queue;
        header.sysFlag = protocol::kSysFlagPrepared;
        header.flag = 7;
        header.reconsumeTimes = 3;
        header.bornTimestamp = context.clock().wallMs();
        header.properties = properties;
        return context.call(protocol::RequestCode::SendMessageV2, header, body);
    }
    /// A half message of group P with this unique key and more properties.
    Half half(const std::string& key, const std::string& more = "") {
        auto sent = send("TRAN_MSG\1true\2PGROUP\1P\2UNIQ_KEY\1" + key + "\2TAGS\1a\2" + more);
        EXPECT_EQ(sent.code(), protocol::ResponseCode::Success) << sent.remark();
        return {std::stoll(sent.field("queueOffset")), protocol::MessageId::parse(sent.field("msgId"))->physicalOffset};
    }
    static protocol::EndTransactionRequest ending(const Half& half, std::int32_t wish, bool asked = false) {
        protocol::EndTransactionRequest header;
        header.producerGroup = "P";
        header.tranStateTableOffset = half.queueOffset;
        header.commitLogOffset = half.physicalOffset;
        header.commitOrRollback = wish;
        header.fromTransactionCheck = asked;
        header.msgId = "id";
        return header;
    }
    testkit::CallResult end(const Half& half, std::int32_t wish, bool asked = false) {
        return context.call(protocol::RequestCode::EndTransaction, ending(half, wish, asked));
    }
    testkit::CallResult commit(const Half& half) { return end(half, 8); }

    /// A producer of the group comes online.
    Ref<testkit::FakePeer> producer(const std::string& group = "P", const std::string& id = "p@1") {
        auto peer = context.peer();
        testkit::CallOptions options;
        options.peer = peer;
        auto beat = context.call(protocol::RequestCode::HeartBeat, testkit::Fields{},
                                 R"({"clientID":")" + id + R"(","consumerDataSet":[],"producerDataSet":[{"groupName":")" + group +
                                     R"("}]})", options);
        EXPECT_EQ(beat.code(), protocol::ResponseCode::Success);
        return peer;
    }
    /// Questions that a producer was asked.
    static std::vector<protocol::RemotingCommand> questions(const testkit::FakePeer& peer) {
        std::vector<protocol::RemotingCommand> asked;
        for (auto& command : peer.pushed()) {
            if (command.code == static_cast<std::int32_t>(protocol::RequestCode::CheckTransactionState)) asked.push_back(std::move(command));
        }
        return asked;
    }
    static Half placeOf(const protocol::RemotingCommand& question) {
        return {std::stoll(std::string(question.find("tranStateTableOffset").value_or("-1"))),
                std::stoll(std::string(question.find("commitLogOffset").value_or("-1")))};
    }

    std::vector<Stored> all(std::string_view topic, std::int32_t queue = 0) { return all(store, topic, queue); }
    static std::vector<Stored> all(testkit::MemoryStore& store, std::string_view topic, std::int32_t queue) {
        std::vector<Stored> records;
        const auto range = store.range(topic, queue);
        for (std::int64_t at = range.min; at < range.max; ++at) {
            service::ReadResult result;
            service::ReadLimits limits;
            limits.messagesMax = 1;
            store.read(topic, queue, at, limits, nullptr, result);
            Stored record;
            for (const auto piece : result.pieces) record.bytes += piece;
            records.push_back(std::move(record));
            EXPECT_EQ(protocol::RecordView::parse(records.back().bytes, records.back().view), protocol::RecordStatus::Message);
        }
        return records;
    }
    std::vector<Stored> halves() { return all(protocol::kTopicTransHalf); }
    /// The bodies of all ops, joined.
    std::string ops() {
        std::string joined;
        for (const auto& op : all(protocol::kTopicTransOpHalf)) joined += op.view.body;
        return joined;
    }
    std::int64_t progress(std::string_view topic) {
        return context.services().find<service::ConsumerOffsets>()->query(kProgressGroup, topic, 0);
    }

    testkit::MemoryStore& store;
    testkit::FakeContext context;
    testkit::PluginRunner runner{context};
    TransactionPlugin* transactions = nullptr;
};

class TransactionTest : public ::testing::Test {
protected:
    Broker& begin(testkit::Settings settings = {}) {
        broker_ = std::make_unique<Broker>(store_, dir_.path(), std::move(settings));
        sync();
        broker_->start();
        return *broker_;
    }
    /// Stops the broker and starts it again with its files.
    Broker& restart() {
        broker_->runner.stop();
        storeClock_.setWallMs(broker_->context.clock().wallMs());
        broker_.reset();
        return begin();
    }
    /// Time passes for the broker and its store.
    void pass(std::chrono::milliseconds by) {
        for (auto left = by; left.count() > 0; left -= std::min(left, kStep)) {
            const auto step = std::min(left, kStep);
            storeClock_.advance(step);
            broker_->context.advance(step);
        }
    }
    void sync() { broker_->context.manualClock().setWallMs(storeClock_.wallMs()); }

    static constexpr std::chrono::milliseconds kStep{1000};
    testkit::TempDir dir_;
    testkit::ManualClock storeClock_;
    testkit::MemoryStore store_{storeClock_};
    std::unique_ptr<Broker> broker_;
};

}  // namespace patchbay::plugins::transaction

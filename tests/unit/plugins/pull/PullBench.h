// PullTest: the pull plugin on a fake kernel with the store in memory, a manual clock and services reduced to what a test sets.
#pragma once

#include "Fakes.h"

#include "patchbay/protocol/headers/ConsumerOffset.h"
#include "patchbay/protocol/headers/MessageQuery.h"
#include "patchbay/protocol/headers/PullMessage.h"
#include "patchbay/protocol/message/SysFlag.h"
#include "patchbay/protocol/util/Hash.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/MemoryStore.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/StoreClient.h"

#include <gtest/gtest.h>

extern "C" patchbay::plugin::Plugin* patchbay_plugin_create() noexcept;

namespace patchbay::plugins::pull {

using namespace std::chrono_literals;
using namespace std::string_literals;
using protocol::RequestCode;
using protocol::ResponseCode;
using testkit::CallResult;

constexpr std::int32_t kSubscribed = protocol::kPullFlagSubscription;
constexpr std::int32_t kHold = kSubscribed | protocol::kPullFlagSuspend;

class PullTest : public ::testing::Test {
protected:
    void begin(testkit::Settings settings = {}) {
        topics_.topics["T"] = {4, 4, 6, 0, false, false};
        groups_.groups["g"] = {};
        context_.provide<service::MessageStore>(store());
        context_.provide<service::TopicConfigs>(topics_);
        context_.provide<service::SubscriptionGroups>(groups_);
        context_.provide<service::ConsumerOffsets>(offsets_);
        context_.provide<service::ClientRegistry>(clients_);
        plugin_ = patchbay_plugin_create();
        runner_.add(std::unique_ptr<plugin::Plugin>(plugin_), std::move(settings));
        const auto started = runner_.start();
        ASSERT_TRUE(started) << started.message();
    }
    void TearDown() override { runner_.stop(); }
    virtual service::MessageStore& store() { return store_; }

    void append(const std::string& body, const std::string& tags = "", std::int32_t queue = 0) {
        testkit::TestMessage message;
        message.topic = "T";
        message.queueId = queue;
        message.body = body;
        message.tags = tags;
        ASSERT_EQ(testkit::appendOne(store(), message).status, service::AppendStatus::PutOk);
        context_.pump();
    }
    static protocol::PullMessageRequest request(std::int64_t offset, std::int32_t sysFlag = kSubscribed, std::string_view expression = "*") {
        protocol::PullMessageRequest pull;
        pull.consumerGroup = "g";
        pull.topic = "T";
        pull.queueOffset = offset;
        pull.maxMsgNums = 32;
        pull.sysFlag = sysFlag;
        pull.suspendTimeoutMillis = 15'000;
        pull.subscription = expression;
        return pull;
    }
    CallResult pull(const protocol::PullMessageRequest& header) { return context_.call(RequestCode::PullMessage, header); }
    CallResult pull(std::int64_t offset, std::int32_t sysFlag = kSubscribed, std::string_view expression = "*") {
        return pull(request(offset, sysFlag, expression));
    }
    static std::vector<std::string> bodies(const CallResult& result) {
        std::vector<std::string> all;
        for (const auto& message : testkit::parseRecords(result.body())) all.push_back(message.body);
        return all;
    }

    testkit::FakeContext context_;
    testkit::MemoryStore store_{context_.clock()};
    FakeTopics topics_;
    FakeGroups groups_;
    FakeOffsets offsets_;
    FakeClients clients_;
    testkit::PluginRunner runner_{context_};
    plugin::Plugin* plugin_ = nullptr;
};

}  // namespace patchbay::plugins::pull

// Proves: the first pull of a new subscriber is served at once: right behind its heartbeat on the same connection, and on another connection as
// soon as the heartbeat is answered; only a pull that knows a newer subscription is told that the broker's is not the latest.
// How: a real process on both stores; new groups and new members of one group, again and again, heartbeat and pull in one write.
// Left to others: what heartbeats change and whom they concern (unit tests of clients), all answers to pulls (unit tests of pull).
#include "support/BrokerProcess.h"
#include "support/Heartbeats.h"
#include "support/RawClient.h"
#include "support/Stores.h"

#include "patchbay/protocol/headers/PullMessage.h"
#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <csignal>
#include <gtest/gtest.h>
#include <string>

namespace patchbay::test {
namespace {

using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;

constexpr std::int64_t kVersion = 1'795'971'850'154;
constexpr const char* kTopic = "FirstPull";

RemotingCommand heartbeat(const std::string& group, const std::string& clientId, std::int64_t version) {
    auto data = consumerHeartbeat(clientId, group, kTopic);
    data.consumerDataSet.front().subscriptionDataSet.front().subVersion = version;
    return heartbeatRequest(data);
}

/// Relies on what the heartbeat said.
RemotingCommand pull(const std::string& group, std::int64_t version) {
    protocol::PullMessageRequest header;
    header.consumerGroup = group;
    header.topic = kTopic;
    header.maxMsgNums = 32;
    header.sysFlag = protocol::kPullFlagSuspend;
    header.suspendTimeoutMillis = 15'000;
    header.subVersion = version;
    auto command = RemotingCommand::request(RequestCode::PullMessage);
    command.setHeader(header);
    return command;
}

class FirstPull : public OnEachStore {
protected:
    void SetUp() override {
        ASSERT_TRUE(broker_.start()) << broker_.output();
        protocol::SendMessageRequest header;
        header.producerGroup = "p";
        header.topic = kTopic;
        header.defaultTopic = "TBW102";
        header.defaultTopicQueueNums = 1;
        auto command = RemotingCommand::request(RequestCode::SendMessageV2);
        command.setHeader(header);
        command.body = "the message";
        RawClient client(broker_.brokerPort());
        const auto answer = client.call(command);
        ASSERT_TRUE(answer) << answer.error().message();
        ASSERT_EQ(answer->code, 0) << answer->remark.value_or("");
    }
    void TearDown() override { EXPECT_EQ(broker_.stop(SIGTERM), 0) << broker_.output(); }

    /// Both in one write; the code of the answer to the pull.
    static int pullRightBehind(RawClient& client, RemotingCommand beat, RemotingCommand pull) {
        beat.opaque = 1;
        pull.opaque = 2;
        const auto first = beat.encode(protocol::SerializeType::Json);
        const auto second = pull.encode(protocol::SerializeType::Json);
        if (!first || !second || !client.send(*first + *second)) return -1;
        for (;;) {
            const auto answer = client.receive();
            if (!answer) return -1;
            if (answer->isResponse() && answer->opaque == 2) return answer->code;
        }
    }

    BrokerProcess broker_{onStore(GetParam())};
};

TEST_P(FirstPull, IsServedRightBehindTheHeartbeatOfItsConnection) {
    for (int i = 0; i < 100; ++i) {
        RawClient client(broker_.brokerPort());
        EXPECT_EQ(pullRightBehind(client, heartbeat("New" + std::to_string(i), "c@1", kVersion), pull("New" + std::to_string(i), kVersion)), 0);
    }
}

TEST_P(FirstPull, OfANewMemberWithANewerSubscriptionIsServedToo) {
    for (int i = 0; i < 100; ++i) {
        RawClient client(broker_.brokerPort());
        EXPECT_EQ(pullRightBehind(client, heartbeat("Known", "c@" + std::to_string(i), kVersion + i), pull("Known", kVersion + i)), 0);
    }
}

TEST_P(FirstPull, IsServedOnAnotherConnectionOnceTheHeartbeatIsAnswered) {
    for (int i = 0; i < 100; ++i) {
        RawClient speaks(broker_.brokerPort());
        RawClient pulls(broker_.brokerPort());
        const std::string group = "Apart" + std::to_string(i);
        ASSERT_TRUE(speaks.call(heartbeat(group, "c@1", kVersion)));
        const auto answer = pulls.call(pull(group, kVersion));
        ASSERT_TRUE(answer) << answer.error().message();
        EXPECT_EQ(answer->code, 0) << answer->remark.value_or("");
    }
}

TEST_P(FirstPull, ThatKnowsANewerSubscriptionIsToldSo) {
    RawClient client(broker_.brokerPort());
    EXPECT_EQ(pullRightBehind(client, heartbeat("Stale", "c@1", kVersion), pull("Stale", kVersion + 1)),
              static_cast<int>(ResponseCode::SubscriptionNotLatest));
    EXPECT_EQ(pullRightBehind(client, heartbeat("Stale", "c@1", kVersion + 1), pull("Stale", kVersion + 1)), 0);
}

PATCHBAY_ON_EACH_STORE(FirstPull);

}  // namespace
}  // namespace patchbay::test

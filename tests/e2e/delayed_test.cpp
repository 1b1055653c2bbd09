// Proves: delayed and timed messages come, none early and most of them within milliseconds, and all of them after a kill, timed ones once; a
// recall holds.
// How: a real process on both stores, read by long polls; times are the store's, on the clock of this machine.
// Left to others: everything that needs a clock of its own (unit tests of delay and timer), Java's client (interop).
#include "support/BrokerProcess.h"
#include "support/RawClient.h"
#include "support/Stores.h"

#include "patchbay/protocol/headers/PullMessage.h"
#include "patchbay/protocol/headers/Recall.h"
#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace patchbay::test {
namespace {

using namespace std::chrono_literals;
using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;

std::int64_t nowMs() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// When each message may come, by its body, and when it was stored.
struct Messages {
    std::map<std::string, std::int64_t> due;
    std::map<std::string, std::int64_t> came;
    std::map<std::string, int> times;

    [[nodiscard]] std::vector<std::int64_t> lateness() const {
        std::vector<std::int64_t> late;
        for (const auto& [body, at] : came) late.push_back(at - due.at(body));
        std::ranges::sort(late);
        return late;
    }
};

class DelayedTest : public OnEachStore {
protected:
    /// A machine with a full disk must not fail here.
    static std::string settings() { return onStore(GetParam()) + (GetParam() == "storage-mmap" ? "diskSpaceWarningLevelRatio = 99\n" : ""); }
    /// The recall handle of a message that was taken.
    std::string send(RawClient& client, const std::string& body, const std::string& name, std::int64_t value) {
        protocol::SendMessageRequest header;
        header.producerGroup = "p";
        header.topic = "Delayed";
        header.defaultTopic = "TBW102";
        header.defaultTopicQueueNums = 1;
        header.bornTimestamp = nowMs();
        const std::string properties = "UNIQ_KEY\1U" + body + "\2" + name + "\1" + std::to_string(value) + "\2";
        header.properties = properties;
        auto command = RemotingCommand::request(RequestCode::SendMessageV2);
        command.setHeader(header);
        command.body = body;
        const auto answer = client.call(command);
        EXPECT_TRUE(answer) << answer.error().message();
        if (!answer) return {};
        EXPECT_EQ(static_cast<ResponseCode>(answer->code), ResponseCode::Success) << answer->remark.value_or("");
        return std::string(answer->find("recallHandle").value_or(""));
    }
    /// Half of them by a level of a second, half by a time.
    void sendMany(RawClient& client, int count, std::int64_t firstMs, const std::string& prefix) {
        for (int i = 0; i < count; ++i) {
            const std::string body = prefix + std::to_string(i);
            const std::int64_t now = nowMs();
            if (i % 2 == 0) {
                messages_.due[body] = now + 1000;
                send(client, body, "DELAY", 1);
            } else {
                messages_.due[body] = now + firstMs + i % 400;
                send(client, body, "TIMER_DELIVER_MS", messages_.due[body]);
            }
        }
    }
    /// Reads on until all have come that were sent.
    void collect(RawClient& client) {
        const auto end = std::chrono::steady_clock::now() + 20s;
        while (messages_.came.size() < messages_.due.size() && std::chrono::steady_clock::now() < end) pullOnce(client);
        EXPECT_EQ(messages_.came.size(), messages_.due.size());
    }
    void pullOnce(RawClient& client, std::int64_t waitMs = 2000) {
        protocol::PullMessageRequest header;
        header.consumerGroup = "g";
        header.topic = "Delayed";
        header.queueOffset = next_;
        header.maxMsgNums = 32;
        header.suspendTimeoutMillis = waitMs;
        header.sysFlag = protocol::kPullFlagSubscription | protocol::kPullFlagSuspend;
        header.subscription = "*";
        auto command = RemotingCommand::request(RequestCode::PullMessage);
        command.setHeader(header);
        const auto answer = client.call(command);
        ASSERT_TRUE(answer) << answer.error().message();
        for (std::string_view rest = answer->body; !rest.empty();) {
            protocol::RecordView record;
            ASSERT_EQ(protocol::RecordView::parse(rest, record), protocol::RecordStatus::Message);
            const std::string body(record.body);
            EXPECT_TRUE(messages_.due.contains(body)) << body << " must not come";
            messages_.came.try_emplace(body, record.storeTimestamp);
            ++messages_.times[body];
            next_ = record.queueOffset + 1;
            rest.remove_prefix(static_cast<std::size_t>(record.size));
        }
    }
    void expectNoneEarly() {
        for (const auto& [body, at] : messages_.came) EXPECT_GE(at, messages_.due[body]) << body << " came early";
    }

    Messages messages_;
    std::int64_t next_ = 0;
};

TEST_P(DelayedTest, ComeInTime) {
    BrokerProcess broker("messageDelayLevel = 1s 3s\n" + settings());
    ASSERT_TRUE(broker.start()) << broker.output();
    RawClient client(broker.brokerPort());
    sendMany(client, 1000, 800, "m");
    collect(client);
    expectNoneEarly();
    const auto late = messages_.lateness();
    ASSERT_FALSE(late.empty());
    std::printf("late by %lld ms (median), %lld ms (most)\n", static_cast<long long>(late[late.size() / 2]), static_cast<long long>(late.back()));
    // A busy machine is slow; what this must find are ticks and polls.
    EXPECT_LE(late[late.size() / 2], 150);
    EXPECT_EQ(broker.stop(SIGTERM), 0) << broker.output();
}

TEST_P(DelayedTest, SurviveAKillAndAStop) {
    BrokerProcess broker("messageDelayLevel = 1s 3s\nrecallMessageEnable = true\n" + settings());
    ASSERT_TRUE(broker.start()) << broker.output();
    {
        RawClient client(broker.brokerPort());
        sendMany(client, 200, 600, "m");
        const std::string handle = send(client, "recalled", "TIMER_DELIVER_MS", nowMs() + 3500);
        protocol::RecallMessageRequest recall;
        recall.producerGroup = "p";
        recall.topic = "Delayed";
        recall.recallHandle = handle;
        auto command = RemotingCommand::request(RequestCode::RecallMessage);
        command.setHeader(recall);
        const auto answer = client.call(command);
        ASSERT_TRUE(answer) << answer.error().message();
        EXPECT_EQ(static_cast<ResponseCode>(answer->code), ResponseCode::Success) << answer->remark.value_or("");
        EXPECT_EQ(answer->find("msgId").value_or(""), "Urecalled");
    }
    broker.stop(SIGKILL);
    ASSERT_TRUE(broker.start()) << broker.output();
    {
        RawClient client(broker.brokerPort());
        sendMany(client, 20, 1500, "n");
    }
    EXPECT_EQ(broker.stop(SIGTERM), 0) << broker.output();
    ASSERT_TRUE(broker.start()) << broker.output();
    RawClient client(broker.brokerPort());
    collect(client);
    const auto end = std::chrono::steady_clock::now() + 4s;
    while (std::chrono::steady_clock::now() < end && !HasFailure()) pullOnce(client, 500);
    expectNoneEarly();
}

TEST_P(DelayedTest, TimedOnesComeOnceThoughTheBrokerIsKilledAmongThem) {
    BrokerProcess broker("timerFlushIntervalMs = 60000\n" + settings());
    ASSERT_TRUE(broker.start()) << broker.output();
    {
        RawClient client(broker.brokerPort());
        const std::int64_t begin = nowMs() + 1000;
        for (int i = 0; i < 400; ++i) {
            const std::string body = "t" + std::to_string(i);
            messages_.due[body] = begin + i * 8;
            send(client, body, "TIMER_DELIVER_MS", messages_.due[body]);
        }
    }
    for (std::size_t kills = 1; kills <= 3; ++kills) {
        RawClient client(broker.brokerPort());
        const auto end = std::chrono::steady_clock::now() + 20s;
        while (messages_.came.size() < kills * 90 && std::chrono::steady_clock::now() < end) pullOnce(client, 500);
        broker.stop(SIGKILL);
        ASSERT_TRUE(broker.start()) << broker.output();
    }
    RawClient client(broker.brokerPort());
    collect(client);
    const auto end = std::chrono::steady_clock::now() + 2s;
    while (std::chrono::steady_clock::now() < end && !HasFailure()) pullOnce(client, 500);
    for (const auto& [body, times] : messages_.times) EXPECT_EQ(times, 1) << body;
    expectNoneEarly();
}

PATCHBAY_ON_EACH_STORE(DelayedTest);

}  // namespace
}  // namespace patchbay::test

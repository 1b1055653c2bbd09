// Proved: a message that is called back in time never comes, whatever happens in between; later it is too late, and said so; refusals
// are RocketMQ's.
// How: the plugin on a fake kernel with a manual clock and a store in memory.
// Left to others: handles (protocol), that producers are given them (send), Java's client (interop).
#include "Bench.h"

#include "patchbay/protocol/headers/Recall.h"
#include "patchbay/protocol/message/RecallHandle.h"

namespace patchbay::plugins::timer {
namespace {

using protocol::RecallHandle;
using protocol::RequestCode;
using protocol::ResponseCode;
using service::AppendStatus;

using Bodies = std::vector<std::string>;

class RecallTest : public TimerBench, public ::testing::WithParamInterface<bool> {
protected:
    RecallTest() {
        settings_["recallMessageEnable"] = "true";
        store_.commitLog = GetParam();
    }

    testkit::CallResult recall(const std::string& handle, const std::string& topic = "T") {
        protocol::RecallMessageRequest header;
        header.producerGroup = "P";
        header.topic = topic;
        header.recallHandle = handle;
        auto result = context_.call(RequestCode::RecallMessage, header);
        context_.pump();
        return result;
    }
    /// The handle of a message that is due then.
    std::string handleOf(const std::string& body, std::int64_t dueMs) const {
        return RecallHandle{"T", "broker-a", (dueMs - 1) / 1000 * 1000 + 1, "U-" + body}.encode();
    }
};

TEST_P(RecallTest, ACalledBackMessageNeverComes) {
    start();
    const std::int64_t due = now() + 5000;
    sendIn(5000, "a");
    sendIn(5000, "b");
    advance(1000);
    auto answer = recall(handleOf("a", due));
    EXPECT_EQ(answer.code(), ResponseCode::Success) << answer.remark();
    EXPECT_EQ(answer.field("msgId"), "U-a");
    EXPECT_EQ(answer.field("MSG_REGION"), context_.identity().regionId);
    advance(60'000);
    EXPECT_EQ(delivered(), Bodies{"b"});
    EXPECT_EQ(counted("timer_recalled_total"), 1U);
}

TEST_P(RecallTest, TheRecallIsStoredAsRocketMqStoresIt) {
    start();
    const std::int64_t due = now() + 5000;
    sendIn(5000, "a");
    ASSERT_EQ(recall(handleOf("a", due)).code(), ResponseCode::Success);
    const auto all = stored(std::string(protocol::kTopicTimer), 0);
    ASSERT_EQ(all.size(), 2U);
    const auto& properties = all[1].properties;
    EXPECT_EQ(all[1].body, "0");
    EXPECT_EQ(protocol::findProperty(properties, "TIMER_DEL_UNIQKEY"), "T+U-a");
    EXPECT_EQ(protocol::findProperty(properties, "UNIQ_KEY"), "U-a");
    EXPECT_EQ(protocol::findProperty(properties, "TAGS"), "_RECALL_TAG_");
    EXPECT_EQ(protocol::findProperty(properties, "PGROUP"), "P");
    EXPECT_EQ(protocol::findProperty(properties, "REAL_TOPIC"), "T");
    EXPECT_EQ(protocol::findProperty(properties, "TIMER_OUT_MS"), protocol::findProperty(all[0].properties, "TIMER_OUT_MS"))
        << "RocketMQ looks for it in the same slot";
}

TEST_P(RecallTest, ItHoldsOverAKillAndAStop) {
    start();
    const std::int64_t due = now() + 5000;
    sendIn(5000, "a");
    sendIn(9000, "b");
    ASSERT_EQ(recall(handleOf("a", due)).code(), ResponseCode::Success);
    kill();
    ASSERT_EQ(recall(handleOf("b", due + 4000)).code(), ResponseCode::Success);
    restart();
    advance(60'000);
    EXPECT_EQ(delivered(), Bodies{});
}

TEST_P(RecallTest, OneMillisecondBeforeItsSlotItWinsAndInItItIsTooLate) {
    start();
    advance(1000 - now() % 1000);
    const std::int64_t due = now() + 5500;
    sendIn(5500, "a");
    sendIn(5500, "b");
    advance(5000);
    EXPECT_EQ(recall(handleOf("a", due)).code(), ResponseCode::Success) << "the slot begins in a millisecond";
    advance(1);
    auto late = recall(handleOf("b", due));
    EXPECT_EQ(late.code(), ResponseCode::IllegalOperation);
    EXPECT_EQ(late.remark(), "recall failed, timestamp invalid");
    advance(1000);
    EXPECT_EQ(delivered(), Bodies{"b"});
}

TEST_P(RecallTest, WithAPrecisionOfAMillisecondItWinsUntilTheEnd) {
    settings_["timerPrecisionMs"] = "1";
    start();
    const std::int64_t due = now() + 5500;
    sendIn(5500, "a");
    advance(5499);
    EXPECT_EQ(recall(RecallHandle{"T", "broker-a", due, "U-a"}.encode()).code(), ResponseCode::Success);
    advance(1000);
    EXPECT_EQ(delivered(), Bodies{});
}

TEST_P(RecallTest, ARecallThatIsNotStoredIsNone) {
    start();
    const std::int64_t due = now() + 5000;
    sendIn(5000, "a");
    store_.refuses = [](const auto& item) { return item.body == "0" ? AppendStatus::Busy : AppendStatus::PutOk; };
    auto failed = recall(handleOf("a", due));
    EXPECT_EQ(failed.code(), ResponseCode::SystemError);
    EXPECT_TRUE(failed.remark().starts_with("recall failed, execute error"));
    advance(60'000);
    EXPECT_EQ(delivered(), Bodies{"a"});
}

TEST_P(RecallTest, ACopyThatWasStoredAnewIsCalledBackToo) {
    settings_["timerRollAfter"] = "1000";
    start();
    const std::int64_t due = now() + 8000;
    sendIn(8000, "a");
    advance(3000);
    ASSERT_EQ(recall(handleOf("a", due)).code(), ResponseCode::Success);
    advance(60'000);
    EXPECT_EQ(delivered(), Bodies{});
}

TEST_P(RecallTest, OnlyTheNamedMessageIsMeant) {
    start();
    topics_.names.push_back("U");
    const std::int64_t due = now() + 5000;
    send("a", "TIMER_DELAY_SEC=5");
    send("a", "TIMER_DELAY_SEC=5", "U");
    ASSERT_EQ(recall(handleOf("a", due)).code(), ResponseCode::Success);
    advance(60'000);
    EXPECT_EQ(delivered("T"), Bodies{});
    EXPECT_EQ(delivered("U"), Bodies{"a"});
}

TEST_P(RecallTest, RefusesInRocketMqsOrderAndWords) {
    start();
    topics_.names.push_back("U");
    const std::string good = handleOf("a", now() + 5000);
    const auto expect = [](const testkit::CallResult& answer, ResponseCode code, std::string_view remark) {
        EXPECT_EQ(answer.code(), code);
        EXPECT_EQ(answer.remark(), remark);
    };
    expect(recall(good, "Nowhere"), ResponseCode::TopicNotExist, "recall failed, the topic[Nowhere] not exist");
    expect(recall("junk!"), ResponseCode::IllegalOperation, "recall handle is invalid");
    expect(recall(good, "U"), ResponseCode::IllegalOperation, "recall failed, topic not match");
    expect(recall(RecallHandle{"T", "other", now() + 5000, "U-a"}.encode()), ResponseCode::IllegalOperation,
           "recall failed, broker service not available");
    expect(recall(RecallHandle{"T", "broker-a", now(), "U-a"}.encode()), ResponseCode::IllegalOperation,
           "recall failed, timestamp invalid");
    expect(recall(RecallHandle{"T", "broker-a", now() + 259'200'000, "U-a"}.encode()), ResponseCode::IllegalOperation,
           "recall failed, timestamp invalid");
}

TEST_P(RecallTest, IsOffUnlessItIsSwitchedOn) {
    settings_.erase("recallMessageEnable");
    start();
    auto answer = recall(handleOf("a", now() + 5000));
    EXPECT_EQ(answer.code(), ResponseCode::NoPermission);
    EXPECT_EQ(answer.remark(), "recall failed, operation is forbidden");
}

TEST_P(RecallTest, IsRefusedByABrokerThatMayNotBeWrittenWhereAKeySaysSo) {
    settings_["allowRecallWhenBrokerNotWriteable"] = "false";
    start();
    sendIn(5000, "a");
    ASSERT_TRUE(runner_->reconfigure(*plugin_, {{"brokerPermission", "4"}}));
    EXPECT_EQ(recall(handleOf("a", now() + 5000)).code(), ResponseCode::ServiceNotAvailable);
    ASSERT_TRUE(runner_->reconfigure(*plugin_, {{"brokerPermission", "6"}}));
    EXPECT_EQ(recall(handleOf("a", now() + 5000)).code(), ResponseCode::Success);
}

TEST_P(RecallTest, RecallsOfMessagesWhoseTimeIsOverAreForgotten) {
    settings_["timerPendingMax"] = "3";
    start();
    for (int i = 0; i < 10; ++i) {
        sendIn(5000, "x");
        ASSERT_EQ(recall(handleOf("x", now() + 5000)).code(), ResponseCode::Success) << i;
        // Something has to come due for time to pass.
        sendIn(7000, "y");
        advance(9000);
    }
    EXPECT_EQ(delivered().size(), 10U);
}

TEST_P(RecallTest, OfAMessageThatWaitsLongLivesAsLongAsTheMessage) {
    settings_["timerRollAfter"] = "4000";
    start();
    const std::int64_t due = now() + 18'500;
    sendIn(18'500, "a");
    sendIn(18'500, "b");
    advance(1000);
    ASSERT_EQ(recall(handleOf("a", due)).code(), ResponseCode::Success);
    for (int i = 0; i < 20; ++i) {
        advance(1000);
        kill();
    }
    EXPECT_EQ(delivered(), Bodies{"b"});
}

INSTANTIATE_TEST_SUITE_P(Stores, RecallTest, ::testing::Bool(),
                         [](const auto& store) { return std::string(store.param ? "commitLog" : "other"); });

}  // namespace
}  // namespace patchbay::plugins::timer

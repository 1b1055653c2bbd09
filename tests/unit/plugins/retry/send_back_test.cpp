// Proved: what becomes of a message that a consumer sends back: another try after the right delay, the dead letters after the
// last, or a refusal in RocketMQ's words.
// How: real plugins on a fake kernel with a manual clock; also the recorded answers of a RocketMQ broker.
// Left to others: delays as such (delay), consumers (interop).
#include "Bench.h"

namespace patchbay::plugins::retry {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using protocol::ResponseCode;

TEST_F(RetryBench, AMessageComesBackAfterItsDelay) {
    const auto offset = consumed();
    const auto answer = sendBack(offset);
    EXPECT_EQ(answer.code(), ResponseCode::Success) << answer.remark();
    EXPECT_FALSE(answer.response().hasFields);
    context_.advance(9999ms);
    EXPECT_EQ(count("%RETRY%G"), 0);
    context_.advance(1ms);
    const Stored copy = stored("%RETRY%G");
    EXPECT_EQ(copy.record.body, "work");
    EXPECT_EQ(copy.record.reconsumeTimes, 1);
    EXPECT_EQ(copy.record.flag, 9);
    EXPECT_EQ(copy.record.bornTimestamp, 321);
    EXPECT_EQ(copy.record.bornHost().toString(), "10.0.0.1:77");
    EXPECT_EQ(copy.record.storeHost(), context_.identity().storeHost);
    EXPECT_EQ(property(copy, "UNIQ_KEY"), "U");
    EXPECT_EQ(property(copy, "TAGS"), "tag");
    EXPECT_EQ(property(copy, "RETRY_TOPIC"), "T");
    EXPECT_EQ(property(copy, "DELAY"), "3");
    EXPECT_EQ(property(copy, "WAIT"), "false");
    EXPECT_EQ(property(copy, "REAL_TOPIC"), "%RETRY%G");
    EXPECT_EQ(property(copy, "ORIGIN_MESSAGE_ID").size(), 32U);
}

TEST_F(RetryBench, WhatCameBackIsCountedByTopicAndGroup) {
    ASSERT_TRUE(topics().createIfMissing("First", 1, 6, 0));
    sendBack(consumed());
    sendBack(consumed(1, "RETRY_TOPIC\1First\2"s));
    sendBack(consumed(1, "RETRY_TOPIC\1Invented\2"s));  // by the producer, who may write what he likes
    const auto offset = consumed();
    store_.refuse(1, service::AppendStatus::Failed, Status(StatusCode::Io, "no"));
    EXPECT_EQ(sendBack(offset).code(), ResponseCode::SystemError);
    EXPECT_EQ(traffic_.told, (std::map<std::string, std::int64_t>{{"SNDBCK_PUT_NUMS T@G", 1}, {"SNDBCK_PUT_NUMS First@G", 1}}));
}

TEST_F(RetryBench, EachRetryWaitsOneLevelMore) {
    sendBack(consumed(0));
    sendBack(consumed(4));
    sendBack(consumed(15), 0, 100);
    sendBack(consumed(40), 0, 100);
    EXPECT_EQ(count("SCHEDULE_TOPIC_XXXX", 2), 1);
    EXPECT_EQ(count("SCHEDULE_TOPIC_XXXX", 6), 1);
    EXPECT_EQ(count("SCHEDULE_TOPIC_XXXX", 17), 2) << "the last level is the longest";
}

TEST_F(RetryBench, TheConsumersOwnLevelHolds) {
    sendBack(consumed(4), 1);
    context_.advance(1s);
    EXPECT_EQ(count("%RETRY%G"), 1);
    EXPECT_EQ(stored("%RETRY%G").record.reconsumeTimes, 5);
}

TEST_F(RetryBench, TheCountOfRetriesEndsWhereItsNumberDoes) {
    group("Endless", INT32_MAX, 1);
    EXPECT_EQ(sendBack(consumed(INT32_MAX - 1), 0, INT32_MAX, "Endless").code(), ResponseCode::Success);
    EXPECT_EQ(count("SCHEDULE_TOPIC_XXXX", 17), 1) << "the last level";
    EXPECT_EQ(sendBack(consumed(INT32_MAX), 0, INT32_MAX, "Endless").code(), ResponseCode::Success);
    ASSERT_EQ(count("%DLQ%Endless"), 1);
    EXPECT_EQ(stored("%DLQ%Endless").record.reconsumeTimes, INT32_MAX);
}

TEST_F(RetryBench, TheFirstTopicAndIdAreKept) {
    sendBack(consumed(1, "RETRY_TOPIC\1First\2ORIGIN_MESSAGE_ID\1ID\2REAL_TOPIC\1%RETRY%G\2REAL_QID\0010\2DELAY\0013\2"s), 1);
    context_.advance(1s);
    const Stored copy = stored("%RETRY%G");
    EXPECT_EQ(property(copy, "RETRY_TOPIC"), "First");
    EXPECT_EQ(property(copy, "ORIGIN_MESSAGE_ID"), "ID");
    EXPECT_EQ(property(copy, "DELAY"), "1");
}

TEST_F(RetryBench, AfterTheLastRetryItIsADeadLetterAtOnce) {
    group("Two", 2, 1);
    sendBack(consumed(1), 2, {}, "Two");
    EXPECT_EQ(count("%DLQ%Two"), 0);
    EXPECT_EQ(sendBack(consumed(2), 2, {}, "Two").code(), ResponseCode::Success);
    ASSERT_EQ(count("%DLQ%Two"), 1) << "without another delay";
    const Stored letter = stored("%DLQ%Two");
    EXPECT_EQ(letter.record.reconsumeTimes, 3);
    EXPECT_EQ(property(letter, "RETRY_TOPIC"), "T");
    EXPECT_EQ(property(letter, "DELAY"), "0");
    EXPECT_EQ(property(letter, "UNIQ_KEY"), "U");
    service::TopicFacts facts;
    ASSERT_TRUE(topics().find("%DLQ%Two", facts));
    EXPECT_EQ(facts.writeQueueNums, 1);
    EXPECT_EQ(facts.perm, 6);
    EXPECT_EQ(context_.metrics().value("retry_dead_letters_total"), 1U);
    EXPECT_EQ(context_.metrics().value("retry_messages_total"), 1U);
}

TEST_F(RetryBench, ANegativeLevelIsADeadLetter) {
    sendBack(consumed(), -1);
    EXPECT_EQ(count("%DLQ%G"), 1);
}

TEST_F(RetryBench, TheConsumersOwnLimitHoldsUnlessItIsTooOld) {
    for (const std::int32_t limit : {0, -1}) sendBack(consumed(), 0, limit);
    EXPECT_EQ(count("%DLQ%G"), 2);
    sendBack(consumed(1), 0, 1);
    EXPECT_EQ(count("%DLQ%G"), 3);
    sendBack(consumed(0), 0, 1);
    sendBack(consumed(20), 0, 21);
    EXPECT_EQ(count("%DLQ%G"), 3);
    testkit::CallOptions old;
    old.version = 120;
    sendBack(consumed(1), 0, 1, "G", old);
    EXPECT_EQ(count("%DLQ%G"), 3) << "the group's limit is 16";
    sendBack(consumed(16), 0, 100, "G", old);
    EXPECT_EQ(count("%DLQ%G"), 4);
}

TEST_F(RetryBench, RetriesSpreadOverTheQueuesOfTheirTopic) {
    group("Wide", 16, 2);
    for (int i = 0; i < 4; ++i) sendBack(consumed(), 1, {}, "Wide");
    context_.advance(1s);
    EXPECT_EQ(count("%RETRY%Wide", 0), 2);
    EXPECT_EQ(count("%RETRY%Wide", 1), 2);
}

TEST_F(RetryBench, AGroupWithoutRetryQueuesDropsTheMessage) {
    group("None", 16, 0);
    const auto offset = consumed();
    const auto before = store_.stats().messagesAppended;
    EXPECT_EQ(sendBack(offset, 0, {}, "None").code(), ResponseCode::Success);
    EXPECT_EQ(store_.stats().messagesAppended, before);
}

TEST_F(RetryBench, RefusalsSayWhy) {
    const auto offset = consumed();
    auto missing = sendBack(offset + 100'000);
    EXPECT_EQ(missing.code(), ResponseCode::SystemError);
    EXPECT_EQ(missing.remark(), "look message by offset failed, " + std::to_string(offset + 100'000));

    store_.refuse(1, service::AppendStatus::ServiceNotAvailable, {StatusCode::Full, "the disk is full"});
    auto refused = sendBack(offset);
    EXPECT_EQ(refused.code(), ResponseCode::SystemError);
    EXPECT_EQ(refused.remark(), "SERVICE_NOT_AVAILABLE: the disk is full");

    protocol::TopicConfig readOnly;
    readOnly.topicName = "%RETRY%G";
    readOnly.perm = 4;
    ASSERT_TRUE(topics().put(readOnly));
    EXPECT_EQ(sendBack(offset).code(), ResponseCode::NoPermission);

    ASSERT_TRUE(runner_.reconfigure(*plugin_, {{"brokerPermission", "4"}}));
    const auto forbidden = sendBack(offset);
    EXPECT_EQ(forbidden.code(), ResponseCode::NoPermission);
    EXPECT_TRUE(forbidden.remark().starts_with("the broker[")) << forbidden.remark();
    context_.brokerIdentity().brokerId = 1;
    auto replica = sendBack(offset);
    EXPECT_EQ(replica.code(), ResponseCode::SystemError);
    EXPECT_TRUE(replica.remark().starts_with("no master available along with ")) << replica.remark();
}

TEST_F(RetryBench, WhatIsStoredButNotYetSafeIsNoFailure) {
    const auto offset = consumed();
    store_.refuse(1, service::AppendStatus::FlushDiskTimeout, {});
    EXPECT_EQ(sendBack(offset).code(), ResponseCode::Success) << "else the consumer stores it a second time";
}

TEST_F(RetryBench, TheAnswerWaitsForTheStore) {
    const auto offset = consumed();
    store_.setManual(true);
    auto answer = sendBack(offset);
    EXPECT_TRUE(answer.held());
    store_.complete();
    EXPECT_EQ(answer.code(), ResponseCode::Success);
}

TEST_F(RetryBench, AnswersAsRocketMqDid) {
    group("RwG", 16, 1);
    group("RwGPol", 16, 1);
    group("RwGNoRetry", 16, 0);
    const std::string offset = std::to_string(consumed(0, "TAGS\1bk\2UNIQ_KEY\1BKUK\2"));
    int compared = 0;
    for (auto& pair : recorded::pairs("raw-send-back")) {
        if (pair.request.code != static_cast<std::int32_t>(protocol::RequestCode::ConsumerSendMsgBack)) continue;
        // RocketMQ stumbled over the missing originTopic there, after it had stored the message.
        if (pair.where == "raw-send-back 5") continue;
        if (pair.request.find("offset") == "70990") pair.request.set("offset", offset);
        recorded::expectSameAnswer(context_, pair);
        ++compared;
    }
    EXPECT_EQ(compared, 9);
    EXPECT_EQ(count("%DLQ%RwG"), 1);
    context_.advance(10s);
    EXPECT_EQ(count("%RETRY%RwG"), 2);
    EXPECT_EQ(count("%RETRY%RwGPol"), 1);
}

TEST_F(RetryBench, AMessageThatIsTooFullToBeRetriedIsADeadLetterAndNoLoop) {
    const std::string properties = "UNIQ_KEY\1U\2TAGS\1tag\2big\1" + std::string(32'700, 'x') + "\2";
    const std::int64_t offset = consumed(0, properties);
    EXPECT_EQ(sendBack(offset).code(), ResponseCode::Success);
    EXPECT_EQ(count("%DLQ%G"), 1);
    const Stored letter = stored("%DLQ%G");
    EXPECT_EQ(letter.record.body, "work");
    EXPECT_EQ(property(letter, "UNIQ_KEY"), "U");
    EXPECT_EQ(property(letter, "RETRY_TOPIC"), "T");
    EXPECT_NE(property(letter, "ORIGIN_MESSAGE_ID"), "");
    EXPECT_EQ(property(letter, "big"), "");
    EXPECT_TRUE(context_.log().contains("too full of properties"));
}

}  // namespace
}  // namespace patchbay::plugins::retry

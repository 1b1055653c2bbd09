// Proved: where messages go that consumers send to a retry topic themselves: the retry topic, by way of the schedule when they
// ask for it, or the dead letters.
// How: the real send plugin asks the policy; the recorded answers of a RocketMQ broker are replayed.
// Left to others: sends to other topics (send).
#include "Bench.h"

namespace patchbay::plugins::retry {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;
using protocol::ResponseCode;

protocol::SendMessageRequest retrySend(std::int32_t reconsumeTimes, std::string_view properties) {
    protocol::SendMessageRequest header;
    header.producerGroup = "CLIENT_INNER_PRODUCER";
    header.topic = "%RETRY%G";
    header.defaultTopic = "TBW102";
    header.defaultTopicQueueNums = 4;
    header.properties = properties;
    header.reconsumeTimes = reconsumeTimes;
    header.maxReconsumeTimes = 16;
    return header;
}

TEST_F(RetryBench, AConsumersOwnRetryWaitsForItsLevel) {
    const std::string own = "RETRY_TOPIC\1T\2DELAY\0013\2UNIQ_KEY\1U\2"s;
    const auto answer = context_.call(protocol::RequestCode::SendMessageV2, retrySend(1, own), "work");
    EXPECT_EQ(answer.code(), ResponseCode::Success) << answer.remark();
    EXPECT_EQ(answer.field("queueId"), "0") << "the producer's queue, not the schedule's";
    context_.pump();
    context_.advance(9999ms);
    EXPECT_EQ(count("%RETRY%G"), 0);
    context_.advance(1ms);
    ASSERT_EQ(count("%RETRY%G"), 1);
    EXPECT_EQ(stored("%RETRY%G").record.reconsumeTimes, 1);
    EXPECT_EQ(property(stored("%RETRY%G"), "RETRY_TOPIC"), "T");
}

TEST_F(RetryBench, AboveTheLimitAConsumersOwnRetryIsADeadLetterAtOnce) {
    const std::string own = "RETRY_TOPIC\1T\2DELAY\0013\2UNIQ_KEY\1U\2"s;
    context_.call(protocol::RequestCode::SendMessageV2, retrySend(16, own), "at the limit");
    EXPECT_EQ(count("%DLQ%G"), 0);
    EXPECT_EQ(context_.call(protocol::RequestCode::SendMessageV2, retrySend(17, own), "above").code(), ResponseCode::Success);
    ASSERT_EQ(count("%DLQ%G"), 1);
    EXPECT_EQ(stored("%DLQ%G").record.body, "above");
    EXPECT_EQ(property(stored("%DLQ%G"), "DELAY"), "-1");
}

TEST_F(RetryBench, ARetryWithTheMarkOfATransactionIsNone) {
    const std::string own = "TRAN_MSG\1true\2RETRY_TOPIC\1T\2DELAY\0013\2UNIQ_KEY\1U\2"s;
    EXPECT_EQ(context_.call(protocol::RequestCode::SendMessageV2, retrySend(1, own), "work").code(), ResponseCode::Success);
    EXPECT_EQ(context_.call(protocol::RequestCode::SendMessageV2, retrySend(17, own), "above").code(), ResponseCode::Success);
    EXPECT_EQ(count("%DLQ%G"), 1);
    context_.pump();
    context_.advance(10s);
    EXPECT_EQ(count("%RETRY%G"), 1);
}

TEST_F(RetryBench, TheGroupOfARetryTopicMayBeFollowedByATopic) {
    service::RetryPolicy& policy = recorded::provided<service::RetryPolicy>(context_);
    EXPECT_EQ(policy.judge({"%RETRY%G+T", 17, 16, 400}).deadLetterTopic, "%DLQ%G");
    EXPECT_TRUE(policy.judge({"%RETRY%G+T", 16, 16, 400}).deadLetterTopic.empty());
}

TEST_F(RetryBench, WhatAnOrderlyGroupGivesUpIsADeadLetterHoweverOftenItWasTried) {
    service::RetryPolicy& policy = recorded::provided<service::RetryPolicy>(context_);
    EXPECT_TRUE(policy.judge({"%RETRY%G", 3, 16, 400}).deadLetterTopic.empty());
    locks_.group = "G";
    EXPECT_EQ(policy.judge({"%RETRY%G", 3, 16, 400}).deadLetterTopic, "%DLQ%G");
    EXPECT_TRUE(policy.judge({"%RETRY%Another", 3, 16, 400}).deadLetterTopic.empty());
    locks_.group.clear();
    EXPECT_TRUE(policy.judge({"%RETRY%G", 3, 16, 400}).deadLetterTopic.empty()) << "its locks are gone";
}

/// The same table for what is sent back and for what a consumer sends itself; a send is judged one try later, because the
/// consumer has counted it already.
TEST_F(RetryBench, TheLimitOfRetriesIsTheSameHoweverItIsSaid) {
    struct Case {
        std::int32_t groupMax;
        std::optional<std::int32_t> clientMax;
        std::int32_t limit;
    };
    for (const Case& c : {Case{16, {}, 16}, Case{16, 0, 0}, Case{16, 1, 1}, Case{16, 16, 16}, Case{2, {}, 2}, Case{2, 5, 5}, Case{0, {}, 0},
                          Case{16, -1, -1}}) {
        SCOPED_TRACE(std::to_string(c.groupMax) + " " + std::to_string(c.clientMax.value_or(-99)));
        group("Limit", c.groupMax, 1);
        service::RetryPolicy& policy = recorded::provided<service::RetryPolicy>(context_);
        EXPECT_TRUE(policy.judge({"%RETRY%Limit", c.limit, c.clientMax, 400}).deadLetterTopic.empty());
        EXPECT_EQ(policy.judge({"%RETRY%Limit", c.limit + 1, c.clientMax, 400}).deadLetterTopic, "%DLQ%Limit");
        const std::int64_t dead = count("%DLQ%Limit");
        if (c.limit > 0) {
            EXPECT_EQ(sendBack(consumed(c.limit - 1), 0, c.clientMax, "Limit").code(), ResponseCode::Success);
            EXPECT_EQ(count("%DLQ%Limit"), dead);
        }
        EXPECT_EQ(sendBack(consumed(std::max(c.limit, 0)), 2, c.clientMax, "Limit").code(), ResponseCode::Success);
        EXPECT_EQ(count("%DLQ%Limit"), dead + 1) << "at once, whatever level was asked for";
    }
}

TEST_F(RetryBench, ARetryOfNoGroupIsRefused) {
    const auto verdict = recorded::provided<service::RetryPolicy>(context_).judge({"%RETRY%bad group!", 0, 16, 400});
    EXPECT_EQ(verdict.code, ResponseCode::SubscriptionGroupNotExist);
    EXPECT_TRUE(verdict.remark.starts_with("subscription group not exist, bad group! ")) << verdict.remark;
}

TEST_F(RetryBench, SendsToRetryTopicsAreAnsweredAsByRocketMq) {
    group("RwG", 16, 1);
    int compared = 0;
    for (const auto& pair : recorded::pairs("raw-send-retry-topic")) {
        SCOPED_TRACE(pair.where);
        testkit::CallOptions client;
        client.version = pair.request.version;
        auto answer = context_.send(pair.request, client);
        ASSERT_TRUE(answer.answered());
        EXPECT_EQ(static_cast<std::int32_t>(answer.code()), pair.response->code);
        EXPECT_EQ(answer.remark(), pair.response->remark.value_or(""));
        for (const char* field : {"queueId", "queueOffset", "transactionId"}) {
            EXPECT_EQ(answer.field(field), std::string(pair.response->find(field).value_or(""))) << field;
        }
        ++compared;
    }
    EXPECT_EQ(compared, 6);
}

}  // namespace
}  // namespace patchbay::plugins::retry

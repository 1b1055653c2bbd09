// Proves: what is stored for a half message, its commit and its rollback, and what whoever ends a transaction is answered.
// How: the plugin with the real send, topics, clients and offsets plugins over the store in memory; requests are frames.
// Left to others: questions to producers (checker_test), restarts (recovery_test), recorded answers (recorded_test).
#include "TransactionBench.h"

#include "patchbay/protocol/util/Hash.h"

namespace patchbay::plugins::transaction {
namespace {

using protocol::RequestCode;
using protocol::ResponseCode;

TEST_F(TransactionTest, AHalfMessageIsStoredAsideWithItsDestination) {
    Broker& broker = begin();
    auto sent = broker.send("TRAN_MSG\1true\2PGROUP\1P\2UNIQ_KEY\1U\2TAGS\1a", "body", 3);
    ASSERT_EQ(sent.code(), ResponseCode::Success);
    EXPECT_EQ(sent.field("queueId"), "3");
    EXPECT_EQ(sent.field("queueOffset"), "0");
    EXPECT_EQ(sent.field("transactionId"), "U");
    EXPECT_FALSE(store_.range("T", 3).exists);
    const auto halves = broker.halves();
    ASSERT_EQ(halves.size(), 1U);
    const Stored& half = halves[0];
    EXPECT_EQ(half.view.body, "body");
    EXPECT_EQ(half.view.sysFlag, 0);
    EXPECT_EQ(half.property("REAL_TOPIC"), "T");
    EXPECT_EQ(half.property("REAL_QID"), "3");
    EXPECT_EQ(half.property("__transactionId__"), "U");
    EXPECT_EQ(half.property("TRAN_MSG"), "true");
    EXPECT_EQ(half.property("TAGS"), "a");
    EXPECT_EQ(half.property("CLUSTER"), broker.context.identity().clusterName);
}

TEST_F(TransactionTest, AProducerCannotRedirectItsMessageByProperties) {
    Broker& broker = begin();
    const Half half = broker.half("U", "REAL_TOPIC\1Other\2REAL_QID\0019\2");
    EXPECT_EQ(broker.commit(half).code(), ResponseCode::Success);
    EXPECT_EQ(broker.all("T", 2).size(), 1U);
    EXPECT_FALSE(store_.range("Other", 9).exists);
}

TEST_F(TransactionTest, ACommitBringsTheMessageToItsQueue) {
    Broker& broker = begin();
    const Half half = broker.half("U");
    auto answer = broker.commit(half);
    EXPECT_EQ(answer.code(), ResponseCode::Success);
    EXPECT_EQ(answer.remark(), "");
    EXPECT_FALSE(answer.response().hasFields);
    const auto messages = broker.all("T", 2);
    ASSERT_EQ(messages.size(), 1U);
    const auto halves = broker.halves();   // keeps what the views below look at
    const Stored& before = halves.at(0);
    const auto& view = messages[0].view;
    EXPECT_EQ(view.body, "body");
    EXPECT_EQ(view.sysFlag, protocol::kSysFlagCommit);
    EXPECT_EQ(view.preparedTransactionOffset, half.physicalOffset);
    EXPECT_EQ(view.flag, 7);
    EXPECT_EQ(view.reconsumeTimes, 3);
    EXPECT_EQ(view.bornTimestamp, before.view.bornTimestamp);
    EXPECT_EQ(view.bornHost(), before.view.bornHost());
    EXPECT_EQ(view.properties, before.view.properties);
    service::ReadResult byTag;
    store_.read("T", 2, 0, {}, nullptr, byTag);
    EXPECT_EQ(byTag.messages, 1);
}

TEST_F(TransactionTest, AHalfMessageThatIsOnTheDiskOnlyIsReadOnTheExecutor) {
    Broker& broker = begin();
    const Half first = broker.half("A");
    const Half second = broker.half("B");
    const Half third = broker.half("C");
    EXPECT_EQ(broker.commit(first).rounds(), 1) << "in memory: on the loop";
    store_.setResident(false);
    const auto committed = broker.commit(second);
    EXPECT_EQ(committed.code(), ResponseCode::Success);
    EXPECT_EQ(committed.rounds(), 2);
    const auto rolledBack = broker.end(third, 12);
    EXPECT_EQ(rolledBack.code(), ResponseCode::Success);
    EXPECT_EQ(rolledBack.rounds(), 2);
    const auto missing = broker.commit({77, 1'000'000});
    EXPECT_EQ(missing.remark(), "Find prepared transaction message failed");
    EXPECT_EQ(broker.all("T", 2).size(), 2U);
    EXPECT_EQ(broker.ops(), "0,1,2,");
}

TEST_F(TransactionTest, WhatHasEndedIsWrittenDownInRocketMqsForm) {
    Broker& broker = begin();
    const Half first = broker.half("A");
    const Half second = broker.half("B");
    broker.commit(second);
    EXPECT_EQ(broker.ops(), "1,");
    auto rolled = broker.end(first, 12);
    EXPECT_EQ(rolled.code(), ResponseCode::Success);
    EXPECT_EQ(rolled.remark(), "not set any response code");
    EXPECT_EQ(broker.ops(), "1,0,");
    const auto ops = broker.all(protocol::kTopicTransOpHalf);
    EXPECT_EQ(ops[0].property("TAGS"), "d");
    EXPECT_EQ(ops[0].view.storeHost(), broker.context.identity().storeHost);
    EXPECT_EQ(broker.all("T", 2).size(), 1U);
}

TEST_F(TransactionTest, WhatEndsInOneTurnSharesAnOp) {
    Broker& broker = begin();
    testkit::CallOptions same;
    same.endOfBatch = false;
    std::vector<Half> halves;
    for (int i = 0; i < 5; ++i) halves.push_back(broker.half("U" + std::to_string(i)));
    for (const Half& half : halves) broker.context.call(RequestCode::EndTransaction, Broker::ending(half, 8), {}, same);
    EXPECT_EQ(broker.all("T", 2).size(), 0U);
    broker.context.endBatch();
    EXPECT_EQ(broker.all("T", 2).size(), 5U);
    ASSERT_EQ(broker.all(protocol::kTopicTransOpHalf).size(), 1U);
    EXPECT_EQ(broker.ops(), "0,1,2,3,4,");
}

TEST_F(TransactionTest, AnOpStaysBelowItsLargestSize) {
    Broker& broker = begin({{"transactionOpMsgMaxSize", "32"}});
    testkit::CallOptions same;
    same.endOfBatch = false;
    std::vector<Half> halves;
    for (int i = 0; i < 20; ++i) halves.push_back(broker.half("U" + std::to_string(i)));
    for (const Half& half : halves) broker.context.call(RequestCode::EndTransaction, Broker::ending(half, 12), {}, same);
    broker.context.endBatch();
    const auto ops = broker.all(protocol::kTopicTransOpHalf);
    EXPECT_GT(ops.size(), 1U);
    for (const auto& op : ops) EXPECT_LE(op.view.body.size(), 32U);
    EXPECT_TRUE(broker.ops().ends_with("18,19,"));
}

TEST_F(TransactionTest, ASecondCommitIsAnsweredAndStoresNothing) {
    Broker& broker = begin();
    const Half half = broker.half("U");
    broker.commit(half);
    EXPECT_EQ(broker.end(half, 8, true).code(), ResponseCode::Success);
    EXPECT_EQ(broker.end(half, 12).code(), ResponseCode::Success);
    EXPECT_EQ(broker.all("T", 2).size(), 1U);
    EXPECT_EQ(broker.ops(), "0,");
}

TEST_F(TransactionTest, ACommitAfterARollbackDeliversNothing) {
    Broker& broker = begin();
    const Half half = broker.half("U");
    broker.end(half, 12);
    EXPECT_EQ(broker.commit(half).code(), ResponseCode::Success);
    EXPECT_EQ(broker.all("T", 2).size(), 0U);
}

TEST_F(TransactionTest, WrongEndingsAreRefusedAndLeaveTheMessageOpen) {
    Broker& broker = begin();
    const Half half = broker.half("U");
    auto request = Broker::ending(half, 8);
    request.producerGroup = "Wrong";
    EXPECT_EQ(broker.context.call(RequestCode::EndTransaction, request).remark(), "The producer group wrong");
    EXPECT_EQ(broker.end({99, half.physicalOffset}, 8).remark(), "The transaction state table offset wrong");
    auto missing = broker.end({half.queueOffset, 77'777'777}, 8);
    EXPECT_EQ(missing.code(), ResponseCode::SystemError);
    EXPECT_EQ(missing.remark(), "Find prepared transaction message failed");
    EXPECT_EQ(broker.end(half, 5).code(), ResponseCode::SystemError);
    EXPECT_EQ(broker.context.call(RequestCode::EndTransaction, testkit::Fields{}).code(), ResponseCode::SystemError);
    EXPECT_EQ(broker.end(half, 0).code(), ResponseCode::Success);
    EXPECT_EQ(broker.all("T", 2).size(), 0U);
    EXPECT_EQ(broker.ops(), "");
    EXPECT_EQ(broker.commit(half).code(), ResponseCode::Success);
    EXPECT_EQ(broker.all("T", 2).size(), 1U);
}

TEST_F(TransactionTest, OnlyHalfMessagesCanBeCommitted) {
    Broker& broker = begin();
    auto plain = broker.send("PGROUP\1P\2UNIQ_KEY\1U\2REAL_TOPIC\1T\2REAL_QID\0011\2");
    const Half place{0, protocol::MessageId::parse(plain.field("msgId"))->physicalOffset};
    EXPECT_EQ(broker.commit(place).remark(), "Find prepared transaction message failed");
    EXPECT_FALSE(store_.range("T", 1).exists);
}

TEST_F(TransactionTest, AReplicaEndsNothing) {
    broker_ = std::make_unique<Broker>(store_, dir_.path());
    broker_->context.brokerIdentity().brokerId = 1;
    broker_->start();
    EXPECT_EQ(broker_->commit({0, 0}).code(), ResponseCode::SlaveNotAvailable);
}

TEST_F(TransactionTest, ALateCommitLosesAgainstTheQuestionOnlyWhenTheMessageNamesAnImmunity) {
    Broker& broker = begin({{"transactionCheckInterval", "3600000"}});
    const Half plain = broker.half("A");
    const Half immune = broker.half("B", "CHECK_IMMUNITY_TIME_IN_SECONDS\00110\2");
    pass(std::chrono::seconds(10));
    EXPECT_EQ(broker.end(immune, 0).code(), ResponseCode::Success);
    pass(std::chrono::seconds(1));
    EXPECT_EQ(broker.commit(immune).code(), ResponseCode::IllegalOperation);
    EXPECT_EQ(broker.commit(plain).code(), ResponseCode::Success);
    EXPECT_EQ(broker.end(immune, 8, true).code(), ResponseCode::Success);
    EXPECT_EQ(broker.all("T", 2).size(), 2U);
}

TEST_F(TransactionTest, ACommitThatTheStoreRefusesCanBeRepeated) {
    Broker& broker = begin();
    const Half half = broker.half("U");
    store_.refuse(1, service::AppendStatus::ServiceNotAvailable, Status(StatusCode::Unavailable, "disk full"));
    EXPECT_EQ(broker.commit(half).code(), ResponseCode::ServiceNotAvailable);
    EXPECT_EQ(broker.ops(), "");
    EXPECT_EQ(broker.commit(half).code(), ResponseCode::Success);
    EXPECT_EQ(broker.all("T", 2).size(), 1U);
}

TEST_F(TransactionTest, AnOpThatTheStoreRefusesIsWrittenLater) {
    Broker& broker = begin();
    const Half half = broker.half("U");
    store_.refuse(1, service::AppendStatus::Busy, Status(StatusCode::Busy, "busy"));
    EXPECT_EQ(broker.end(half, 12).code(), ResponseCode::Success);
    EXPECT_EQ(broker.ops(), "");
    pass(std::chrono::seconds(2));
    EXPECT_EQ(broker.ops(), "0,");
}

class Later final : public service::DelaySchedule {
public:
    Status prepare(service::AppendItem& item, std::string& properties) override {
        properties = std::string(item.properties) + "LATER\1yes\2";
        item.properties = properties;
        item.topic = "SCHEDULE_TOPIC_XXXX";
        item.queueId = 2;
        return Status::ok();
    }
};

TEST_F(TransactionTest, TheDelayOfAMessageBeginsWithItsCommit) {
    Later later;
    broker_ = std::make_unique<Broker>(store_, dir_.path());
    broker_->context.provide<service::DelaySchedule>(later);
    broker_->start();
    const Half half = broker_->half("U", "DELAY\0013\2");
    EXPECT_FALSE(store_.range("SCHEDULE_TOPIC_XXXX", 2).exists);
    EXPECT_EQ(broker_->commit(half).code(), ResponseCode::Success);
    ASSERT_EQ(broker_->all("SCHEDULE_TOPIC_XXXX", 2).size(), 1U);
    const auto delayed = broker_->all("SCHEDULE_TOPIC_XXXX", 2)[0];
    EXPECT_EQ(delayed.property("LATER"), "yes");
    EXPECT_EQ(delayed.view.sysFlag, protocol::kSysFlagCommit);
    EXPECT_EQ(broker_->ops(), "0,");
    broker_->runner.stop();
}

TEST_F(TransactionTest, WithoutASchedulerADelayedMessageIsNotDeliveredAtOnce) {
    Broker& broker = begin();
    const Half half = broker.half("U", "DELAY\0013\2");
    EXPECT_EQ(broker.commit(half).code(), ResponseCode::MessageIllegal);
    EXPECT_EQ(broker.all("T", 2).size(), 0U);
}

}  // namespace
}  // namespace patchbay::plugins::transaction

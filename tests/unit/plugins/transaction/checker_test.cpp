// Proves: who is asked about an open transaction, when, how often and what about; and that nothing keeps the others waiting.
// How: rounds on a manual clock over the store in memory; producers are connections without sockets.
// Left to others: ending transactions (end_transaction_test), restarts (recovery_test).
#include "TransactionBench.h"

#include <set>

namespace patchbay::plugins::transaction {
namespace {

using namespace std::chrono_literals;
using protocol::RequestCode;
using protocol::ResponseCode;

TEST_F(TransactionTest, ATimerRunsOnlyWhileSomethingIsOpen) {
    Broker& broker = begin();
    pass(60s);  // other plugins have timers for their start
    const std::size_t idle = broker.context.timers().count();
    const Half half = broker.half("U");
    EXPECT_EQ(broker.context.timers().count(), idle + 1);
    broker.half("V");
    EXPECT_EQ(broker.context.timers().count(), idle + 1);
    broker.commit(half);
    broker.end({1, broker.halves()[1].view.physicalOffset}, 12);
    pass(31s);
    EXPECT_EQ(broker.context.timers().count(), idle);
    EXPECT_EQ(broker.progress(protocol::kTopicTransHalf), 2);
    EXPECT_EQ(broker.progress(protocol::kTopicTransOpHalf), 2);
}

TEST_F(TransactionTest, TheProducerIsAskedAboutACopyOfTheMessage) {
    Broker& broker = begin();
    auto peer = broker.producer();
    const Half half = broker.half("U");
    pass(29s);
    EXPECT_TRUE(Broker::questions(*peer).empty());
    pass(2s);
    const auto asked = Broker::questions(*peer);
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].find("topic"), "RMQ_SYS_TRANS_HALF_TOPIC");
    EXPECT_EQ(asked[0].find("msgId"), "U");
    EXPECT_EQ(asked[0].find("transactionId"), "U");
    EXPECT_EQ(asked[0].find("bname"), broker.context.identity().brokerName);
    const Half copy = Broker::placeOf(asked[0]);
    EXPECT_EQ(copy.queueOffset, 1);
    const auto id = protocol::MessageId::parse(asked[0].find("offsetMsgId").value_or(""));
    ASSERT_TRUE(id);
    EXPECT_EQ(id->physicalOffset, copy.physicalOffset);

    protocol::RecordView body;
    ASSERT_EQ(protocol::RecordView::parse(asked[0].body, body), protocol::RecordStatus::Message);
    EXPECT_EQ(body.topic, "T");
    EXPECT_EQ(body.queueId, 2);
    EXPECT_EQ(body.queueOffset, 1);
    EXPECT_EQ(body.physicalOffset, copy.physicalOffset);
    EXPECT_EQ(protocol::findProperty(body.properties, "PGROUP"), "P");

    const auto halves = broker.halves();
    ASSERT_EQ(halves.size(), 2U);
    EXPECT_EQ(halves[1].property("TRANSACTION_CHECK_TIMES"), "1");
    EXPECT_EQ(halves[1].property("REAL_TOPIC"), "T");
    EXPECT_EQ(halves[1].property("WAIT"), "false");
    EXPECT_EQ(halves[1].view.flag, 7);
    EXPECT_EQ(halves[1].view.reconsumeTimes, 3);
    EXPECT_EQ(halves[1].view.bornTimestamp, halves[0].view.bornTimestamp);
    EXPECT_EQ(broker.progress(protocol::kTopicTransHalf), 1);

    EXPECT_EQ(broker.end(copy, 8, true).code(), ResponseCode::Success);
    ASSERT_EQ(broker.all("T", 2).size(), 1U);
    EXPECT_EQ(broker.all("T", 2)[0].view.preparedTransactionOffset, copy.physicalOffset);
    EXPECT_EQ(broker.commit(half).code(), ResponseCode::Success);
    pass(120s);
    EXPECT_EQ(broker.all("T", 2).size(), 1U);
    EXPECT_EQ(Broker::questions(*peer).size(), 1U);
    EXPECT_EQ(broker.context.metrics().value("transaction_checks_total"), 1U);
}

TEST_F(TransactionTest, AnImmunityThatIsNoTimeIsNone) {
    Broker& broker = begin();
    auto peer = broker.producer();
    // In milliseconds it would be beyond what a number holds, on the other side of zero.
    broker.half("U", "CHECK_IMMUNITY_TIME_IN_SECONDS\1-9223372036854776\2");
    pass(31s);
    EXPECT_EQ(Broker::questions(*peer).size(), 1U);
}

TEST_F(TransactionTest, AMessageThatIsTooYoungWaitsForTheNextRound) {
    Broker& broker = begin();
    auto peer = broker.producer();
    broker.half("old");
    pass(28s);
    broker.half("young");
    pass(3s);
    ASSERT_EQ(Broker::questions(*peer).size(), 1U);
    EXPECT_EQ(Broker::questions(*peer)[0].find("msgId"), "old");
    pass(30s);
    EXPECT_EQ(Broker::questions(*peer).size(), 3U);
}

TEST_F(TransactionTest, ProducersOfAGroupAreAskedInTurn) {
    Broker& broker = begin();
    auto first = broker.producer("P", "p@1");
    auto second = broker.producer("P", "p@2");
    auto other = broker.producer("Q", "q@1");
    for (int i = 0; i < 10; ++i) broker.half("U" + std::to_string(i));
    pass(31s);
    EXPECT_EQ(Broker::questions(*first).size(), 5U);
    EXPECT_EQ(Broker::questions(*second).size(), 5U);
    EXPECT_TRUE(Broker::questions(*other).empty());
}

TEST_F(TransactionTest, AProducerThatCannotBeReachedIsPassedOver) {
    Broker& broker = begin();
    auto full = broker.producer("P", "p@1");
    auto open = broker.producer("P", "p@2");
    full->refusePushes(Status(StatusCode::Busy, "full"));
    for (int i = 0; i < 4; ++i) broker.half("U" + std::to_string(i));
    pass(31s);
    EXPECT_EQ(Broker::questions(*open).size(), 4U);
}

TEST_F(TransactionTest, ACommitOfTheFirstPlaceEndsTheCopy) {
    Broker& broker = begin();
    auto peer = broker.producer();
    const Half half = broker.half("U");
    pass(61s);
    ASSERT_EQ(Broker::questions(*peer).size(), 2U);
    EXPECT_EQ(broker.commit(half).code(), ResponseCode::Success);
    EXPECT_EQ(broker.all("T", 2).size(), 1U);
    EXPECT_EQ(broker.end(Broker::placeOf(Broker::questions(*peer)[1]), 8, true).code(), ResponseCode::Success);
    EXPECT_EQ(broker.all("T", 2).size(), 1U);
    pass(120s);
    EXPECT_EQ(Broker::questions(*peer).size(), 2U);
}

TEST_F(TransactionTest, ACommitThatMeetsTheCopyingWaitsForItAndDeliversOnce) {
    Broker& broker = begin();
    const Half half = broker.half("U");
    store_.setManual(true);
    pass(31s);
    auto waiting = broker.commit(half);
    EXPECT_FALSE(waiting.answered());
    store_.setManual(false);
    store_.complete();
    broker.context.pump();
    ASSERT_TRUE(waiting.answered());
    EXPECT_EQ(waiting.code(), ResponseCode::Success);
    ASSERT_EQ(broker.all("T", 2).size(), 1U);
    pass(120s);
    EXPECT_EQ(broker.all("T", 2).size(), 1U);
    EXPECT_EQ(broker.halves().size(), 2U);
}

TEST_F(TransactionTest, AfterTheLastQuestionTheMessageIsSetAsideAndCanBeResumed) {
    Broker& broker = begin({{"transactionCheckMax", "3"}});
    auto peer = broker.producer();
    broker.half("U");
    pass(200s);
    EXPECT_EQ(Broker::questions(*peer).size(), 3U);
    const auto aside = broker.all(protocol::kTopicTransCheckMaxTime);
    ASSERT_EQ(aside.size(), 1U);
    EXPECT_EQ(aside[0].property("REAL_TOPIC"), "T");
    EXPECT_EQ(aside[0].property("TRANSACTION_CHECK_TIMES"), "3");
    EXPECT_EQ(broker.context.metrics().value("transaction_given_up_total"), 1U);
    service::TopicFacts facts;
    ASSERT_TRUE(broker.context.services().find<service::TopicConfigs>()->find(protocol::kTopicTransCheckMaxTime, facts));
    EXPECT_EQ(facts.writeQueueNums, 1);
    EXPECT_EQ(facts.perm, 6);

    const std::string id = protocol::MessageId{broker.context.identity().storeHost, aside[0].view.physicalOffset}.toString();
    EXPECT_EQ(broker.context.call(RequestCode::ResumeCheckHalfMessage, testkit::Fields{{"msgId", id}}).code(), ResponseCode::Success);
    EXPECT_EQ(broker.halves().back().property("TRANSACTION_CHECK_TIMES"), "0");
    peer = broker.producer();  // silent ones are forgotten after two minutes
    pass(31s);
    ASSERT_EQ(Broker::questions(*peer).size(), 1U);
    EXPECT_EQ(broker.end(Broker::placeOf(Broker::questions(*peer)[0]), 8, true).code(), ResponseCode::Success);
    EXPECT_EQ(broker.all("T", 2).size(), 1U);
}

TEST_F(TransactionTest, ResumingAnOpenMessageDoesNotDoubleIt) {
    Broker& broker = begin();
    const Half half = broker.half("U");
    const std::string id = protocol::MessageId{broker.context.identity().storeHost, half.physicalOffset}.toString();
    EXPECT_EQ(broker.context.call(RequestCode::ResumeCheckHalfMessage, testkit::Fields{{"msgId", id}}).code(), ResponseCode::Success);
    EXPECT_EQ(broker.halves().size(), 1U);
}

TEST_F(TransactionTest, ABadMessageKeepsNobodyWaiting) {
    Broker& broker = begin();
    auto peer = broker.producer();
    ASSERT_EQ(broker.send("TRAN_MSG\1true\2UNIQ_KEY\1bad\2").code(), ResponseCode::Success);
    ASSERT_EQ(broker.send("TRAN_MSG\1true\2PGROUP\1Nobody\2UNIQ_KEY\1lonely\2").code(), ResponseCode::Success);
    for (int i = 0; i < 1000; ++i) broker.half("U" + std::to_string(i));
    pass(31s);
    EXPECT_EQ(Broker::questions(*peer).size(), 1000U);
    EXPECT_EQ(broker.context.metrics().value("transaction_bad_half_total"), 1U);
    ASSERT_EQ(broker.all(protocol::kTopicTransCheckMaxTime).size(), 1U);
    EXPECT_EQ(broker.all(protocol::kTopicTransCheckMaxTime)[0].property("UNIQ_KEY"), "bad");
    EXPECT_EQ(broker.progress(protocol::kTopicTransHalf), 1002);
}

TEST_F(TransactionTest, WhatCouldNotBeCopiedIsTriedAgainInTheNextRound) {
    Broker& broker = begin();
    auto peer = broker.producer();
    for (int i = 0; i < 100; ++i) broker.half("U" + std::to_string(i));
    store_.refuse(1, service::AppendStatus::Busy, Status(StatusCode::Busy, "busy"));
    pass(31s);
    const std::size_t asked = Broker::questions(*peer).size();
    EXPECT_GT(asked, 0U) << "the others are asked about";
    EXPECT_LT(asked, 100U);
    EXPECT_EQ(broker.progress(protocol::kTopicTransHalf), 0);
    pass(30s);
    std::set<std::string> keys;
    for (const auto& question : Broker::questions(*peer)) keys.insert(std::string(question.find("msgId").value_or("")));
    EXPECT_EQ(keys.size(), 100U);
}

TEST_F(TransactionTest, AnImmuneMessageIsCarriedForwardWithoutAQuestion) {
    Broker& broker = begin();
    auto peer = broker.producer();
    const Half half = broker.half("U", "CHECK_IMMUNITY_TIME_IN_SECONDS\001100\2");
    pass(95s);
    EXPECT_TRUE(Broker::questions(*peer).empty());
    const auto halves = broker.halves();
    ASSERT_EQ(halves.size(), 4U);
    EXPECT_EQ(halves[1].property("TRAN_PREPARED_QUEUE_OFFSET"), "0");
    EXPECT_EQ(halves[3].property("TRAN_PREPARED_QUEUE_OFFSET"), "0");
    EXPECT_EQ(halves[3].property("TRANSACTION_CHECK_TIMES"), "");
    EXPECT_EQ(broker.commit(half).code(), ResponseCode::Success);
    EXPECT_EQ(broker.all("T", 2).size(), 1U);
    pass(120s);
    EXPECT_TRUE(Broker::questions(*peer).empty());
}

TEST_F(TransactionTest, AProducerWhoseClockIsAheadIsAskedToo) {
    Broker& broker = begin();
    auto peer = broker.producer();
    broker.context.manualClock().setWallMs(storeClock_.wallMs() + 3'600'000);
    broker.half("U");
    sync();
    pass(31s);
    EXPECT_EQ(Broker::questions(*peer).size(), 1U);
}

TEST_F(TransactionTest, MessagesOlderThanTheStoreKeepsAreSetAside) {
    Broker& broker = begin({{"fileReservedTime", "1"}, {"transactionCheckInterval", "7200000"}});
    auto peer = broker.producer();
    broker.half("U");
    pass(std::chrono::seconds(7201));
    EXPECT_TRUE(Broker::questions(*peer).empty());
    EXPECT_EQ(broker.all(protocol::kTopicTransCheckMaxTime).size(), 1U);
}

TEST_F(TransactionTest, HowLongTheStoreKeepsMessagesCanBeChangedWhileItRuns) {
    Broker& broker = begin({{"transactionCheckInterval", "7200000"}});
    ASSERT_TRUE(broker.runner.reconfigure(*broker.transactions, {{"fileReservedTime", "1"}}));
    auto peer = broker.producer();
    broker.half("U");
    pass(std::chrono::seconds(7201));
    EXPECT_TRUE(Broker::questions(*peer).empty());
    EXPECT_EQ(broker.all(protocol::kTopicTransCheckMaxTime).size(), 1U);
}

TEST_F(TransactionTest, MessagesThatTheStoreHasDroppedAreForgotten) {
    Broker& broker = begin();
    for (int i = 0; i < 5; ++i) broker.half("U" + std::to_string(i));
    auto peer = broker.producer();
    ASSERT_TRUE(store_.trim(broker.halves()[3].view.physicalOffset));
    pass(31s);
    EXPECT_EQ(Broker::questions(*peer).size(), 2U);
    EXPECT_EQ(broker.progress(protocol::kTopicTransHalf), 5);
}

TEST_F(TransactionTest, TheTimesCanBeChangedWhileItRuns) {
    Broker& broker = begin();
    ASSERT_TRUE(broker.runner.reconfigure(*broker.transactions, {{"transactionCheckInterval", "5s"}, {"transactionTimeOut", "1s"}}));
    auto peer = broker.producer();
    broker.half("U");
    pass(6s);
    EXPECT_EQ(Broker::questions(*peer).size(), 1U);
}

}  // namespace
}  // namespace patchbay::plugins::transaction

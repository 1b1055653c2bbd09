// Proves: after a stop or a kill only open transactions are asked about, and no message is delivered twice.
// How: several lives of the broker on one store in memory, with and without the files that the last one wrote.
// Left to others: what is asked (checker_test); real stores (contract suite); a Java broker (interop).
#include "../PickyStore.h"
#include "TransactionBench.h"

namespace patchbay::plugins::transaction {
namespace {

using namespace std::chrono_literals;
using protocol::ResponseCode;

TEST_F(TransactionTest, AfterARestartOnlyWhatIsOpenIsAskedAbout) {
    begin();
    std::vector<Half> halves;
    for (int i = 0; i < 6; ++i) halves.push_back(broker_->half("U" + std::to_string(i)));
    for (const int i : {0, 1, 3, 5}) broker_->commit(halves[static_cast<std::size_t>(i)]);
    Broker& broker = restart();
    EXPECT_EQ(broker.progress(protocol::kTopicTransHalf), 2);
    auto peer = broker.producer();
    pass(31s);
    const auto asked = Broker::questions(*peer);
    ASSERT_EQ(asked.size(), 2U);
    EXPECT_EQ(asked[0].find("msgId"), "U2");
    EXPECT_EQ(asked[1].find("msgId"), "U4");
}

TEST_F(TransactionTest, AKilledBrokerThatLostItsOffsetsAsksAboutNothingThatHasEnded) {
    begin();
    std::vector<Half> halves;
    for (int i = 0; i < 100; ++i) halves.push_back(broker_->half("U" + std::to_string(i)));
    for (std::size_t i = 0; i < halves.size(); ++i) {
        if (i != 50) broker_->end(halves[i], i % 2 == 0 ? 8 : 12);
    }
    testkit::TempDir fresh;
    Broker second(store_, fresh.path());
    second.start();
    auto peer = second.producer();
    second.context.advance(31s);
    const auto asked = Broker::questions(*peer);
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].find("msgId"), "U50");
    EXPECT_EQ(second.commit(halves[2]).code(), ResponseCode::Success);
    EXPECT_EQ(second.all("T", 2).size(), 49U) << "what was committed before is not delivered again";
}

TEST_F(TransactionTest, OfAMessageThatIsThereTwiceOnlyTheCopyCounts) {
    begin();
    const Half half = broker_->half("U");
    store_.setManual(true);
    pass(31s);
    // The copy gets into the store; the op that says that the old place has ended does not.
    store_.refuse(1, service::AppendStatus::Failed, Status(StatusCode::Unavailable, "killed"));
    store_.complete(1);
    store_.setManual(false);
    ASSERT_EQ(broker_->halves().size(), 2U);
    ASSERT_EQ(broker_->ops(), "");
    testkit::TempDir fresh;
    Broker second(store_, fresh.path());
    second.start();
    auto peer = second.producer();
    second.context.advance(31s);
    ASSERT_EQ(Broker::questions(*peer).size(), 1U);
    EXPECT_EQ(second.commit(half).code(), ResponseCode::Success);
    second.context.advance(120s);
    EXPECT_EQ(second.all("T", 2).size(), 1U);
    EXPECT_EQ(Broker::questions(*peer).size(), 1U);
}

TEST_F(TransactionTest, ACommitOfTheFirstPlaceFindsTheCopyAfterARestart) {
    begin();
    const Half half = broker_->half("U");
    pass(31s);
    Broker& broker = restart();
    EXPECT_EQ(broker.commit(half).code(), ResponseCode::Success);
    auto peer = broker.producer();
    pass(120s);
    EXPECT_EQ(broker.all("T", 2).size(), 1U);
    EXPECT_TRUE(Broker::questions(*peer).empty());
}

TEST_F(TransactionTest, ProgressIsNotKeptBeforeWhatItStandsForIsDurable) {
    PickyStore store(storeClock_);
    Broker broker(store, store.below, dir_.path());
    broker.context.manualClock().setWallMs(storeClock_.wallMs());
    broker.start();
    broker.half("U");
    store.flushAnswer = Status(StatusCode::Io, "the disk does not answer");
    broker.context.advance(31s);
    ASSERT_EQ(broker.halves().size(), 2U) << "the copy is there, and a power cut could take it";
    EXPECT_EQ(broker.progress(protocol::kTopicTransHalf), -1);
    store.flushAnswer = Status::ok();
    broker.context.advance(30s);
    EXPECT_EQ(broker.progress(protocol::kTopicTransHalf), 2);
}

TEST_F(TransactionTest, AReplicaAsksNobody) {
    begin();
    broker_->half("U");
    testkit::TempDir fresh;
    Broker replica(store_, fresh.path());
    replica.context.brokerIdentity().brokerId = 1;
    replica.start();
    auto peer = replica.producer();
    replica.context.advance(120s);
    EXPECT_TRUE(Broker::questions(*peer).empty());
    EXPECT_EQ(replica.halves().size(), 1U);
}

TEST_F(TransactionTest, OpsOfOldBrokersWithOneNumberAreUnderstood) {
    std::vector<std::int64_t> seen;
    OpLog::forEachOffset("12", [&](std::int64_t offset) { seen.push_back(offset); });
    OpLog::forEachOffset("1,x,,-3,4,", [&](std::int64_t offset) { seen.push_back(offset); });
    EXPECT_EQ(seen, (std::vector<std::int64_t>{12, 1, 4}));
}

TEST_F(TransactionTest, OffsetsBeyondTheStoreDoNotHideNewMessages) {
    begin();
    broker_->context.services().find<service::ConsumerOffsets>()->commit({}, kProgressGroup, protocol::kTopicTransHalf, 0, 1000);
    broker_->runner.stop();
    broker_.reset();
    Broker& broker = begin();
    auto peer = broker.producer();
    broker.half("U");
    pass(31s);
    EXPECT_EQ(Broker::questions(*peer).size(), 1U);
}

TEST_F(TransactionTest, AStopWaitsForWhatTheStoreHasInHand) {
    begin();
    const Half half = broker_->half("U");
    store_.setManual(true);
    auto waiting = broker_->commit(half);
    EXPECT_FALSE(waiting.answered());
    store_.setManual(false);
    store_.complete();
    broker_->runner.stop();
    EXPECT_TRUE(waiting.answered());
    EXPECT_EQ(Broker::all(store_, "T", 2).size(), 1U);
}

}  // namespace
}  // namespace patchbay::plugins::transaction

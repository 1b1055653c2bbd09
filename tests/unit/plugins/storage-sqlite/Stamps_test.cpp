// Proved: what a broker adds to its messages alike is stored once, read back whole and shown by the views; what comes once only is not;
// a transaction that failed leaves no stamp. How: stores with messages as brokers complete them, a second connection, a VFS that fails.
// Left to others: files without stamps (Schema_test.cpp).
#include "Fixture.h"

#include "Stamps.h"

namespace patchbay::plugins::sqlite {
namespace {

using testkit::TestBatch;

constexpr std::string_view kBroker = "MSG_REGION\x01here\x02TRACE_ON\x01true\x02";

class StampsTest : public StoreTest {
protected:
    /// Appends one message as a broker completes it.
    void send(const testkit::TestMessage& message, std::string_view added = kBroker) {
        TestBatch batch;
        batch.add(message).brokerProperties = added;
        batch.appendTo(store());
        ASSERT_TRUE(batch.wait());
        ASSERT_EQ(batch.items[0].status, service::AppendStatus::PutOk);
    }
    void expectAllRead(std::size_t count) {
        const auto all = testkit::readAll(store(), "TopicTest", 0);
        ASSERT_EQ(all.size(), count);
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_EQ(all[i].properties, "KEYS\x01k" + std::to_string(i) + "\x02" + std::string(kBroker)) << i;
        }
    }
};

TEST_F(StampsTest, WhatABrokerAddsAlikeIsStoredOnceAndReadBackWhole) {
    settings.tailCacheBytes = 0;
    for (int i = 0; i < 6; ++i) send({.keys = "k" + std::to_string(i)});
    EXPECT_EQ(ask("SELECT count(*) || ' ' || store_host FROM stamp"), "1 127.0.0.1:10911");
    EXPECT_EQ(ask("SELECT count(*) FROM message WHERE stamp = 1 AND store_host = ''"), "5") << "the first cannot know that others follow";
    expectAllRead(6);
    EXPECT_EQ(ask("SELECT count(DISTINCT store_host || (properties ->> 'MSG_REGION') || (properties ->> 'TRACE_ON')) || store_host FROM messages"),
              "1127.0.0.1:10911");
    EXPECT_EQ(store().findByKey({.topic = "TopicTest", .key = "k5", .endMs = clock.wallMs()})->hits.size(), 1U);
}

TEST_F(StampsTest, StampsAreUsedAgainAfterARestart) {
    settings.tailCacheBytes = 0;
    for (int i = 0; i < 3; ++i) send({.keys = "k" + std::to_string(i)});
    close();
    for (int i = 3; i < 5; ++i) send({.keys = "k" + std::to_string(i)});
    EXPECT_EQ(ask("SELECT count(*) FROM stamp"), "1");
    EXPECT_EQ(ask("SELECT count(*) FROM message WHERE stamp = 1"), "4");
    expectAllRead(5);
}

TEST_F(StampsTest, WhatComesOnceIsNoStampNorIsAKey) {
    for (int i = 0; i < 3; ++i) {
        const std::string own = "TRACE_ON\x01" + std::to_string(i) + "\x02";
        TestBatch batch;
        for (int j = 0; j < 2; ++j) batch.add({}).brokerProperties = own;
        batch.appendTo(store());
        ASSERT_TRUE(batch.wait());
        send({}, "UNIQ_KEY\x01same\x02");
    }
    EXPECT_EQ(ask("SELECT count(*) FROM stamp"), "0");
    EXPECT_EQ(ask("SELECT count(*) FROM message_keys WHERE key = 'same'"), "3");
}

TEST_F(StampsTest, ATransactionThatFailedLeavesNoStamp) {
    testkit::FaultyFiles faults(systemFiles());
    test::useFaultyVfs(&faults);
    settings.tailCacheBytes = 0;
    send({.keys = "k0"});
    faults.failWrites(Status(StatusCode::Full, "no space left on device"));
    TestBatch refused;
    refused.add({.keys = "refused"}).brokerProperties = kBroker;
    refused.appendTo(store());
    ASSERT_TRUE(refused.wait());
    ASSERT_NE(refused.items[0].status, service::AppendStatus::PutOk);
    faults.clear();
    for (int i = 1; i < 4; ++i) send({.keys = "k" + std::to_string(i)});
    EXPECT_EQ(ask("SELECT count(*) FROM message AS m LEFT JOIN stamp AS s ON s.id = m.stamp WHERE m.stamp IS NOT NULL AND s.id IS NULL"), "0");
    EXPECT_EQ(ask("SELECT count(*) FROM stamp"), "1");
    expectAllRead(4);
    close();
}

TEST_F(StampsTest, RemovedMessagesTakeTheirKeysAlong) {
    for (int i = 0; i < 6; ++i) send({.keys = "k" + std::to_string(i)});
    ASSERT_TRUE(store().trim(store().stats().maxPhysicalOffset));
    std::string keys;
    for (int i = 0; i < 2'000 && keys != "0"; ++i) {
        static_cast<void>(store().flush());
        keys = ask("SELECT count(*) FROM message_key");
    }
    EXPECT_EQ(keys, "0");
}

TEST(Stamps, FitOnlyBetweenTwoProperties) {
    Stamps stamps;
    stamps.add(1, "h", "A\x01" "b\x02");
    EXPECT_NE(stamps.find("h", "A\x01" "b\x02"), nullptr);
    EXPECT_NE(stamps.find("h", "KEYS\x01k\x02" "A\x01" "b\x02"), nullptr);
    EXPECT_EQ(stamps.find("h", "KEYS\x01" "kA\x01" "b\x02"), nullptr);
    EXPECT_EQ(stamps.find("other", "A\x01" "b\x02"), nullptr);
}

TEST(Stamps, AreBoundedInNumber) {
    Stamps stamps;
    for (std::size_t i = 0; i < Stamps::kMax; ++i) stamps.add(static_cast<std::int64_t>(i), "h", std::to_string(i));
    EXPECT_FALSE(stamps.isWorth("h", "another", 1));
    EXPECT_FALSE(stamps.isWorth("h", "another", 2));
    stamps.keep(1);
    EXPECT_FALSE(stamps.isWorth("h", "another", 3));
    EXPECT_FALSE(stamps.isWorth("h", "another", 3));
    EXPECT_TRUE(stamps.isWorth("h", "another", 4));
}

}  // namespace
}  // namespace patchbay::plugins::sqlite

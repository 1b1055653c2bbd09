// Proved: after a power cut at any write, truncation or sync, everything that was acknowledged under SYNC_FLUSH is there at its offset, offsets
// are dense, and SQLite finds its file sound. How: a disk that keeps what was synced and a random part of the rest, cut at a random
// change, round after round on what the last cut left. PATCHBAY_POWER_CUTS says how many rounds, PATCHBAY_POWER_CUTS_SEED which ones;
// `./dev power-cuts` runs thousands. Left to others: kills (tests/e2e).
#include "Fixture.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <random>

namespace patchbay::plugins::sqlite {
namespace {

using testkit::TestBatch;

constexpr int kQueues = 3;

int roundsWanted() {
    const char* wanted = std::getenv("PATCHBAY_POWER_CUTS");
    return wanted == nullptr ? 20 : std::max(1, std::atoi(wanted));
}

std::uint64_t seedWanted() {
    const char* wanted = std::getenv("PATCHBAY_POWER_CUTS_SEED");
    return wanted == nullptr ? 20'261'129 : std::strtoull(wanted, nullptr, 10);
}

class SqlitePowerCut : public testing::Test {
protected:
    ~SqlitePowerCut() override { test::useFaultyVfs(nullptr); }

    /// Works until the power fails; what it acknowledged before that is in acknowledged_.
    void workUntilCut(SqliteStore& store) {
        while (!cut_) {
            TestBatch batch;
            std::vector<std::string> texts;
            const auto count = 1 + random_() % 5;
            const bool quick = random_() % 4 == 0;  // their sender does not wait for the disk, so they count when they were seen
            for (std::uint64_t i = 0; i < count; ++i) {
                texts.push_back(std::to_string(number_++) + "." + std::string(random_() % 9'000, 'p'));
                batch.add({.queueId = static_cast<std::int32_t>(random_() % kQueues), .body = texts.back(), .keys = "k" + std::to_string(number_)}).waitStored = !quick;
            }
            batch.appendTo(store);
            ASSERT_TRUE(batch.wait());
            if (cut_) return;  // too late to count
            if (quick) continue;
            for (std::size_t i = 0; i < texts.size(); ++i) {
                if (batch.items[i].status == service::AppendStatus::PutOk) acknowledged_[{batch.items[i].queueId, batch.items[i].queueOffset}] = texts[i];
            }
            if (random_() % 10 == 0) static_cast<void>(store.trim(store.stats().minPhysicalOffset + static_cast<std::int64_t>(random_() % 20'000)));
            clock_.advance(std::chrono::milliseconds(random_() % 3'000));
        }
    }

    void expectEverythingThere(SqliteStore& store) {
        std::map<std::int32_t, std::int64_t> min;
        for (std::int32_t queue = 0; queue < kQueues; ++queue) {
            const auto range = store.range("TopicTest", queue);
            min[queue] = range.min;
            const auto all = testkit::readAll(store, "TopicTest", queue, range.min);
            ASSERT_EQ(static_cast<std::int64_t>(all.size()), range.max - range.min) << "queue " << queue << " has a hole";
            for (std::size_t i = 0; i < all.size(); ++i) {
                const std::int64_t offset = range.min + static_cast<std::int64_t>(i);
                ASSERT_EQ(all[i].queueOffset, offset);
                const auto known = acknowledged_.find({queue, offset});
                ASSERT_TRUE(known == acknowledged_.end() || known->second == all[i].body) << "another message at " << queue << "/" << offset;
                acknowledged_[{queue, offset}] = all[i].body;  // from now on it was seen
            }
        }
        for (const auto& [place, body] : acknowledged_) {
            ASSERT_TRUE(place.second < min[place.first] || place.second < store.range("TopicTest", place.first).max)
                << "acknowledged and lost: queue " << place.first << ", offset " << place.second;
        }
    }

    void report(int rounds) const {
        std::printf("%d power cuts, %d messages sent, %zu seen or acknowledged\n", rounds, number_, acknowledged_.size());
    }

    std::mt19937_64 random_{seedWanted()};
    testkit::ManualClock clock_;
    testkit::FakeLogger log_;
    std::atomic<bool> cut_{false};
    std::map<std::pair<std::int32_t, std::int64_t>, std::string> acknowledged_;
    int number_ = 0;
};

TEST_F(SqlitePowerCut, NothingThatWasAcknowledgedIsLostAndTheFileIsSound) {
    const int rounds = roundsWanted();
    auto directory = std::make_unique<testkit::TempDir>();
    for (int round = 0; round <= rounds; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        test::PowerDisk disk;
        test::useFaultyVfs(nullptr, &disk);
        StoreSettings settings;
        settings.directory = directory->path();
        settings.syncFlush = true;
        settings.walBytesMax = 64 << 10;
        settings.tailCacheBytes = 0;
        auto left = std::make_unique<testkit::TempDir>();
        cut_ = false;
        // Some cuts hit the opening, which reads the last one's log back.
        disk.beforeChange(1 + random_() % 150, [&, seed = random_()] {
            cut_ = true;
            disk.leaveTo(left->path(), seed);
        });
        {
            SqliteStore store(settings, systemFiles(), clock_, log_);
            const Status opened = store.open();
            ASSERT_TRUE(opened) << opened.toString();
            auto check = Database::openToRead(directory->file("messages.db"), std::chrono::milliseconds(0));
            ASSERT_TRUE(check) << check.error().toString();
            const auto verdict = check->text("PRAGMA integrity_check");
            ASSERT_TRUE(verdict) << verdict.error().toString();
            ASSERT_EQ(*verdict, "ok");
            expectEverythingThere(store);
            if (HasFatalFailure() || round == rounds) return report(rounds);
            workUntilCut(store);
        }
        test::useFaultyVfs(nullptr);
        directory = std::move(left);
    }
}

}  // namespace
}  // namespace patchbay::plugins::sqlite

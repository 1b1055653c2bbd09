// Proved: under asynchronous flush a power cut takes only messages that are younger than the flush interval, and only the newest ones
// of each queue; a kill takes none.
// How: a disk in memory loses power or its process at points that chance picks; time passes in steps, and who flushes gets the time he
// needs. PATCHBAY_POWER_CUTS says how many rounds, PATCHBAY_POWER_CUTS_SEED which ones; `./dev power-cuts` runs thousands.
// Left to others: synchronous flush (recovery_test.cpp), real processes (tests/e2e/kill_rounds_test.cpp).
#include "Fixture.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <random>
#include <thread>

namespace patchbay::mmapstore {

namespace {

using service::AppendStatus;

constexpr std::int32_t kQueues = 3;
constexpr std::chrono::milliseconds kInterval{500};
constexpr std::chrono::milliseconds kStep{50};

/// Knows until when the thread that flushes sleeps.
class FlushClock final : public Clock {
public:
    [[nodiscard]] MonotonicTime now() const noexcept override { return below_.now(); }
    [[nodiscard]] std::int64_t wallMs() const noexcept override { return below_.wallMs(); }
    void advance(std::chrono::milliseconds by) noexcept { below_.advance(by); }
    void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, MonotonicTime until) const override {
        std::array<char, 16> name{};
        ::pthread_getname_np(::pthread_self(), name.data(), name.size());
        if (std::string_view(name.data()) == "mmap-flush") due_ = until;
        below_.wait(changed, lock, until);
    }
    void forget() noexcept { due_ = MonotonicTime(); }
    /// False while it is awake, or still has to find out that it should be.
    [[nodiscard]] bool flusherSleeps() const { return now() < due_.load(); }

private:
    testkit::ManualClock below_;
    mutable std::atomic<MonotonicTime> due_{MonotonicTime()};
};

class MmapAsyncPowerCut : public MmapStoreTest {
protected:
    ~MmapAsyncPowerCut() override { own.reset(); }
    struct Message {
        std::string body;
        MonotonicTime at;
    };

    void start() {
        time.forget();
        own = std::make_unique<MmapStore>(*disk, time, log, options);
        const Status opened = own->open();
        ASSERT_TRUE(opened) << opened.toString();
        own->tunables().flushIntervalMs = kInterval.count();
        own->tunables().flushLeastPages = 0;  // otherwise 16 KB may wait for flushCommitLogThoroughInterval
    }
    /// Sends until the power or the process is gone.
    void send() {
        while (!cut) {
            testkit::TestBatch batch;
            std::vector<std::string> bodies;
            for (std::uint64_t count = 1 + random() % 4; count > 0; --count) {
                bodies.push_back(std::to_string(number++) + std::string(random() % 700, 'p'));
                batch.add({.queueId = static_cast<std::int32_t>(random() % kQueues), .body = bodies.back()});
            }
            batch.appendTo(*own);
            ASSERT_TRUE(batch.wait());
            for (std::size_t i = 0; i < bodies.size() && !cut; ++i) {
                if (batch.items[i].status != AppendStatus::PutOk) continue;
                auto& queue = queues[static_cast<std::size_t>(batch.items[i].queueId)];
                ASSERT_EQ(batch.items[i].queueOffset, static_cast<std::int64_t>(queue.size()));
                queue.push_back({bodies[i], time.now()});
            }
            while (!cut && own->stats().behindFlushBytes > 0 && !time.flusherSleeps()) std::this_thread::yield();
            time.advance(std::chrono::milliseconds(random() % kStep.count()));
        }
    }
    /// Compares what is there with what was acknowledged, and goes on with that.
    void readBack(bool killed) {
        for (std::int32_t id = 0; id < kQueues; ++id) {
            auto& queue = queues[static_cast<std::size_t>(id)];
            const auto there = testkit::readAll(*own, "TopicTest", id);
            ASSERT_EQ(static_cast<std::int64_t>(there.size()), own->range("TopicTest", id).max);
            for (std::size_t i = 0; i < std::min(queue.size(), there.size()); ++i) ASSERT_EQ(there[i].body, queue[i].body);
            for (std::size_t i = queue.size(); i < there.size(); ++i) queue.push_back({there[i].body, time.now()});
            if (there.size() == queue.size()) continue;
            ASSERT_FALSE(killed) << "a kill took messages";
            const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(cutAt - queue[there.size()].at);
            ASSERT_LE(age, kInterval + kStep);
            oldest = std::max(oldest, age);
            lost += queue.size() - there.size();
            queue.resize(there.size());
        }
    }

    FlushClock time;
    std::unique_ptr<MmapStore> own;
    std::mt19937_64 random;
    std::array<std::vector<Message>, kQueues> queues;
    std::atomic<bool> cut{false};
    MonotonicTime cutAt{};
    int number = 0;
    std::size_t lost = 0;
    std::chrono::milliseconds oldest{0};
};

TEST_F(MmapAsyncPowerCut, PowerCutsTakeOnlyWhatIsYoungerThanTheFlushInterval) {
    const char* const wanted = std::getenv("PATCHBAY_POWER_CUTS");
    const char* const seedText = std::getenv("PATCHBAY_POWER_CUTS_SEED");
    const int rounds = wanted == nullptr ? 20 : std::atoi(wanted);
    random.seed(seedText == nullptr ? 20'261'130 : std::strtoull(seedText, nullptr, 10));
    int kills = 0;
    for (int round = 0; round < rounds; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        std::unique_ptr<test::MemoryFiles> left;
        const std::uint64_t seed = random();
        const bool kill = random() % 3 == 0;
        kills += kill ? 1 : 0;
        cut = false;
        disk->beforeChange(1 + random() % 150, [&] {
            cutAt = time.now();
            cut = true;  // what is acknowledged from here on does not count
            left = kill ? disk->afterKill() : disk->afterPowerCut(seed);
        });
        start();
        if (HasFatalFailure()) return;
        send();
        if (HasFatalFailure()) return;
        own.reset();
        disk = std::move(left);
        start();
        if (HasFatalFailure()) return;
        readBack(kill);
        if (HasFatalFailure()) return;
        own.reset();
        disk = disk->afterKill();
    }
    EXPECT_GT(number, rounds);
    std::printf("asynchronous flush: %d power cuts and %d kills; of %d messages %zu were lost, the oldest %lld ms after its acknowledgement; "
                "flush interval %lld ms\n",
                rounds - kills, kills, number, lost, static_cast<long long>(oldest.count()), static_cast<long long>(kInterval.count()));
}

}  // namespace

}  // namespace patchbay::mmapstore

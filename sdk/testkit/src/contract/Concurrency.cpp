// Many writers and readers at once, and the answers that each of them gets.
#include "Groups.h"
#include "Recorder.h"

#include <atomic>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

namespace patchbay::testkit {

void linkConcurrencyTests() {}

namespace {

using service::AppendStatus;
using service::ReadStatus;

TEST_P(MessageStoreContract, ManyWritersKeepEachQueueDenseAndListenersSeeAllOnce) {
    static constexpr int kWriters = 4;
    static constexpr int kBatches = 50;
    static constexpr int kPerBatch = 4;
    static constexpr int kQueues = 3;
    Recorder recorder;
    service::MessageStore& shared = store();
    shared.addListener(recorder);
    std::vector<std::thread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
        writers.emplace_back([&shared, writer] {
            for (int i = 0; i < kBatches; ++i) {
                TestBatch batch;
                for (int m = 0; m < kPerBatch; ++m) {
                    batch.add({.queueId = (i + m) % kQueues, .body = std::to_string(writer) + ":" + std::to_string(i * kPerBatch + m)});
                }
                batch.appendTo(shared);
                ASSERT_TRUE(batch.wait());
                for (const auto& item : batch.items) ASSERT_EQ(item.status, AppendStatus::PutOk);
            }
        });
    }
    std::atomic<bool> stop{false};
    std::thread reader([&] {
        while (!stop) {
            for (int queue = 0; queue < kQueues; ++queue) {
                const auto before = shared.range("TopicTest", queue).max;
                const auto all = readAll(shared, "TopicTest", queue);
                EXPECT_GE(static_cast<std::int64_t>(all.size()), before);
                for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i].queueOffset, static_cast<std::int64_t>(i));
            }
        }
    });
    for (auto& writer : writers) writer.join();
    stop = true;
    reader.join();

    EXPECT_EQ(recorder.seen(), kWriters * kBatches * kPerBatch);
    EXPECT_TRUE(recorder.inOrder());
    shared.removeListener(recorder);

    std::map<std::string, int> bodiesSeen;
    std::map<std::string, int> lastOfWriter;
    for (int queue = 0; queue < kQueues; ++queue) {
        lastOfWriter.clear();
        for (const auto& body : bodies("TopicTest", queue)) {
            ++bodiesSeen[body];
            const auto writer = body.substr(0, 1);
            const int number = std::stoi(body.substr(2));
            const auto [at, first] = lastOfWriter.emplace(writer, number);
            if (!first) {
                EXPECT_GT(number, at->second) << "a writer's messages changed places";
                at->second = number;
            }
        }
    }
    EXPECT_EQ(bodiesSeen.size(), static_cast<std::size_t>(kWriters * kBatches * kPerBatch));
}

/// Appends itself again from done(), a number of times.
class Chain final : public service::AppendBatch {
public:
    Chain(service::MessageStore& store, int rounds) : store_(store), left_(rounds) { items.resize(1); }
    void start() {
        items[0] = {};
        items[0].topic = "Chained";
        items[0].body = "again";
        store_.append(*this);
    }
    void done() noexcept override {
        bool more = false;
        {
            const std::lock_guard lock(mutex_);
            ok_ = ok_ && items[0].status == AppendStatus::PutOk;
            more = --left_ > 0;
            changed_.notify_all();
        }
        if (more) start();
    }
    bool wait() {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::seconds(20), [this] { return left_ == 0; }) && ok_;
    }

private:
    service::MessageStore& store_;
    std::mutex mutex_;
    std::condition_variable changed_;
    int left_;
    bool ok_ = true;
};

TEST_P(MessageStoreContract, DoneMayStartTheNextAppend) {
    Chain chain(store(), 30);
    chain.start();
    EXPECT_TRUE(chain.wait());
    EXPECT_EQ(store().range("Chained", 0).max, 30);
}

// The batches outlive the store, so that an answer too much is seen whenever it comes.
TEST_P(MessageStoreContract, EveryBatchIsAnsweredExactlyOnce) {
    std::deque<TestBatch> batches;
    batches.emplace_back();
    for (int i = 0; i < 30; ++i) batches.emplace_back().add({.body = "body-" + std::to_string(i)});
    batches.emplace_back().add({.body = std::string((4U << 20) + 1, 'X')});
    TestBatch& group = batches.emplace_back();
    group.add({.body = "g0", .groupSize = 2});
    group.add({.topic = std::string(128, 't'), .body = "g1"});
    group.add({.body = "body-30"});
    for (auto& batch : batches) batch.appendTo(store());
    for (auto& batch : batches) ASSERT_TRUE(batch.wait());
    EXPECT_EQ(bodies(), numbered(0, 31));
    close();
    for (std::size_t i = 0; i < batches.size(); ++i) EXPECT_EQ(batches[i].timesDone(), 1) << "batch " << i;
}

TEST_P(MessageStoreContract, ACloseAnswersWhatIsUnderWay) {
    static constexpr int kBatches = 40;
    for (const bool sync : {false, true}) {
        SCOPED_TRACE(sync ? "synchronous flush" : "asynchronous flush");
        close();
        syncFlush = sync;
        const auto before = static_cast<int>(store().range("TopicTest", 0).max);
        const bool held = sync && GetParam().traits.usesFileSystem;
        if (held) files.holdSyncs();
        std::deque<TestBatch> batches;
        for (int i = 0; i < kBatches; ++i) {
            batches.emplace_back().add({.body = "body-" + std::to_string(before + i)});
            batches.back().appendTo(store());
        }
        if (held) {
            ASSERT_TRUE(files.awaitHeldSync());
            std::thread closer([this] { close(); });
            files.clear();
            closer.join();
        } else {
            close();
        }
        for (auto& batch : batches) batch.storeIsGone();
        int stored = before;
        for (const auto& batch : batches) {
            ASSERT_EQ(batch.timesDone(), 1) << "after close() nobody can answer any more";
            if (!service::isStored(batch.items[0].status)) continue;
            EXPECT_EQ(batch.items[0].queueOffset, stored);
            ++stored;
        }
        if (!store().capabilities().durable) return;
        EXPECT_EQ(store().range("TopicTest", 0).max, stored) << "what was answered is there, and what was refused is not";
    }
}

/// A thread that does the same again until it is stopped.
class Again {
public:
    explicit Again(std::function<void()> what) : thread_([this, what = std::move(what)] {
        do what();
        while (!stop_);
    }) {}
    ~Again() {
        stop_ = true;
        thread_.join();
    }

private:
    std::atomic<bool> stop_{false};
    std::thread thread_;
};

TEST_P(MessageStoreContract, RemovalAndLookUpMayRaceWithWritersAndReaders) {
    static constexpr int kWriters = 2;
    static constexpr int kBatches = 60;
    service::MessageStore& shared = store();
    const bool keys = shared.capabilities().keyIndex;
    appendMany(1, "Kept");
    std::atomic<std::int64_t> trims{0};
    {
        // A topic that is trimmed, and one that is deleted again and again.
        const Again trimmer([&] {
            if (trims++ < 50) {
                EXPECT_TRUE(shared.trim(shared.stats().maxPhysicalOffset - 2'000));
            }
            std::this_thread::yield();
        });
        std::atomic<int> deletions{0};
        const Again deleter([&] {
            if (deletions++ < 50) {
                EXPECT_TRUE(shared.deleteTopic("Deleted"));
            }
            std::this_thread::yield();
        });
        const Again finder([&] {
            const auto stats = shared.stats();
            EXPECT_LE(stats.minPhysicalOffset, stats.maxPhysicalOffset);
            EXPECT_FALSE(shared.queues().empty());
            EXPECT_TRUE(shared.offsetAt("Kept", 0, clock.wallMs(), service::Bound::Upper));
            EXPECT_TRUE(shared.offsetAt("Deleted", 0, clock.wallMs(), service::Bound::Lower));
            if (!keys) return;
            const auto hits = shared.findByKey({.topic = "Kept", .key = "key", .endMs = std::numeric_limits<std::int64_t>::max()});
            ASSERT_TRUE(hits) << hits.error().toString();
            for (const auto& hit : hits->hits) EXPECT_EQ(parseRecords(hit.record.bytes).at(0).physicalOffset, hit.physicalOffset);
        });
        const Again reader([&] {
            service::ReadResult result;
            for (const char* topic : {"Kept", "Deleted"}) {
                shared.read(topic, 0, shared.range(topic, 0).min, {}, nullptr, result);
                ASSERT_NE(result.status, ReadStatus::Failed);
                for (const auto& message : messagesOf(result)) {
                    ASSERT_EQ(message.topic, topic);
                    const auto one = shared.at(message.physicalOffset);
                    if (one) {
                        EXPECT_EQ(parseRecords(one->bytes).at(0).body, message.body);
                    } else {
                        EXPECT_EQ(one.error().code(), StatusCode::NotFound);
                    }
                }
            }
        });
        std::vector<std::thread> writers;
        for (int writer = 0; writer < kWriters; ++writer) {
            writers.emplace_back([&shared] {
                for (int i = 0; i < kBatches; ++i) {
                    TestBatch batch;
                    batch.add({.topic = "Kept", .body = "body", .keys = "key"});
                    batch.add({.topic = "Deleted", .body = "g0", .groupSize = 2});
                    batch.add({.topic = "Deleted", .body = "g1"});
                    batch.appendTo(shared);
                    ASSERT_TRUE(batch.wait());
                    for (const auto& item : batch.items) ASSERT_EQ(item.status, AppendStatus::PutOk) << batch.failure.toString();
                }
            });
        }
        for (auto& writer : writers) writer.join();
    }
    EXPECT_EQ(shared.range("Kept", 0).max, 1 + kWriters * kBatches);
    EXPECT_TRUE(shared.deleteTopic("Deleted"));
    EXPECT_FALSE(shared.range("Deleted", 0).exists);
    expectAppends(0, "fresh", "Deleted");
    expectAppends(1 + kWriters * kBatches, "last", "Kept");
}

TEST_P(MessageStoreContract, MessagesAreVisibleWhenDoneIsCalled) {
    for (const bool sync : {false, true}) {
        close();
        syncFlush = sync;
        const auto before = store().range("TopicTest", 0).max;
        const auto item = appendOne(store(), {});
        EXPECT_EQ(item.queueOffset, before);
        EXPECT_EQ(store().range("TopicTest", 0).max, before + 1);
        EXPECT_EQ(bodies("TopicTest", 0, before).size(), 1U);
        if (!store().capabilities().durable) return;
    }
}

}  // namespace
}  // namespace patchbay::testkit

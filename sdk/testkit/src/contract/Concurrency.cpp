// Many writers, readers and listeners at once.
#include "Groups.h"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

namespace patchbay::testkit {

void linkConcurrencyTests() {}

namespace {

using service::AppendStatus;
using service::ReadStatus;

/// Remembers what it was told; notes what breaks the order of a queue.
class Recorder final : public service::AppendListener {
public:
    void appended(std::span<const service::AppendedRecord> records) noexcept override {
        const std::lock_guard lock(mutex_);
        for (const auto& record : records) {
            const auto [at, first] = next_.emplace(std::pair(std::string(record.topic), record.queueId), record.queueOffset);
            if (at->second != record.queueOffset) inOrder_ = false;
            at->second = record.queueOffset + 1;
            ++seen_;
            if (first) firsts_.emplace(at->first, record.queueOffset);
            lastProperties_ = record.properties;
            lastBytes_ = record.recordBytes;
        }
    }
    [[nodiscard]] int seen() const {
        const std::lock_guard lock(mutex_);
        return seen_;
    }
    [[nodiscard]] bool inOrder() const {
        const std::lock_guard lock(mutex_);
        return inOrder_;
    }
    [[nodiscard]] std::string lastProperties() const {
        const std::lock_guard lock(mutex_);
        return lastProperties_;
    }
    [[nodiscard]] std::int64_t firstOffset(const std::string& topic, std::int32_t queueId) const {
        const std::lock_guard lock(mutex_);
        const auto at = firsts_.find(std::pair(topic, queueId));
        return at == firsts_.end() ? -1 : at->second;
    }

private:
    using Name = std::pair<std::string, std::int32_t>;
    mutable std::mutex mutex_;
    std::map<Name, std::int64_t> next_;
    std::map<Name, std::int64_t> firsts_;
    std::string lastProperties_;
    std::int32_t lastBytes_ = 0;
    int seen_ = 0;
    bool inOrder_ = true;
};

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

TEST_P(MessageStoreContract, ListenersStartWhereTheyAreAddedAndEndWhereTheyAreRemoved) {
    appendMany(3);
    Recorder early;
    Recorder late;
    store().addListener(early);
    TestBatch batch;
    batch.add({.body = "x", .tags = "TagA"}).brokerProperties = std::string_view("MORE\x01more\x02");
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    EXPECT_EQ(early.seen(), 1);
    EXPECT_EQ(early.firstOffset("TopicTest", 0), 3);
    EXPECT_EQ(early.lastProperties(), std::string("TAGS\x01TagA\x02MORE\x01more\x02"));
    store().addListener(late);
    store().removeListener(early);
    appendMany(2);
    EXPECT_EQ(early.seen(), 1);
    EXPECT_EQ(late.seen(), 2);
    store().removeListener(late);
    appendMany(1);
    EXPECT_EQ(late.seen(), 2);
}

TEST_P(MessageStoreContract, NoCallbackAfterRemoveListenerReturnedWhileOthersWrite) {
    std::atomic<bool> stop{false};
    service::MessageStore& shared = store();
    std::thread writer([&] {
        while (!stop) appendOne(shared, {});
    });
    for (int round = 0; round < 50; ++round) {
        auto recorder = std::make_unique<Recorder>();
        shared.addListener(*recorder);
        const auto from = shared.range("TopicTest", 0).max;
        if (round % 2 == 0) {
            while (shared.range("TopicTest", 0).max == from) std::this_thread::yield();
        }
        shared.removeListener(*recorder);
        const int seen = recorder->seen();
        std::this_thread::yield();
        EXPECT_EQ(recorder->seen(), seen);
        EXPECT_TRUE(recorder->inOrder());
        recorder.reset();  // a late callback would be a use after free
    }
    stop = true;
    writer.join();
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

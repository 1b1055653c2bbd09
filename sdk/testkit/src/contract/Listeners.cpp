// What listeners are told, when, and until when.
#include "Groups.h"
#include "Recorder.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <thread>
#include <tuple>

namespace patchbay::testkit {

void linkListenerTests() {}

namespace {

using service::AppendStatus;
using service::ReadStatus;

constexpr std::chrono::milliseconds kMoment{50};  // long enough for another thread to do what it must not

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
    EXPECT_EQ(early.told().at(0).queueOffset, 3);
    EXPECT_EQ(early.told().at(0).properties, std::string("TAGS\x01TagA\x02MORE\x01more\x02"));
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

TEST_P(MessageStoreContract, ListenersAreToldWhatTheAnswerSays) {
    Recorder recorder;
    store().addListener(recorder);
    TestBatch batch;
    batch.add({.body = "1", .tags = "TagA", .keys = "k"});
    batch.add({.topic = "Other", .queueId = 2, .body = "22", .tags = "TagB"});
    batch.add({.body = std::string((4U << 20) + 1, 'X')});
    batch.add({.body = "g0", .tags = "TagC", .groupSize = 2});
    batch.add({.body = "g11"});
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    store().removeListener(recorder);
    const auto told = recorder.told();
    std::size_t i = 0;
    for (const auto& item : batch.items) {
        if (!service::isStored(item.status)) continue;
        const auto at = std::find_if(told.begin(), told.end(), [&](const Told& t) { return t.physicalOffset == item.physicalOffset; });
        ASSERT_NE(at, told.end()) << "not told of the message at " << item.physicalOffset;
        EXPECT_EQ(at->topic, item.topic);
        EXPECT_EQ(at->queueId, item.queueId);
        EXPECT_EQ(at->queueOffset, item.queueOffset);
        EXPECT_EQ(at->tagsCode, item.tagsCode);
        EXPECT_EQ(at->storeTimestamp, item.storeTimestamp);
        EXPECT_EQ(at->recordBytes, item.recordBytes);
        EXPECT_EQ(at->properties, item.properties);
        const auto record = store().at(at->physicalOffset);
        ASSERT_TRUE(record) << record.error().toString();
        EXPECT_EQ(static_cast<std::int32_t>(record->bytes.size()), at->recordBytes);
        ++i;
    }
    EXPECT_EQ(i, 4U);
    EXPECT_EQ(told.size(), i);
}

/// Hands what it is told to another thread, which reads at once, and waits for it: a reader that is woken by a listener finds the
/// message, or it would sleep on. Bounded, because a store may keep readers waiting while it tells its listeners.
class ReadsAtOnce final : public service::AppendListener {
public:
    explicit ReadsAtOnce(service::MessageStore& store) : store_(store), thread_([this] { run(); }) {}
    ~ReadsAtOnce() override {
        {
            const std::lock_guard lock(mutex_);
            stop_ = true;
            changed_.notify_all();
        }
        thread_.join();
    }
    void appended(std::span<const service::AppendedRecord> records) noexcept override {
        std::unique_lock lock(mutex_);
        for (const auto& record : records) todo_.push_back({std::string(record.topic), record.queueId, record.queueOffset});
        changed_.notify_all();
        changed_.wait_for(lock, std::chrono::seconds(1), [this] { return todo_.empty() && !busy_; });
    }
    /// Messages that were read when all of those it was told of were.
    int found() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return todo_.empty() && !busy_; });
        return found_;
    }
    [[nodiscard]] int missed() {
        const std::lock_guard lock(mutex_);
        return missed_;
    }

private:
    void run() {
        service::ReadResult result;
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [this] { return stop_ || !todo_.empty(); });
            if (todo_.empty()) return;
            const auto [topic, queueId, offset] = todo_.front();
            todo_.pop_front();
            busy_ = true;
            lock.unlock();
            store_.read(topic, queueId, offset, {.messagesMax = 1}, nullptr, result);
            const bool there = result.status == ReadStatus::Found && store_.range(topic, queueId).max > offset;
            lock.lock();
            busy_ = false;
            ++(there ? found_ : missed_);
            changed_.notify_all();
        }
    }

    service::MessageStore& store_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::tuple<std::string, std::int32_t, std::int64_t>> todo_;
    int found_ = 0;
    int missed_ = 0;
    bool busy_ = false;
    bool stop_ = false;
    std::thread thread_;
};

TEST_P(MessageStoreContract, AReaderThatAListenerWakesFindsTheMessage) {
    for (const bool sync : {false, true}) {
        close();
        syncFlush = sync;
        ReadsAtOnce listener(store());
        store().addListener(listener);
        appendMany(5);
        for (int i = 0; i < 5; ++i) appendOne(store(), {.topic = "New" + std::to_string(i)});
        store().removeListener(listener);
        EXPECT_EQ(listener.found(), 10);
        EXPECT_EQ(listener.missed(), 0) << "told before the message could be read";
    }
}

TEST_P(MessageStoreContract, UnderSynchronousFlushNobodyIsToldBeforeItIsDurable) {
    if (!GetParam().traits.usesFileSystem) GTEST_SKIP() << "its files cannot be held back from here";
    syncFlush = true;
    appendMany(1);
    Recorder recorder;
    store().addListener(recorder);
    files.holdSyncs();
    TestBatch batch;
    batch.add({.body = "body-1"});
    batch.appendTo(store());
    ASSERT_TRUE(files.awaitHeldSync());
    EXPECT_EQ(recorder.seen(), 0) << "told of what a power cut may take away";
    files.clear();
    ASSERT_TRUE(batch.wait());
    store().removeListener(recorder);
    EXPECT_EQ(recorder.seen(), 1);
}

/// Several listeners at one gate: the first that is called waits there until another one has been removed, or for a moment.
class Gate {
public:
    class Listener final : public service::AppendListener {
    public:
        explicit Listener(Gate& gate) : gate_(gate) {}
        void appended(std::span<const service::AppendedRecord>) noexcept override { gate_.called(removed_); }
        void removeFrom(service::MessageStore& store) {
            store.removeListener(*this);
            const std::lock_guard lock(gate_.mutex_);
            removed_ = true;
            gate_.removals_++;
            gate_.changed_.notify_all();
        }

    private:
        Gate& gate_;
        bool removed_ = false;
    };

    void awaitCall() {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::seconds(20), [this] { return calls_ > 0; });
    }
    /// Calls that ran when the listener had been removed.
    int late() {
        const std::lock_guard lock(mutex_);
        return late_;
    }

private:
    void called(const bool& removed) {
        std::unique_lock lock(mutex_);
        const bool before = removed;
        const bool first = calls_++ == 0;
        changed_.notify_all();
        if (first) changed_.wait_for(lock, kMoment, [this] { return removals_ > 0; });
        if (before || removed) ++late_;
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    int calls_ = 0;
    int removals_ = 0;
    int late_ = 0;
};

TEST_P(MessageStoreContract, RemoveListenerWaitsForCallsUnderWay) {
    service::MessageStore& shared = store();
    for (int order = 0; order < 2; ++order) {
        Gate gate;
        std::deque<Gate::Listener> listeners;
        for (int i = 0; i < 3; ++i) shared.addListener(listeners.emplace_back(gate));
        TestBatch batch;
        batch.add({});
        std::thread writer([&] { batch.appendTo(shared); });
        gate.awaitCall();
        for (std::size_t i = 0; i < listeners.size(); ++i) listeners[order == 0 ? i : listeners.size() - 1 - i].removeFrom(shared);
        writer.join();
        ASSERT_TRUE(batch.wait());
        appendMany(1);
        EXPECT_EQ(gate.late(), 0) << "a listener was in a call when its removal had returned, or was called later";
    }
}

}  // namespace
}  // namespace patchbay::testkit

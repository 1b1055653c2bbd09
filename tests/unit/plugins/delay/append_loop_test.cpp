// Proved: an append that has ended is told of only when the store is done with the batch, so that the next one is not taken for it.
// How: a store that ends appends when the test says so, and timers that keep the lock of the loop meanwhile.
// Left to others: what is looked for and appended (delivery_test, and that of the timer plugin).
#include "patchbay/service/AppendLoop.h"
#include "patchbay/testkit/ManualClock.h"
#include "patchbay/testkit/MemoryStore.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace patchbay::service {
namespace {

using namespace std::chrono_literals;

/// Whoever sets a timer stays in the call until the test lets him go.
class SlowTimers final : public plugin::Timers {
public:
    plugin::TimerId every(std::chrono::milliseconds, std::chrono::milliseconds, plugin::Task) override { return 0; }
    plugin::TimerId after(std::chrono::milliseconds, plugin::Task) override {
        inside.set_value();
        opened.get_future().wait();
        return 0;
    }
    void cancel(plugin::TimerId) noexcept override {}
    void post(plugin::Task) override {}

    std::promise<void> inside;
    std::promise<void> opened;
};

TEST(AppendLoop, TellsOfAnEndOnlyWhenTheStoreIsDoneWithTheBatch) {
    const testkit::ManualClock clock;
    testkit::MemoryStore store(clock);
    store.setManual(true);
    SlowTimers timers;
    AppendLoop loop(store, timers, [] {});
    loop.start();
    AppendItem& item = loop.items.emplace_back();
    item.topic = "T";
    item.body = "x";
    ASSERT_FALSE(loop.submit());

    auto keepsTheLock = std::async(std::launch::async, [&] { loop.lookAfter(1ms); });
    timers.inside.get_future().wait();
    std::promise<void> begun;
    auto ends = std::async(std::launch::async, [&] {
        begun.set_value();
        return store.complete();
    });
    begun.get_future().wait();
    // Long enough for that thread to come to the lock.
    bool told = false;
    for (int i = 0; i < 100'000 && !told; ++i) {
        told = loop.takeEnd();
        std::this_thread::yield();
    }
    EXPECT_FALSE(told) << "the next append could be submitted, and the rest of this end would be taken for its end";
    timers.opened.set_value();
    keepsTheLock.wait();
    EXPECT_EQ(ends.get(), 1U);
    EXPECT_TRUE(told || loop.takeEnd());
    EXPECT_FALSE(loop.isOnItsWay());
    loop.stop();
}

}  // namespace
}  // namespace patchbay::service

// Proved: a generation can be exchanged under load: nothing is lost, nothing runs in it once it is idle.
// How: two loops on threads, requests from two threads, twenty exchanges with held requests; plus the single steps by hand.
// Left to others: loading libraries (tests/plugin).
#include "unit/kernel/dispatch/DispatchFixture.h"

#include <thread>

namespace patchbay::kernel {
namespace {

using namespace std::chrono_literals;
using plugin::Request;

/// Holds every fiftieth request until it is drained, and hands back whatever comes late.
class HoldingPlugin final : public plugin::Processor {
public:
    ~HoldingPlugin() override { EXPECT_EQ(inside_.load(), 0); }
    void process(Request request) override {
        inside_.fetch_add(1);
        {
            const std::lock_guard lock(mutex_);
            if (draining_) {
                std::move(request).redispatch();
            } else if (!request.again() && ++count_ % 50 == 0) {
                request.detach();
                held_.push_back(std::move(request));
            } else {
                std::move(request).respond(ResponseCode::Success);
            }
        }
        inside_.fetch_sub(1);
    }
    void drain() {
        std::vector<Request> held;
        {
            const std::lock_guard lock(mutex_);
            draining_ = true;
            held.swap(held_);
        }
        for (auto& one : held) std::move(one).redispatch();
    }

private:
    std::atomic<int> inside_{0};
    std::mutex mutex_;
    std::vector<Request> held_;
    int count_ = 0;
    bool draining_ = false;
};

struct Loaded {
    std::unique_ptr<HoldingPlugin> plugin;
    Ref<Generation> generation;
    std::unique_ptr<Registrations> registrations;
};

class GenerationTest : public DispatchFixture {
protected:
    GenerationTest() : DispatchFixture(2) {}
    ~GenerationTest() override { loops.stop(); }

    Loaded load(std::uint32_t number) {
        Loaded made;
        made.plugin = std::make_unique<HoldingPlugin>();
        made.generation = Ref<Generation>::adopt(new Generation("pull", number));
        made.registrations = std::make_unique<Registrations>(made.generation, executors, std::vector<std::string>{"broker"},
                                                             std::vector<const Registrations*>{});
        const RequestCode codes[] = {RequestCode::SendMessageV2};
        EXPECT_TRUE(made.registrations->bind(codes, *made.plugin, {.loopSafe = true, .executor = {}}));
        return made;
    }
    void put(const Loaded& what) {
        const Registrations* all[] = {what.registrations.get()};
        dispatcher.publish(RouteTable::build(1, all));
    }
    /// As the plugin host does it: out of the table, drained until nothing holds it, destroyed.
    void retire(Loaded old) {
        old.registrations.reset();
        const auto end = std::chrono::steady_clock::now() + 20s;
        while (!old.generation->idle()) {
            ASSERT_LT(std::chrono::steady_clock::now(), end) << "generation " << old.generation->number() << " is still held";
            old.plugin->drain();
            std::this_thread::yield();
        }
    }
};

TEST_F(GenerationTest, AHeldRequestKeepsItsGenerationAndMovesToTheNext) {
    std::vector<Request> held;
    TestProcessor oldOne([&](Request r) { held.push_back(std::move(r)); });
    TestProcessor newOne([](Request r) { std::move(r).respond(ResponseCode::Success, "new"); });
    auto& first = generation("pull", 1);
    auto& second = generation("pull", 2);
    const RequestCode codes[] = {RequestCode::SendMessageV2};
    ASSERT_TRUE(first.bind(codes, oldOne, {.loopSafe = true, .executor = {}}));
    ASSERT_TRUE(second.bind(codes, newOne, {.loopSafe = true, .executor = {}}));
    publish({&first});
    arrive(*origin, {request(1)});
    turn();
    publish({&second});
    turn();
    loops.loop(1).turn(0);
    // Left: the registrations' references and the request's lease.
    EXPECT_FALSE(first.generation().idle());
    ASSERT_EQ(held.size(), 1U);
    std::move(held[0]).redispatch();
    held.clear();
    turn();
    ASSERT_EQ(origin->answers().size(), 1U);
    EXPECT_EQ(origin->answers()[0].remark, "new");
}

TEST_F(GenerationTest, TwentyExchangesUnderLoadLoseNothing) {
    constexpr int kPerThread = 20'000;
    auto current = load(1);
    put(current);
    loops.start();
    std::vector<Ref<TestOrigin>> origins;
    for (std::uint32_t i = 0; i < 2; ++i) origins.push_back(Ref<TestOrigin>::adopt(new TestOrigin(loops.loop(i))));
    std::vector<std::thread> senders;
    for (std::size_t t = 0; t < 2; ++t) {
        senders.emplace_back([&, t] {
            for (int i = 0; i < kPerThread / 20; ++i) {
                std::vector<RemotingCommand> some;
                for (int n = 0; n < 20; ++n) some.push_back(request(i * 20 + n));
                arrive(*origins[t], std::move(some));
            }
        });
    }
    for (std::uint32_t number = 2; number <= 21; ++number) {
        auto next = load(number);
        put(next);
        retire(std::exchange(current, std::move(next)));
    }
    for (auto& sender : senders) sender.join();
    loops.onEach([](net::EventLoop&) {});
    current.plugin->drain();
    auto last = load(22);
    put(last);
    retire(std::move(current));
    last.plugin->drain();  // hands back to itself, so it goes as soon as nothing is published
    dispatcher.publish(RouteTable::build(1, {}));
    retire(std::move(last));
    loops.onEach([](net::EventLoop&) {});
    EXPECT_EQ(dispatcher.active(), 0U);
    for (auto& one : origins) {
        const auto answers = one->answers();
        std::vector<bool> seen(kPerThread);
        ASSERT_EQ(answers.size(), static_cast<std::size_t>(kPerThread));
        for (const auto& answer : answers) {
            ASSERT_FALSE(seen[static_cast<std::size_t>(answer.opaque)]) << "answered twice";
            seen[static_cast<std::size_t>(answer.opaque)] = true;
        }
    }
}

}  // namespace
}  // namespace patchbay::kernel

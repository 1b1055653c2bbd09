// Proved: requests for what is being exchanged wait and then go on in their order, with limits of number, bytes and time; what is counted
// by code and plugin is right. How: one loop that the test turns, a manual clock. Left to others: exchanging plugins (tests/plugin).
#include "unit/kernel/dispatch/DispatchFixture.h"

namespace patchbay::kernel {
namespace {

using namespace std::chrono_literals;
using plugin::Request;

class HoldTest : public DispatchFixture {
protected:
    HoldTest() {
        const RequestCode codes[] = {RequestCode::SendMessageV2};
        EXPECT_TRUE(old.bind(codes, first, {.loopSafe = true, .executor = {}}));
        EXPECT_TRUE(next.bind(codes, second, {.loopSafe = true, .executor = {}}));
    }
    /// Nobody is left waiting.
    void TearDown() override {
        publish({&next});
        turn();
        EXPECT_EQ(dispatcher.held(), 0U);
        EXPECT_EQ(dispatcher.active(), 0U);
    }
    void hold() { dispatcher.publish(RouteTable::build(2, {}, std::vector<const Registrations*>{&old})); }

    TestProcessor first{[](Request r) { std::move(r).respond(ResponseCode::Success, "old"); }};
    TestProcessor second{[this](Request r) {
        EXPECT_FALSE(r.again()) << "it has not been at any processor";
        order += std::to_string(r.command().opaque) + std::string(r.body());
        std::move(r).respond(ResponseCode::Success, "new");
    }};
    std::string order;
    Registrations& old = generation("test", 1);
    Registrations& next = generation("test", 2);
};

TEST_F(HoldTest, RequestsWaitWithTheirBodiesAndGoOnInOrder) {
    hold();
    auto one = request(1);
    one.body = "a";
    auto two = request(2);
    two.body = "b";
    arrive(*origin, {one, two});
    turn();
    EXPECT_TRUE(origin->answers().empty());
    EXPECT_EQ(dispatcher.held(), 2U);
    EXPECT_EQ(dispatcher.active(), 2U);
    publish({&next});
    turn();
    ASSERT_EQ(origin->answers().size(), 2U);
    EXPECT_EQ(origin->answers()[1].remark, "new");
    EXPECT_EQ(order, "1a2b");
    EXPECT_EQ(dispatcher.held(), 0U);
    EXPECT_EQ(dispatcher.active(), 0U);
}

TEST_F(HoldTest, WhatIsReadAfterTheExchangeDoesNotOvertakeWhatWaitedForIt) {
    hold();
    arrive(*origin, {request(1)});
    turn();
    ASSERT_EQ(dispatcher.held(), 1U);
    arrive(*origin, {request(2)});  // read in the turn that also runs what publish() posts, and before it
    publish({&next});
    turn();
    EXPECT_EQ(order, "12");
}

TEST_F(HoldTest, ARequestThatWasHandedBackLetsGoOfItsGeneration) {
    std::vector<Request> kept;
    TestProcessor keeps([&](Request r) { kept.push_back(std::move(r)); });
    auto& keeper = generation("keeper");
    const RequestCode codes[] = {RequestCode::PullMessage};
    ASSERT_TRUE(keeper.bind(codes, keeps, {.loopSafe = true, .executor = {}}));
    publish({&keeper});
    arrive(*origin, {request(1, 0, 11)});
    turn();
    ASSERT_EQ(kept.size(), 1U);
    dispatcher.publish(RouteTable::build(2, {}, std::vector<const Registrations*>{&keeper}));
    const auto owner = Ref<Generation>::share(const_cast<Generation*>(&keeper.generation()));
    keeper.ownedElsewhere();
    std::move(kept[0]).redispatch();
    turn();
    EXPECT_EQ(dispatcher.held(), 1U);
    EXPECT_TRUE(owner->idle());
}

TEST_F(HoldTest, OtherCodesAreServedMeanwhile) {
    TestProcessor other([](Request r) { std::move(r).respond(ResponseCode::Success, "other"); });
    auto& served = generation("other");
    const RequestCode codes[] = {RequestCode::HeartBeat};
    ASSERT_TRUE(served.bind(codes, other, {.loopSafe = true, .executor = {}}));
    dispatcher.publish(RouteTable::build(2, std::vector<const Registrations*>{&served}, std::vector<const Registrations*>{&old}));
    arrive(*origin, {request(1), request(2, 0, 34), request(3, 0, 999)});
    turn();
    ASSERT_EQ(origin->answers().size(), 2U);
    EXPECT_EQ(origin->answers()[0].remark, "other");
    EXPECT_EQ(origin->answers()[1].code, 3);
}

TEST_F(HoldTest, MoreThanTheLimitAreAnsweredBusyWithTheLimit) {
    dispatcher.limit({2, 1U << 20, 2s}, {}, 0ms);
    hold();
    arrive(*origin, {request(1), request(2)});
    turn();
    clock.advance(30ms);
    arrive(*origin, {request(3)});
    turn();
    ASSERT_EQ(origin->answers().size(), 1U);
    EXPECT_EQ(origin->answers()[0].opaque, 3);
    EXPECT_EQ(origin->answers()[0].code, 2);
    EXPECT_TRUE(origin->answers()[0].remark->starts_with("[OVERLOAD]system busy, start flow control for a while")) << *origin->answers()[0].remark;
    EXPECT_NE(origin->answers()[0].remark->find("the oldest for 30ms, limits reload.holdRequestsMax 2"), std::string::npos)
        << *origin->answers()[0].remark;
}

TEST_F(HoldTest, BytesAreLimitedToo) {
    dispatcher.limit({100, 1000, 2s}, {}, 0ms);
    hold();
    auto large = request(1);
    large.body = std::string(2000, 'x');
    arrive(*origin, {large, request(2)});
    turn();
    ASSERT_EQ(origin->answers().size(), 1U);
    EXPECT_EQ(origin->answers()[0].opaque, 1);
    EXPECT_EQ(dispatcher.held(), 1U);
}

TEST_F(HoldTest, NobodyWaitsLongerThanTheLimit) {
    dispatcher.limit({100, 1U << 20, 500ms}, {}, 0ms);
    hold();
    arrive(*origin, {request(1)});
    turn();
    clock.advance(300ms);
    turn();
    arrive(*origin, {request(2)});
    turn();
    clock.advance(250ms);
    turn();
    turn();
    ASSERT_EQ(origin->answers().size(), 1U);
    EXPECT_EQ(origin->answers()[0].opaque, 1);
    EXPECT_EQ(origin->answers()[0].code, 2);
    EXPECT_NE(origin->answers()[0].remark->find("limit reload.holdMs 500ms"), std::string::npos) << *origin->answers()[0].remark;
    for (int i = 0; i < 30; ++i) {
        clock.advance(10ms);
        turn();
    }
    EXPECT_EQ(origin->answers().size(), 2U);
    EXPECT_EQ(dispatcher.active(), 0U);
}

/// Refuses everything.
class Refuses final : public plugin::Interceptor {
public:
    plugin::Verdict intercept(const plugin::Interception&) override {
        return {plugin::Verdict::Kind::Answer, plugin::Response(ResponseCode::NoPermission, "no")};
    }
};

TEST_F(HoldTest, NobodyPassesWhileTheInterceptorIsExchanged) {
    Refuses refuses;
    auto& guard = generation("guard", 1);
    auto& nextGuard = generation("guard", 2);
    ASSERT_TRUE(guard.add("broker", plugin::Phase::Authenticate, 0, refuses));
    ASSERT_TRUE(nextGuard.add("broker", plugin::Phase::Authenticate, 0, refuses));
    dispatcher.publish(RouteTable::build(2, std::vector<const Registrations*>{&old}, std::vector<const Registrations*>{&guard}));
    arrive(*origin, {request(1)});
    turn();
    EXPECT_TRUE(origin->answers().empty()) << "the processor is there, but nobody has been asked";
    publish({&old, &nextGuard});
    turn();
    ASSERT_EQ(origin->answers().size(), 1U);
    EXPECT_EQ(origin->answers()[0].code, static_cast<int>(ResponseCode::NoPermission));
}

TEST_F(HoldTest, CallsAnswersAndTimesAreCountedByCode) {
    publish({&old});
    arrive(*origin, {request(1), request(2)});
    turn();
    hold();
    arrive(*origin, {request(3)});
    turn();
    clock.advance(40ms);
    publish({&next});
    turn();
    const auto stats = dispatcher.observed().requests({"broker", "namesrv"});
    ASSERT_EQ(stats.size(), 1U);
    EXPECT_EQ(stats[0].listener, "broker");
    EXPECT_EQ(stats[0].plugin, "test");
    EXPECT_EQ(stats[0].code, 310);
    EXPECT_EQ(stats[0].calls, 3U);
    EXPECT_EQ(stats[0].answered, 3U);
    EXPECT_EQ(stats[0].errors, 0U);
    EXPECT_EQ(stats[0].latency.counts[timeStep(0)], 2U);
    EXPECT_EQ(stats[0].latency.counts[timeStep(40'000)], 1U);
    EXPECT_EQ(stats[0].latency.sumUs, 40'000U);
}

TEST_F(HoldTest, FaultsAreCountedByPluginAndKindAndTooManyAreTold) {
    int told = 0;
    dispatcher.observed().watch("test", 3, [&] { ++told; });
    TestProcessor bad([n = 0](Request r) mutable {
        if (++n == 1) throw std::runtime_error("bad day");
        if (n == 2) return;
        std::move(r).respond(ResponseCode::Success);
        std::move(r).respond(ResponseCode::Success);
    });
    serve(bad);
    arrive(*origin, {request(1), request(2)});
    turn();
    EXPECT_EQ(told, 0);
    arrive(*origin, {request(3), request(4)});
    turn();
    EXPECT_EQ(told, 1);
    EXPECT_EQ(origin->answers().size(), 4U) << "every one was answered once";
    origin->open = false;
    arrive(*origin, {request(5)});
    turn();
    const auto faults = dispatcher.observed().faults();
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].plugin, "test");
    EXPECT_EQ(faults[0].exceptions, 1U);
    EXPECT_EQ(faults[0].dropped, 1U);
    EXPECT_EQ(faults[0].twice, 3U);
    EXPECT_EQ(faults[0].undeliverable, 1U);
}

TEST_F(HoldTest, APluginThatHoldsUpTheLoopIsNamed) {
    dispatcher.limit({}, {}, 100ms);
    TestProcessor slow([this](Request r) {
        clock.advance(150ms);
        std::move(r).respond(ResponseCode::Success);
    });
    serve(slow);
    arrive(*origin, {request(1)});
    turn();
    EXPECT_EQ(dispatcher.observed().faults().at(0).slowCalls, 1U);
    EXPECT_TRUE(log.contains("plugin=test code=several ms=150 limit=100"));
    arrive(*origin, {request(2)});
    turn();
    EXPECT_EQ(dispatcher.observed().faults().at(0).slowCalls, 2U) << "counted once, by the call";
}

}  // namespace
}  // namespace patchbay::kernel

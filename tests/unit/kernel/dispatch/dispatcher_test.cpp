// Proved: every request is answered as the protocol says, once, whatever its processor does; batches, hand-backs, interceptors.
// How: a dispatcher on loops that the test turns.
// Left to others: executors and generations (beside this file), sockets (tests/integration/server).
#include "unit/kernel/dispatch/DispatchFixture.h"

#include "dispatch/ParkedRequest.h"

#include <map>
#include <stdexcept>
#include <string>
#include <thread>

namespace patchbay::kernel {
namespace {

using plugin::Request;
using plugin::Response;

class DispatcherTest : public DispatchFixture {};

TEST_F(DispatcherTest, AnUnknownCodeIsAnsweredWithThree) {
    arrive(*origin, {request(7, 0, 31999)});
    turn();
    ASSERT_EQ(origin->answers().size(), 1U);
    EXPECT_EQ(origin->answers()[0].code, 3);
    EXPECT_EQ(origin->answers()[0].opaque, 7);
    EXPECT_TRUE(origin->answers()[0].isResponse());
    EXPECT_EQ(origin->answers()[0].remark, " request type 31999 not supported");
}

TEST_F(DispatcherTest, AnAnswerHasTheEncodingOfItsRequest) {
    TestProcessor echo([](Request r) {
        Response response;
        response.fields().add("topic", *r.command().find("topic"));
        response.setBody(std::string(2'000, 'b'));
        std::move(r).respond(std::move(response));
    });
    serve(echo);
    arrive(*origin, {request(1)}, protocol::SerializeType::Json);
    turn();
    EXPECT_EQ(origin->raw[4], '\0');
    arrive(*origin, {request(2)}, protocol::SerializeType::Binary);
    turn();
    EXPECT_EQ(origin->raw[4], '\1');
    ASSERT_EQ(origin->answers().size(), 2U);
    EXPECT_EQ(origin->answers()[1].find("topic"), "T");
    EXPECT_EQ(origin->answers()[1].body, std::string(2'000, 'b'));
}

TEST_F(DispatcherTest, FieldsThatAreEmptyButWantedAreWritten) {
    TestProcessor empty([](Request r) {
        Response response;
        response.hasFields = true;
        std::move(r).respond(std::move(response));
    });
    serve(empty);
    arrive(*origin, {request(1)});
    turn();
    EXPECT_TRUE(origin->answers().at(0).hasFields);
}

TEST_F(DispatcherTest, ABatchEndsOnceAfterAllItsRequests) {
    std::string order;
    std::vector<Request> held;
    TestProcessor batching([&](Request r) {
        order += 'p';
        held.push_back(std::move(r));
    });
    batching.onBatch = [&](plugin::Lane lane) {
        EXPECT_EQ(lane, 0U);
        order += 'e';
        // The last one first: answers need not be in order.
        while (!held.empty()) {
            std::move(held.back()).respond(ResponseCode::Success);
            held.pop_back();
        }
    };
    serve(batching);
    arrive(*origin, {request(1), request(2), request(3)});
    turn();
    EXPECT_EQ(order, "pppe");
    ASSERT_EQ(origin->answers().size(), 3U);
    EXPECT_EQ(origin->answers()[0].opaque, 3);
    EXPECT_EQ(origin->answers()[2].opaque, 1);
    turn();
    EXPECT_EQ(order, "pppe");
    EXPECT_EQ(origin->left.load(), 3);
}

TEST_F(DispatcherTest, AOneWayRequestIsNeverAnswered) {
    TestProcessor echo([](Request r) { std::move(r).respond(ResponseCode::Success); });
    serve(echo);
    arrive(*origin, {request(1, 2), request(2, 2, 31999), request(3)});
    turn();
    ASSERT_EQ(origin->answers().size(), 1U);
    EXPECT_EQ(origin->answers()[0].opaque, 3);
    EXPECT_EQ(dispatcher.active(), 0U);
}

TEST_F(DispatcherTest, AProcessorThatDeclinesGivesRejectRequest) {
    TestProcessor busy([](Request) { FAIL() << "must not be called"; });
    busy.admit = false;
    serve(busy);
    arrive(*origin, {request(1)});
    turn();
    EXPECT_EQ(origin->answers().at(0).code, 2);
    EXPECT_EQ(origin->answers().at(0).remark, "[REJECTREQUEST]system busy, start flow control for a while, plugin test takes no more requests of code 310");
}

TEST_F(DispatcherTest, ADroppedRequestIsAnsweredAndCounted) {
    TestProcessor forgets([](Request) {});
    serve(forgets);
    arrive(*origin, {request(1)});
    turn();
    EXPECT_EQ(origin->answers().at(0).code, 1);
    EXPECT_EQ(metrics.value("patchbay_plugin_faults_total"), 1U);
    EXPECT_TRUE(log.contains("plugin=test"));
}

TEST_F(DispatcherTest, AnExceptionIsAnsweredWithItsTextAndNamesThePlugin) {
    TestProcessor throws([](Request) { throw std::runtime_error("no such table"); });
    serve(throws);
    arrive(*origin, {request(1), request(2)});
    turn();
    ASSERT_EQ(origin->answers().size(), 2U);
    EXPECT_EQ(origin->answers()[0].code, 1);
    EXPECT_EQ(origin->answers()[0].remark, "no such table");
    EXPECT_TRUE(log.contains("plugin=test"));
    EXPECT_TRUE(log.contains("no such table"));
}

TEST_F(DispatcherTest, AnExceptionAfterTheAnswerDoesNotAnswerTwice) {
    TestProcessor late([](Request r) {
        std::move(r).respond(ResponseCode::Success);
        throw 7;
    });
    serve(late);
    arrive(*origin, {request(1)});
    turn();
    ASSERT_EQ(origin->answers().size(), 1U);
    EXPECT_EQ(origin->answers()[0].code, 0);
}

TEST_F(DispatcherTest, AnAnswerTooLargeForAFrameBecomesAnError) {
    TestProcessor large([](Request r) {
        Response response;
        response.setBody(std::string(protocol::kFrameBytesMax, 'x'));
        std::move(r).respond(std::move(response));
    });
    serve(large);
    arrive(*origin, {request(1)});
    turn();
    EXPECT_EQ(origin->answers().at(0).code, 1);
    EXPECT_TRUE(origin->answers().at(0).body.empty());
}

TEST_F(DispatcherTest, AHandedBackRequestRunsAgainInTheSameTurn) {
    std::vector<Request> held;
    int calls = 0;
    TestProcessor holds([&](Request r) {
        ++calls;
        if (!r.again()) {
            r.detach();
            held.push_back(std::move(r));
            return;
        }
        EXPECT_EQ(r.command().find("topic"), "T");
        EXPECT_FALSE(r.deferred());
        std::move(r).respond(ResponseCode::Success);
    });
    holds.onBatch = [&](plugin::Lane) {
        while (!held.empty()) {
            std::move(held.back()).redispatch();
            held.pop_back();
        }
    };
    serve(holds);
    arrive(*origin, {request(1)});
    turn();
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(origin->answers().size(), 1U);
    EXPECT_EQ(origin->left.load(), 1);
}

TEST_F(DispatcherTest, ARequestThatIsHandedBackForEverDoesNotStopTheLoop) {
    int calls = 0;
    TestProcessor refuses([&](Request r) {
        if (++calls < 1'000) return std::move(r).redispatch();
        std::move(r).respond(ResponseCode::Success);
    });
    serve(refuses);
    arrive(*origin, {request(1)});
    turn();
    EXPECT_LT(calls, 100);
    turnUntil(1);
}

TEST_F(DispatcherTest, ADetachedRequestIsAnsweredFromAnyThread) {
    std::vector<Request> held;
    TestProcessor holds([&](Request r) {
        if (r.again()) return std::move(r).respond(ResponseCode::PullNotFound, std::string(*r.command().find("topic")));
        r.detach();
        r.detach();
        held.push_back(std::move(r));
    });
    serve(holds);
    arrive(*origin, {request(1), request(2), request(3)});
    turn();
    ASSERT_EQ(held.size(), 3U);
    EXPECT_EQ(origin->left.load(), 3);
    std::thread([&] {
        std::move(held[0]).respond(ResponseCode::Success);
        std::move(held[1]).redispatch();
        held.clear();
    }).join();
    turnUntil(3);
    std::map<std::int32_t, RemotingCommand> answers;
    for (auto& answer : origin->answers()) answers.emplace(answer.opaque, std::move(answer));
    EXPECT_EQ(answers.at(1).code, 0);
    EXPECT_EQ(answers.at(2).code, 19);
    EXPECT_EQ(answers.at(2).remark, "T");
    EXPECT_EQ(answers.at(3).code, 1);
    EXPECT_NE(answers.at(3).remark.value_or("").find("dropped the request"), std::string::npos);
    EXPECT_EQ(dispatcher.active(), 0U);
    EXPECT_EQ(origin->left.load(), 3);
}

TEST_F(DispatcherTest, AnExceptionAfterDetachIsAnsweredWithItsText) {
    TestProcessor fails([&](Request r) {
        r.detach();
        throw std::runtime_error("out of luck");
    });
    serve(fails);
    arrive(*origin, {request(1)});
    turn();
    ASSERT_EQ(origin->answers().size(), 1U);
    EXPECT_EQ(origin->answers().at(0).remark, "out of luck");
    EXPECT_EQ(dispatcher.active(), 0U);
}

TEST_F(DispatcherTest, ManyHeldRequestsCostLittleAndComeBack) {
    EXPECT_LE(sizeof(ParkedRequest), 136U);
    constexpr int kHeld = 100'000;
    std::vector<Request> held;
    TestProcessor holds([&](Request r) {
        if (r.again()) return std::move(r).respond(ResponseCode::PullNotFound);
        r.detach();
        held.push_back(std::move(r));
    });
    serve(holds);
    for (int i = 0; i < kHeld / 1'000; ++i) {
        std::vector<RemotingCommand> some;
        for (int n = 0; n < 1'000; ++n) some.push_back(request(i * 1'000 + n));
        arrive(*origin, std::move(some));
        turn();
    }
    ASSERT_EQ(held.size(), static_cast<std::size_t>(kHeld));
    EXPECT_EQ(dispatcher.active(), static_cast<std::size_t>(kHeld));
    loops.loop(0).post([&] {
        for (auto& one : held) std::move(one).redispatch();
    });
    turn();
    EXPECT_EQ(origin->answers().size(), static_cast<std::size_t>(kHeld));
    EXPECT_EQ(dispatcher.active(), 0U);
}

TEST_F(DispatcherTest, RefusingTellsNewPeersToGoAwayAndOldOnesThatItIsBusy) {
    TestProcessor echo([](Request r) { std::move(r).respond(ResponseCode::Success); });
    serve(echo);
    dispatcher.refuse();
    auto old = request(2);
    old.version = 475;
    arrive(*origin, {request(1), old});
    turn();
    EXPECT_EQ(origin->answers().at(0).code, 1500);
    EXPECT_EQ(origin->answers().at(0).remark, "please go away");
    EXPECT_EQ(origin->answers().at(1).code, 2);
}

TEST_F(DispatcherTest, AClosedConnectionSwallowsItsAnswers) {
    TestProcessor echo([](Request r) { std::move(r).respond(ResponseCode::Success); });
    serve(echo);
    origin->open = false;
    arrive(*origin, {request(1)});
    turn();
    EXPECT_TRUE(origin->answers().empty());
    EXPECT_EQ(dispatcher.active(), 0U);
}

/// Notes where it was asked and answers what it was told.
class TestInterceptor final : public plugin::Interceptor {
public:
    TestInterceptor(std::string& order, char name) : order_(order), name_(name) {}
    plugin::Verdict intercept(const plugin::Interception& at) override {
        order_ += name_;
        if (at.response != nullptr) at.response->remark = "seen";
        if (fails) throw std::runtime_error("interceptor broke");
        return verdict;
    }
    plugin::Verdict verdict;
    bool fails = false;

private:
    std::string& order_;
    const char name_;
};

class InterceptorTest : public DispatcherTest {
protected:
    void SetUp() override {
        const RequestCode codes[] = {RequestCode::SendMessageV2};
        ASSERT_TRUE(made.bind(codes, echo, {.loopSafe = true, .executor = {}}));
    }
    void add(plugin::Phase phase, std::int32_t rank, plugin::Interceptor& which) {
        ASSERT_TRUE(made.add("broker", phase, rank, which));
    }
    void run(std::int32_t flag = 0) {
        publish({&made});
        arrive(*origin, {request(1, flag)});
        turn();
    }
    std::string order;
    TestInterceptor a{order, 'a'}, b{order, 'b'}, c{order, 'c'}, done{order, 'd'};
    TestProcessor echo{[this](Request r) {
        order += 'P';
        std::move(r).respond(ResponseCode::Success);
    }};
    Registrations& made = generation("test");
};

TEST_F(InterceptorTest, PhasesAndOrdersAreKept) {
    add(plugin::Phase::Completed, 0, done);
    add(plugin::Phase::Responding, 0, c);
    add(plugin::Phase::Limit, 0, b);
    add(plugin::Phase::Received, 5, b);
    add(plugin::Phase::Received, 1, a);
    run();
    EXPECT_EQ(order, "abbPcd");
    EXPECT_EQ(origin->answers().at(0).remark, "seen");
}

TEST_F(InterceptorTest, AnAnswerKeepsTheRequestFromTheProcessorAndCompletesOnce) {
    a.verdict = {plugin::Verdict::Kind::Answer, Response(ResponseCode::NoPermission, "no")};
    add(plugin::Phase::Authenticate, 0, a);
    add(plugin::Phase::Completed, 0, done);
    run();
    EXPECT_EQ(order, "ad");
    EXPECT_EQ(origin->answers().at(0).code, 16);
}

TEST_F(InterceptorTest, CloseEndsTheConnectionAndCompletesOnce) {
    a.verdict = {plugin::Verdict::Kind::Close, {}};
    add(plugin::Phase::Received, 0, a);
    add(plugin::Phase::Completed, 0, done);
    run();
    EXPECT_EQ(order, "ad");
    EXPECT_FALSE(origin->open);
}

TEST_F(InterceptorTest, AuthorizeDeniesUnlessSomebodyAllows) {
    add(plugin::Phase::Authorize, 0, a);
    run();
    EXPECT_EQ(origin->answers().at(0).code, 16);
    EXPECT_EQ(origin->answers().at(0).remark, "no authorizer allows this request; asked were: test");
    add(plugin::Phase::Authorize, 1, b);
    b.verdict.kind = plugin::Verdict::Kind::Continue;
    run();
    EXPECT_EQ(origin->answers().at(1).code, 0);
}

TEST_F(InterceptorTest, OneWayRequestsCompleteButDoNotRespond) {
    add(plugin::Phase::Responding, 0, c);
    add(plugin::Phase::Completed, 0, done);
    run(2);
    EXPECT_EQ(order, "Pd");
}

TEST_F(InterceptorTest, AFailingInterceptorRefusesTheRequestAndIsNamed) {
    a.fails = true;
    add(plugin::Phase::Trace, 0, a);
    run();
    EXPECT_EQ(origin->answers().at(0).code, 1);
    EXPECT_TRUE(log.contains("interceptor broke"));
}

}  // namespace
}  // namespace patchbay::kernel

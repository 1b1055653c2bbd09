// Proved: what a plugin may not bind is refused with a sentence that says who and what.
// How: registrations side by side, without dispatching anything.
// Left to others: what a table does with them (dispatcher_test.cpp).
#include "unit/kernel/dispatch/DispatchFixture.h"

namespace patchbay::kernel {
namespace {

class RegistrationsTest : public DispatchFixture {
protected:
    TestProcessor processor{[](plugin::Request) {}};
    const RequestCode send[1] = {RequestCode::SendMessageV2};
    const plugin::BindOptions safe{.loopSafe = true, .executor = {}};
};

TEST_F(RegistrationsTest, ADoubleBindingNamesBothPlugins) {
    auto& first = generation("send");
    ASSERT_TRUE(first.bind(send, processor, safe));
    Registrations second(Ref<Generation>::adopt(new Generation("other", 1)), executors, {"broker", "namesrv"}, {&first});
    const auto status = second.bind(send, processor, safe);
    EXPECT_EQ(status.code(), StatusCode::AlreadyExists);
    EXPECT_NE(status.message().find("'send'"), std::string::npos);
    EXPECT_NE(status.message().find("'other'"), std::string::npos);
    EXPECT_NE(status.message().find("310"), std::string::npos);
    EXPECT_EQ(second.codeCount(), 0U);
    auto elsewhere = safe;
    elsewhere.listener = "namesrv";
    EXPECT_TRUE(second.bind(send, processor, elsewhere));
}

TEST_F(RegistrationsTest, ACodeThatABinaryHeaderDoesNotTellFromAnotherIsRefused) {
    auto& first = generation("send");
    const RequestCode ten[] = {RequestCode{10}};
    ASSERT_TRUE(first.bind(ten, processor, safe));
    Registrations second(Ref<Generation>::adopt(new Generation("other", 1)), executors, {"broker", "namesrv"}, {&first});
    for (const std::int32_t code : {65'546, 10 - 65'536}) {
        const RequestCode far[] = {RequestCode{code}};
        const auto status = second.bind(far, processor, safe);
        EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
        EXPECT_EQ(status.message(), "request code " + std::to_string(code) + " of plugin 'other' cannot be told from 10: binary headers have 16 bits "
                                    "for it, and code 10 of listener 'broker' is bound by plugin 'send'");
    }
    const RequestCode two[] = {RequestCode{31'000}, RequestCode{31'000 + 65'536}};
    EXPECT_EQ(second.bind(two, processor, safe).code(), StatusCode::InvalidArgument);
    EXPECT_EQ(second.codeCount(), 0U);
    auto elsewhere = safe;
    elsewhere.listener = "namesrv";
    const RequestCode far[] = {RequestCode{65'546}};
    EXPECT_TRUE(second.bind(far, processor, elsewhere)) << "there is no code 10 there";
}

TEST_F(RegistrationsTest, AListenerThatIsNotThereIsNotFound) {
    auto options = safe;
    options.listener = "controller";
    EXPECT_EQ(generation("a").bind(send, processor, options).code(), StatusCode::NotFound);
}

class SilentInterceptor final : public plugin::Interceptor {
    plugin::Verdict intercept(const plugin::Interception&) override { return {}; }
};

TEST_F(RegistrationsTest, InterceptorsOfTheBrokerAlsoSeeTheListenerForAdministration) {
    Registrations both(Ref<Generation>::adopt(new Generation("a", 1)), executors, {"namesrv", "broker", "admin"}, {});
    SilentInterceptor silent;
    ASSERT_TRUE(both.add("broker", plugin::Phase::Limit, 0, silent));
    const Registrations* all[] = {&both};
    const auto table = RouteTable::build(3, all);
    EXPECT_EQ(table->chain(0), nullptr);
    EXPECT_NE(table->chain(1), nullptr);
    EXPECT_NE(table->chain(2), nullptr);

    Registrations alone(Ref<Generation>::adopt(new Generation("b", 1)), executors, {"namesrv", "admin"}, {});
    ASSERT_TRUE(alone.add("namesrv", plugin::Phase::Limit, 0, silent));
    const Registrations* other[] = {&alone};
    EXPECT_NE(RouteTable::build(2, other)->chain(1), nullptr) << "without a broker it is the name server's";
}

TEST_F(RegistrationsTest, ABlockingProcessorNeedsAnExecutor) {
    EXPECT_EQ(generation("a").bind(send, processor, {}).code(), StatusCode::InvalidArgument);
}

TEST_F(RegistrationsTest, ExecutorsAreSharedByNameAndBoundedInAll) {
    plugin::BindOptions options{.loopSafe = false, .executor = {.name = "x", .threads = 5}};
    auto& made = generation("a");
    ASSERT_TRUE(made.bind(send, processor, options));
    options.executor.threads = 50;  // the first spec counts
    const RequestCode pull[] = {RequestCode::PullMessage};
    EXPECT_TRUE(made.bind(pull, processor, options));
    options.executor.name = "y";
    const RequestCode offset[] = {RequestCode::GetMaxOffset};
    EXPECT_TRUE(made.bind(offset, processor, options)) << "with the threads that there are";
    options.executor.name = "z";
    const RequestCode beat[] = {RequestCode::HeartBeat};
    EXPECT_TRUE(made.bind(beat, processor, options));
    options.executor.name = "last";
    const RequestCode leave[] = {RequestCode::UnregisterClient};
    EXPECT_EQ(made.bind(leave, processor, options).code(), StatusCode::OutOfRange);
    EXPECT_EQ(executors.laneCount(), 9U);
}

TEST_F(RegistrationsTest, CodesBeyondTheDenseRangeAreFound) {
    auto& made = generation("a");
    const RequestCode codes[] = {RequestCode{200050}, RequestCode{3001}, RequestCode{-5}};
    ASSERT_TRUE(made.bind(codes, processor, safe));
    const Registrations* all[] = {&made};
    const auto table = RouteTable::build(2, all);
    for (const auto code : {200050, 3001, -5}) EXPECT_NE(table->find(0, code), nullptr) << code;
    for (const auto code : {200051, 310, -6}) EXPECT_EQ(table->find(0, code), nullptr) << code;
    EXPECT_EQ(table->find(1, 3001), nullptr);
}

}  // namespace
}  // namespace patchbay::kernel

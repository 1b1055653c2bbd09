// Proves: the greeting is answered and changed while it runs, requests are counted, an empty greeting is refused. How: the kernel of the
// test kit. Left to others: loading the library (a broker).
#include "Template.h"

#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"

#include <gtest/gtest.h>

namespace plugin_template {
namespace {

using namespace patchbay;

constexpr auto kCode = static_cast<protocol::RequestCode>(30'100);

TEST(Template, AnswersWithItsGreeting) {
    testkit::FakeContext context;
    testkit::PluginRunner runner(context);
    auto& plugin = runner.add<Template>({{"templateGreeting", "good morning"}});
    ASSERT_TRUE(runner.start());
    const auto answer = context.call(kCode);
    ASSERT_TRUE(answer.answered());
    EXPECT_EQ(answer.code(), protocol::ResponseCode::Success);
    EXPECT_EQ(answer.body(), "good morning");
    ASSERT_TRUE(runner.reconfigure(plugin, {{"templateGreeting", "good night"}}));
    EXPECT_EQ(context.call(kCode).body(), "good night");
    EXPECT_FALSE(runner.reconfigure(plugin, {{"templateGreeting", ""}}));
}

TEST(Template, SeesEveryRequestOfTheBroker) {
    testkit::FakeContext context;
    testkit::PluginRunner runner(context);
    runner.add<Template>();
    ASSERT_TRUE(runner.start());
    ASSERT_EQ(context.addedInterceptors().size(), 1U);
    EXPECT_EQ(context.addedInterceptors()[0].listener, "broker");
    EXPECT_EQ(context.addedInterceptors()[0].phase, plugin::Phase::Trace);
}

}  // namespace
}  // namespace plugin_template

// Proves: the interceptors of sdk/examples do in a broker what their files say: they come with the files as they are delivered while the broker
// serves, refuse and log what they are for, and are gone when they are switched off.
// How: the built broker with its real plugins, raw clients. Left to others: every rule of each (its own test), the mirror (mirror_test), the template
// (out_of_tree).
#include "support/BrokerProcess.h"
#include "support/Commands.h"
#include "support/OwnPlugins.h"
#include "support/RawClient.h"
#include "support/Stores.h"

#include "patchbay/protocol/PrivateCode.h"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

namespace patchbay::test {
namespace {

using protocol::PrivateCode;
using protocol::RemotingCommand;
using protocol::RequestCode;

class ExamplesTest : public OnEachStore {
protected:
    void SetUp() override {
        ASSERT_TRUE(broker_.start()) << broker_.output();
        client_ = std::make_unique<RawClient>(broker_.brokerPort());
    }

    RemotingCommand ask(const RemotingCommand& command) {
        const auto answer = client_->call(command);
        EXPECT_TRUE(answer) << answer.error().toString() << broker_.output();
        return answer ? *answer : RemotingCommand();
    }
    RemotingCommand send(const std::string& body) { return ask(sendCommand("Orders", body)); }
    /// The example's own file, with lines behind it, taken over by the running broker.
    void add(const std::string& name, const std::string& lines) {
        std::ifstream file(std::string(PATCHBAY_SOURCE_DIR "/sdk/examples/") + name + "/" + name + ".conf");
        const std::string text(std::istreambuf_iterator<char>(file), {});
        ASSERT_NE(text, "");
        broker_.folder().write("plugins.d/90-" + name + ".conf", text + "\nlibrary = " PATCHBAY_BUILD_DIR "/examples/patchbay-" + name + ".so\n" + lines);
        const auto taken = ask(RemotingCommand::request(static_cast<RequestCode>(PrivateCode::ReloadConfiguration)));
        ASSERT_EQ(taken.code, 0) << taken.remark.value_or("") << broker_.output();
    }
    void disable(const std::string& name) {
        auto command = RemotingCommand::request(static_cast<RequestCode>(PrivateCode::DisablePlugin));
        command.set("name", name);
        const auto done = ask(command);
        ASSERT_EQ(done.code, 0) << done.remark.value_or("");
    }

    BrokerProcess broker_{onStore(GetParam()), ownPlugins()};
    std::unique_ptr<RawClient> client_;
};

TEST_P(ExamplesTest, TheSchemaCheckRefusesWhatHasAnotherShape) {
    ASSERT_EQ(send("no JSON").code, 0);
    broker_.folder().write("schemas/Orders.json", R"({"type":"object","required":["id"],"properties":{"id":{"type":"integer"}}})");
    add("schema-check", "");
    EXPECT_EQ(send(R"({"id":1})").code, 0);
    const auto refused = send(R"({"id":"one"})");
    EXPECT_EQ(refused.code, 13);
    EXPECT_NE(refused.remark.value_or("").find("does not fit the schema of topic Orders"), std::string::npos) << refused.remark.value_or("");
    EXPECT_EQ(send("no JSON").code, 13);
    disable("schema-check");
    EXPECT_EQ(send("no JSON").code, 0);
}

TEST_P(ExamplesTest, TheRateLimiterRefusesWhatIsTooMuch) {
    add("rate-limit", "rateLimitPerSecond = 1\nrateLimitBurst = 2\n");
    RemotingCommand answer;
    answer.code = 0;
    for (int i = 0; i < 10'000 && answer.code == 0; ++i) answer = send("x");
    EXPECT_EQ(answer.code, 2);
    EXPECT_NE(answer.remark.value_or("").find("[FLOW]more than 1 "), std::string::npos) << answer.remark.value_or("");
    disable("rate-limit");
    for (int i = 0; i < 20; ++i) ASSERT_EQ(send("x").code, 0);
}

TEST_P(ExamplesTest, TheAuditLogNamesWhoDidWhat) {
    add("audit-log", "");
    auto command = RemotingCommand::request(RequestCode::DeleteTopicInBroker);
    command.set("topic", "Forgotten");
    EXPECT_EQ(ask(command).code, 0);
    EXPECT_TRUE(broker_.awaitOutput("plugin.audit-log")) << broker_.output();
    EXPECT_TRUE(broker_.awaitOutput("Forgotten")) << broker_.output();
    EXPECT_EQ(broker_.stop(SIGTERM), 0) << broker_.output();
}

PATCHBAY_ON_EACH_STORE(ExamplesTest);

}  // namespace
}  // namespace patchbay::test

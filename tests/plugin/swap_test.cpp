// Proves: send, pull and admin are exchanged under traffic, and the store through hold and switch, without a failed request, a lost long
// poll or a send that takes longer than a client waits; descriptors and mappings do not grow with the number of exchanges.
// How: the built broker with its real plugins, raw clients and private requests; PATCHBAY_SWAP_ROUNDS says how often. Left to others:
// bad new libraries (reload_test), clients of other languages (interop).
#include "support/BrokerProcess.h"
#include "support/RawClient.h"
#include "support/Stores.h"
#include "support/Traffic.h"

#include "patchbay/protocol/PrivateCode.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace patchbay::test {
namespace {

using protocol::PrivateCode;
using protocol::RemotingCommand;

int rounds(int otherwise) {
    const char* text = std::getenv("PATCHBAY_SWAP_ROUNDS");
    return text == nullptr ? otherwise : std::max(1, std::atoi(text));
}

RemotingCommand request(PrivateCode code, const std::string& name = {}) {
    auto command = RemotingCommand::request(static_cast<protocol::RequestCode>(code));
    if (!name.empty()) command.set("name", name);
    return command;
}

class SwapTest : public OnEachStore {
protected:
    SwapTest() : broker_(onStore(GetParam()) + "mappedFileSizeCommitLog = 16777216\n") {}
    void SetUp() override { ASSERT_TRUE(broker_.start()) << broker_.output(); }

    void reload(RawClient& client, const std::string& plugin) {
        auto answer = client.call(request(PrivateCode::ReloadPlugin, plugin));
        // A machine that is busy with other things may be too slow for the time that requests may wait: then nothing has changed.
        for (int again = 0; again < 5 && answer && answer->code == 1 && answer->remark.value_or("").starts_with("PB-1115"); ++again) {
            answer = client.call(request(PrivateCode::ReloadPlugin, plugin));
        }
        ASSERT_TRUE(answer) << plugin << " " << answer.error().toString();
        ASSERT_EQ(answer->code, 0) << plugin << ": " << answer->remark.value_or("") << "\n" << broker_.output();
    }
    /// Open ones, but for files of the store, which grows with its messages.
    [[nodiscard]] std::size_t descriptors() const {
        std::size_t count = 0;
        std::error_code ignored;
        for (const auto& one : std::filesystem::directory_iterator("/proc/" + std::to_string(broker_.pid()) + "/fd")) {
            const auto path = std::filesystem::read_symlink(one.path(), ignored).string();
            if (path.find("/store/") == std::string::npos || path.find("/store/run/") != std::string::npos) ++count;
        }
        return count;
    }
    /// Libraries that are mapped, each counted once for each of its pieces.
    [[nodiscard]] std::size_t mappings() const {
        std::ifstream maps("/proc/" + std::to_string(broker_.pid()) + "/maps");
        std::size_t count = 0;
        for (std::string line; std::getline(maps, line);) count += line.find("/run/plugins/") != std::string::npos ? 1U : 0U;
        return count;
    }
    /// Waits, by asking, until no older generation is left.
    void awaitRetired(RawClient& client) {
        for (int i = 0; i < 100'000; ++i) {
            const auto answer = client.call(request(PrivateCode::ListPlugins));
            ASSERT_TRUE(answer) << answer.error().toString();
            if (answer->body.find("\"state\":\"retiring\"") == std::string::npos) return;
        }
        FAIL() << "generations are still retiring";
    }

    BrokerProcess broker_;
};

TEST_P(SwapTest, ServicesThatServeRequestsAreExchangedUnderTraffic) {
    const int count = rounds(3);
    RawClient control(broker_.brokerPort());
    Traffic traffic(broker_.brokerPort());
    traffic.start(2, 2, 1);
    for (const auto* plugin : {"send", "pull", "admin", "control"}) reload(control, plugin);
    awaitRetired(control);
    const auto before = descriptors();
    const auto mapped = mappings();
    for (int round = 0; round < count && !HasFatalFailure(); ++round) {
        for (const auto* plugin : {"send", "pull", "admin"}) reload(control, plugin);
    }
    awaitRetired(control);
    EXPECT_EQ(descriptors(), before);
    EXPECT_EQ(mappings(), mapped);
    EXPECT_EQ(traffic.stop(), "") << broker_.output();
    EXPECT_GT(traffic.sent(), 0U);
    EXPECT_GT(traffic.pulled(), 0U);
    EXPECT_GT(traffic.asked(), 0U);
    std::printf("%d rounds: %llu sent, %llu pulled, %llu asked\n", count, static_cast<unsigned long long>(traffic.sent()),
                static_cast<unsigned long long>(traffic.pulled()), static_cast<unsigned long long>(traffic.asked()));
    EXPECT_EQ(broker_.stop(SIGTERM), 0) << broker_.output();
    EXPECT_EQ(broker_.output().find("still "), std::string::npos) << broker_.output();
}

TEST_P(SwapTest, TheStoreIsExchangedWhileSendsWait) {
    const int count = std::min(20, rounds(3));
    RawClient control(broker_.brokerPort());
    Traffic traffic(broker_.brokerPort());
    traffic.start(2, 2, 1);
    for (int round = 0; round < count && !HasFatalFailure(); ++round) reload(control, GetParam());
    EXPECT_EQ(traffic.stop(), "") << broker_.output();
    EXPECT_GT(traffic.sent(), 0U);
    std::printf("%d exchanges of %s: %llu sent, the slowest took %lld ms\n", count, GetParam().c_str(),
                static_cast<unsigned long long>(traffic.sent()), static_cast<long long>(traffic.slowestSend().count()));
    EXPECT_EQ(broker_.stop(SIGTERM), 0) << broker_.output();
    EXPECT_EQ(broker_.output().find("still "), std::string::npos) << broker_.output();
}

/// An operator at work.
class OperateTest : public OnEachStore {
protected:
    OperateTest() : broker_("metricsPromExporterPort = 0\nplugin.metrics.enabled = true\n" + onStore(GetParam())) {}
    void SetUp() override { ASSERT_TRUE(broker_.start()) << broker_.output(); }

    static protocol::RemotingCommand ask(RawClient& client, PrivateCode code, const std::string& name = {}) {
        const auto answer = client.call(request(code, name));
        EXPECT_TRUE(answer) << answer.error().toString();
        return answer ? *answer : protocol::RemotingCommand();
    }
    static std::string otherStore() { return GetParam() == kStores[0] ? kStores[1] : kStores[0]; }
    static std::string stateOf(const std::string& body, const std::string& plugin) {
        const auto at = body.find("{\"name\":\"" + plugin + "\"");
        const auto state = body.find("\"state\":\"", at);
        return at == std::string::npos ? "none" : body.substr(state + 9, body.find('"', state + 9) - state - 9);
    }

    BrokerProcess broker_;
};

TEST_P(OperateTest, SwitchesPluginsAndKeepsThatOverARestart) {
    {
        RawClient client(broker_.brokerPort());
        EXPECT_EQ(stateOf(ask(client, PrivateCode::ListPlugins).body, "reply"), "serving");
        EXPECT_EQ(ask(client, PrivateCode::DisablePlugin, "reply").code, 0);
        EXPECT_EQ(stateOf(ask(client, PrivateCode::ListPlugins).body, "reply"), "off");
        EXPECT_EQ(client.call(protocol::RemotingCommand::request(protocol::RequestCode::SendReplyMessage))->code, 3);
        const auto needed = ask(client, PrivateCode::DisablePlugin, "topics");
        EXPECT_EQ(needed.code, 1);
        EXPECT_NE(needed.remark.value_or("").find("PB-1111"), std::string::npos) << needed.remark.value_or("");
        EXPECT_EQ(ask(client, PrivateCode::DisablePlugin, "nobody").code, 1);
        const auto other = ask(client, PrivateCode::EnablePlugin, otherStore());
        EXPECT_EQ(other.code, 1);
        EXPECT_NE(other.remark.value_or("").find("service.patchbay.MessageStore is " + GetParam()), std::string::npos) << other.remark.value_or("");
    }
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
    ASSERT_TRUE(broker_.start()) << broker_.output();
    RawClient client(broker_.namesrvPort());
    EXPECT_EQ(stateOf(ask(client, PrivateCode::ListPlugins).body, "reply"), "off");
    EXPECT_EQ(ask(client, PrivateCode::EnablePlugin, "reply").code, 0);
    EXPECT_EQ(stateOf(ask(client, PrivateCode::ListPlugins).body, "reply"), "serving");
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
}

TEST_P(OperateTest, TellsWhatRunsAgainstWhatTheFilesSay) {
    RawClient client(broker_.brokerPort());
    auto body = ask(client, PrivateCode::CompareConfiguration).body;
    EXPECT_EQ(body.find("\"differs\":true"), std::string::npos) << body;
    broker_.folder().write("main.conf", broker_.folder().read("main.conf") + "heldPullsMax = 77\n");
    body = ask(client, PrivateCode::CompareConfiguration).body;
    const auto at = body.find("\"key\":\"heldPullsMax\"");
    ASSERT_NE(at, std::string::npos);
    EXPECT_NE(body.find("\"fileValue\":\"77\"", at), std::string::npos) << body.substr(at, 400);
    EXPECT_NE(body.find("\"differs\":true", at), std::string::npos);
    const auto good = broker_.folder().read("main.conf");
    auto changed = good + "plugin.reply.enabled = false\n";
    changed.replace(changed.find(GetParam()), GetParam().size(), otherStore());
    broker_.folder().write("main.conf", changed);
    body = ask(client, PrivateCode::CompareConfiguration).body;
    for (const auto& [key, value] : {std::pair("plugin.reply.enabled", std::string("false")), std::pair("service.patchbay.MessageStore", otherStore())}) {
        const auto line = body.find(std::string("\"key\":\"") + key + "\"");
        ASSERT_NE(line, std::string::npos) << key;
        const auto fact = body.substr(line, body.find('}', line) - line);
        EXPECT_NE(fact.find(std::string("\"fileValue\":\"") + value + "\""), std::string::npos) << fact;
        EXPECT_NE(fact.find("\"differs\":true"), std::string::npos) << fact;
    }
    broker_.folder().write("main.conf", good + "heldPulsMax = 77\n");
    const auto wrong = ask(client, PrivateCode::CompareConfiguration);
    EXPECT_EQ(wrong.code, 1) << wrong.body;
    EXPECT_NE(wrong.remark.value_or("").find("did you mean heldPullsMax?"), std::string::npos) << wrong.remark.value_or("");
    const auto refused = ask(client, PrivateCode::ReloadConfiguration);
    EXPECT_EQ(refused.code, 1);
    EXPECT_NE(refused.remark.value_or("").find("did you mean heldPullsMax?"), std::string::npos) << refused.remark.value_or("");
}

TEST_P(OperateTest, ServesMetricsAndHealthOverHttp) {
    const auto log = broker_.output();
    const auto at = log.find("metrics are served host=127.0.0.1 port=");
    ASSERT_NE(at, std::string::npos) << log;
    const auto port = static_cast<std::uint16_t>(std::atoi(log.c_str() + at + 39));
    RawClient client(broker_.brokerPort());
    ASSERT_EQ(ask(client, PrivateCode::GetMetrics).code, 0);
    RawClient ready(port);
    ASSERT_TRUE(ready.send("GET /health/ready HTTP/1.0\r\n\r\n"));
    EXPECT_TRUE(ready.everything().starts_with("HTTP/1.0 200")) << broker_.output();
    ASSERT_EQ(ask(client, PrivateCode::DisablePlugin, "send").code, 0) << broker_.output();
    RawClient without(port);
    ASSERT_TRUE(without.send("GET /health/ready HTTP/1.0\r\n\r\n"));
    const auto why = without.everything();
    EXPECT_TRUE(why.starts_with("HTTP/1.0 503")) << why;
    EXPECT_NE(why.find("no plugin serves SEND_MESSAGE_V2 (310)"), std::string::npos) << why;
    ASSERT_EQ(ask(client, PrivateCode::EnablePlugin, "send").code, 0) << broker_.output();
    RawClient again(port);
    ASSERT_TRUE(again.send("GET /health/ready HTTP/1.0\r\n\r\n"));
    EXPECT_TRUE(again.everything().starts_with("HTTP/1.0 200")) << broker_.output();
    RawClient metrics(port);
    ASSERT_TRUE(metrics.send("GET /metrics HTTP/1.0\r\n\r\n"));
    const auto text = metrics.everything();
    EXPECT_NE(text.find("patchbay_code_calls_total{listener=\"broker\",plugin=\"control\",code=\"29010\"} 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find("patchbay_store_writable 1\n"), std::string::npos);
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
}

PATCHBAY_ON_EACH_STORE(SwapTest);
PATCHBAY_ON_EACH_STORE(OperateTest);

}  // namespace
}  // namespace patchbay::test

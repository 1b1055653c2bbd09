// Proves: what a broker takes as a change while it runs, it takes at its next start, for every key that can be changed so and for values at and
// beyond their bounds; and what it refuses leaves no trace.
// How: the built broker with its real plugins; after each change that was taken the configuration is checked as a start would.
// Left to others: what each key does (unit tests of the plugins), the store of such changes (kernel_config_test).
#include "support/BrokerProcess.h"
#include "support/RawClient.h"
#include "support/Stores.h"

#include "patchbay/protocol/PrivateCode.h"
#include "patchbay/protocol/json/Value.h"

#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::test {
namespace {

using protocol::RequestCode;

constexpr const char* kCandidates[] = {"", "0", "-1", "95", "2000000000", "99999999999999999999", "true", "false", "maybe", "04;25", "a b # c"};

class RuntimeConfig : public OnEachStore {
protected:
    void SetUp() override {
        ASSERT_TRUE(broker_.start()) << broker_.output();
        client_ = std::make_unique<RawClient>(broker_.brokerPort());
    }

    protocol::RemotingCommand ask(RequestCode code, const std::string& body = {}) {
        auto command = protocol::RemotingCommand::request(code);
        command.body = body;
        auto answer = client_->call(command);
        EXPECT_TRUE(answer) << answer.error().toString();
        return answer.value_or(protocol::RemotingCommand());
    }
    bool set(const std::string& key, const std::string& value) { return ask(RequestCode::UpdateBrokerConfig, key + "=" + value + "\n").code == 0; }

    /// Live keys of the broker with the value that runs.
    std::map<std::string, std::string> liveKeys() {
        std::map<std::string, std::string> live;
        const auto answer = ask(static_cast<RequestCode>(protocol::PrivateCode::CompareConfiguration));
        const auto document = json::Document::parse(answer.body);
        EXPECT_TRUE(document);
        if (!document) return live;
        for (const auto item : document->root()["keys"]) {
            if (!item.value["live"].boolean().value_or(false) || item.value["owner"].text().value_or("") == "namesrv") continue;
            const std::string key(item.value["key"].text().value_or(""));
            if (key.starts_with("service.") || key.starts_with("plugin.")) continue;   // by the files alone
            live[key] = item.value["value"].text().value_or("");
        }
        return live;
    }
    /// The same files, as another start would read them.
    RunResult check() {
        BrokerProcess again;
        again.folder().write("main.conf", broker_.folder().read("main.conf"));
        return again.run({"--check", "-D", "storePathRootDir=" + (broker_.folder() / "store")});
    }

    BrokerProcess broker_{onStore(GetParam())};
    std::unique_ptr<RawClient> client_;
};

TEST_P(RuntimeConfig, ThatIsTakenIsTakenByTheNextStart) {
    const auto live = liveKeys();
    ASSERT_GT(live.size(), 10U);
    int taken = 0;
    for (const auto& [key, value] : live) {
        for (const char* candidate : kCandidates) {
            if (candidate == value) continue;
            if (!set(key, candidate)) continue;
            ++taken;
            const auto checked = check();
            ASSERT_EQ(checked.exitCode, 0) << key << " = '" << candidate << "' was taken\n" << checked.err;
        }
        ASSERT_TRUE(set(key, value)) << key;
    }
    EXPECT_GT(taken, 20);
}

TEST_P(RuntimeConfig, ThatIsRefusedLeavesNoTrace) {
    // A line, and the key that the answer names; two of them contradict another key.
    std::vector<std::pair<std::string, std::string>> lines{{"fileReservedTime=-1", "fileReservedTime"}};
    if (GetParam() == "storage-mmap") {
        lines.insert(lines.end(), {{"diskSpaceCleanForciblyRatio=95", "diskSpaceCleanForciblyRatio"},
                                   {"diskSpaceWarningLevelRatio=80", "diskSpaceCleanForciblyRatio"}, {"deleteWhen=25", "deleteWhen"}});
    }
    for (const auto& [line, key] : lines) {
        const auto refused = ask(RequestCode::UpdateBrokerConfig, line + "\n");
        EXPECT_EQ(refused.code, 1) << line;
        EXPECT_NE(refused.remark.value_or("").find(key), std::string::npos) << refused.remark.value_or("");
        EXPECT_EQ(broker_.folder().read("store/config/runtime.properties").find(line.substr(0, line.find('='))), std::string::npos);
    }
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
    EXPECT_TRUE(broker_.start()) << broker_.output();
}

TEST_P(RuntimeConfig, OfPathsPluginsAndServicesIsRefusedToWhomeverAsks) {
    RawClient nameServer(broker_.namesrvPort());
    for (const auto* key : {"storePathRootDir", "kvConfigPath", "configStorePath", "brokerConfigPath", "rocketmqHome", "plugin.send.library", "plugin.send.enabled",
                            "plugin.unload", "service.patchbay.MessageStore", "executor.admin.threads", "configBlackList"}) {
        const std::string line = std::string("maxTransferCountOnMessageInMemory=33\n") + key + "=/tmp/x\n";
        const auto refused = ask(RequestCode::UpdateBrokerConfig, line);
        EXPECT_EQ(refused.code, 16) << key << ": " << refused.remark.value_or("");
        auto command = protocol::RemotingCommand::request(RequestCode::UpdateNamesrvConfig);
        command.body = line;
        const auto there = nameServer.call(command);
        ASSERT_TRUE(there) << there.error().toString();
        EXPECT_EQ(there->code, 16) << key << ": " << there->remark.value_or("");
    }
    EXPECT_EQ(broker_.folder().read("store/config/runtime.properties"), "") << "and nothing else of such a request was done";
}

TEST_P(RuntimeConfig, ThatTakesAPermissionAwayIsInForceAtOnce) {
    const auto call = [this](RequestCode code, std::initializer_list<std::pair<const char*, const char*>> fields, const std::string& body = {}) {
        auto command = protocol::RemotingCommand::request(code);
        for (const auto& [name, value] : fields) command.set(name, value);
        command.body = body;
        const auto answer = client_->call(command);
        EXPECT_TRUE(answer) << answer.error().toString();
        return answer ? std::pair(answer->code, answer->remark.value_or("")) : std::pair(-1, std::string());
    };
    const auto send = [&call] {
        return call(RequestCode::SendMessageV2, {{"a", "P"}, {"b", "Ordered"}, {"c", "TBW102"}, {"d", "4"}, {"e", "0"}, {"f", "0"}, {"g", "1"},
                                                 {"h", "0"}, {"i", ""}, {"j", "0"}}, "x");
    };
    const auto pull = [&call] {
        return call(RequestCode::PullMessage, {{"consumerGroup", "G"}, {"topic", "Ordered"}, {"queueId", "0"}, {"queueOffset", "0"},
                                               {"maxMsgNums", "4"}, {"sysFlag", "4"}, {"commitOffset", "0"}, {"suspendTimeoutMillis", "0"},
                                               {"subscription", "*"}, {"subVersion", "0"}, {"expressionType", "TAG"}});
    };
    const auto back = [&call] { return call(RequestCode::ConsumerSendMsgBack, {{"group", "G"}, {"offset", "0"}, {"delayLevel", "0"}}); };
    ASSERT_EQ(call(RequestCode::UpdateAndCreateTopic, {{"topic", "Ordered"}, {"defaultTopic", "TBW102"}, {"readQueueNums", "1"}, {"writeQueueNums", "1"},
                                                       {"perm", "6"}, {"topicFilterType", "SINGLE_TAG"}, {"topicSysFlag", "0"}, {"order", "true"}}).first, 0);
    ASSERT_EQ(send().first, 0);
    ASSERT_EQ(pull().first, 0);
    constexpr std::int32_t kNoPermission = 16;
    ASSERT_TRUE(set("brokerPermission", "2"));
    EXPECT_EQ(pull(), std::pair(kNoPermission, std::string("the broker[127.0.0.1] pulling message is forbidden")));
    EXPECT_EQ(send().first, 0);
    ASSERT_TRUE(set("brokerPermission", "4"));
    EXPECT_EQ(pull().first, 0);
    EXPECT_EQ(send(), std::pair(kNoPermission, std::string("the broker[127.0.0.1] sending message is forbidden")));
    EXPECT_EQ(back(), std::pair(kNoPermission, std::string("the broker[127.0.0.1] sending message is forbidden")));
    ASSERT_TRUE(set("brokerPermission", "6"));
    EXPECT_EQ(send().first, 0);
    EXPECT_NE(back().first, kNoPermission);
}

PATCHBAY_ON_EACH_STORE(RuntimeConfig);

}  // namespace
}  // namespace patchbay::test

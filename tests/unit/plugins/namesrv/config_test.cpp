// Proved: the key-value table survives restarts and bad disks and takes no bad entries; the configuration can be read, and
// changed but for what is on the black list.
// How: requests of an administrator; restarts on the same directory; a file that another server has damaged.
// Left to others: which values a key takes (the kernel's configuration), exact remarks (golden_test.cpp).
#include "Namesrv.h"

#include "patchbay/testkit/FaultyFiles.h"

namespace patchbay::plugins::namesrv {
namespace {

using protocol::RequestCode;
using protocol::ResponseCode;

testkit::Fields entry(std::string key, std::string value) {
    return {{"namespace", "ORDER_TOPIC_CONFIG"}, {"key", std::move(key)}, {"value", std::move(value)}};
}

TEST(KeyValues, SurviveARestartAndAreKeptAsRocketMqKeepsThem) {
    Namesrv server;
    EXPECT_EQ(server.call(RequestCode::PutKvConfig, entry("T", "a:4;b:4")).code(), ResponseCode::Success);
    EXPECT_EQ(server.call(RequestCode::PutKvConfig, entry("U", "ümläut \"q\"")).code(), ResponseCode::Success);
    EXPECT_EQ(server.call(RequestCode::DeleteKvConfig, {{"namespace", "ORDER_TOPIC_CONFIG"}, {"key", "T"}}).code(), ResponseCode::Success);
    const std::string file = server.directory.file("kvConfig.json");
    EXPECT_EQ(systemFiles().readAll(file).value_or(""), R"({"configTable":{"ORDER_TOPIC_CONFIG":{"U":"ümläut \"q\""}}})");
    server.restart();
    EXPECT_EQ(server.call(RequestCode::GetKvConfig, entry("U", "")).field("value"), "ümläut \"q\"");
    EXPECT_EQ(server.call(RequestCode::GetKvConfig, entry("T", "")).code(), ResponseCode::QueryNotFound);
}

TEST(KeyValues, TheFileIsWhereTheOperatorWantsIt) {
    testkit::TempDir elsewhere;
    Namesrv server(testkit::Settings{{"kvConfigPath", elsewhere.file("kv.json")}});
    server.call(RequestCode::PutKvConfig, entry("T", "a:4"));
    EXPECT_TRUE(systemFiles().exists(elsewhere.file("kv.json")));
}

TEST(KeyValues, EntriesWithoutAKeyOrTooLargeAreRefusedAndBrokersStillRegister) {
    Namesrv server;
    EXPECT_EQ(server.call(RequestCode::PutKvConfig, {{"namespace", "ORDER_TOPIC_CONFIG"}, {"value", "v"}}).remark(),
              "namespace or key is null");
    EXPECT_EQ(server.call(RequestCode::PutKvConfig, {{"key", "k"}, {"value", "v"}}).remark(), "namespace or key is null");
    EXPECT_EQ(server.call(RequestCode::PutKvConfig, entry("", "v")).code(), ResponseCode::InvalidParameter);
    EXPECT_EQ(server.call(RequestCode::PutKvConfig, entry("k", std::string(1 << 20, 'v'))).code(), ResponseCode::InvalidParameter);
    EXPECT_EQ(server.call(RequestCode::PutKvConfig, entry(std::string(2'000, 'k'), "v")).code(), ResponseCode::InvalidParameter);
    EXPECT_EQ(server.registerBroker({}, {}).body(), "") << "nothing was taken";
    EXPECT_FALSE(systemFiles().exists(server.directory.file("kvConfig.json")));
}

TEST(KeyValues, ADamagedFileIsPutAsideAndItsBackupRead) {
    Namesrv server;
    server.call(RequestCode::PutKvConfig, entry("T", "old"));
    server.call(RequestCode::PutKvConfig, entry("T", "new"));
    const std::string file = server.directory.file("kvConfig.json");
    server.stop();
    ASSERT_TRUE(systemFiles().replaceAtomically(file, R"({"configTable":{"ORDER)", false).isOk());
    server.restart();
    EXPECT_EQ(server.call(RequestCode::GetKvConfig, entry("T", "")).field("value"), "old");
    EXPECT_TRUE(systemFiles().exists(file + ".damaged"));
    EXPECT_TRUE(server.context->log().contains("key-value table"));
}

TEST(KeyValues, WhatAPersonMayYetSaveIsNotThrownAway) {
    Namesrv server;
    const std::string file = server.directory.file("kvConfig.json");
    server.stop();
    for (const char* suffix : {"", ".bak"}) ASSERT_TRUE(systemFiles().replaceAtomically(file + suffix, suffix + std::string("junk"), false));
    EXPECT_FALSE(server.tryRestart());
    EXPECT_EQ(*systemFiles().readAll(file, 100), "junk");
    EXPECT_EQ(*systemFiles().readAll(file + ".bak", 100), ".bakjunk");
}

TEST(KeyValues, EntriesThatAnotherServerWroteWithoutAKeyAreLeftOut) {
    Namesrv server;
    server.stop();
    ASSERT_TRUE(systemFiles().replaceAtomically(server.directory.file("kvConfig.json"),
        R"({"configTable":{"ORDER_TOPIC_CONFIG":{"":"x","T":null,"U":"u"},"N":null}})", false).isOk());
    server.restart();
    EXPECT_EQ(server.call(RequestCode::GetKvlistByNamespace, {{"namespace", "ORDER_TOPIC_CONFIG"}}).body(), R"({"table":{"U":"u"}})");
}

TEST(KeyValues, AreToldToBrokersAndInRoutesAsConfigured) {
    Namesrv server(testkit::Settings{{"orderMessageEnable", "true"}});
    server.call(RequestCode::PutKvConfig, entry("A", "broker-a:4"));
    EXPECT_EQ(server.registerBroker({}, {topicOf("A"), topicOf("B")}).body(), R"({"table":{"A":"broker-a:4"}})");
    EXPECT_NE(server.route("A").body().find(R"("orderTopicConf":"broker-a:4")"), std::string::npos);
    EXPECT_EQ(server.route("B").body().find("orderTopicConf"), std::string::npos);
    ASSERT_TRUE(server.runner->reconfigure(*server.plugin, {{"orderMessageEnable", "false"},
                                                            {"returnOrderTopicConfigToBroker", "false"}}).isOk());
    EXPECT_EQ(server.registerBroker({}, {topicOf("A"), topicOf("B")}).body(), "");
    EXPECT_EQ(server.route("A").body().find("orderTopicConf"), std::string::npos);
}

TEST(KeyValues, AChangeThatCannotBeWrittenIsNotMade) {
    testkit::TempDir directory;
    testkit::FaultyFiles files(systemFiles());
    KvConfig kv(files, directory.file("kv.json"));
    ASSERT_TRUE(kv.put("N", "k", "old").isOk());
    files.failWrites({StatusCode::Full, "no space"});
    EXPECT_EQ(kv.put("N", "k", "new").code(), StatusCode::Full);
    EXPECT_EQ(kv.remove("N", "k").code(), StatusCode::Full);
    EXPECT_EQ(kv.get("N", "k"), "old");
    files.clear();
    EXPECT_TRUE(kv.remove("N", "k").isOk());
    EXPECT_EQ(kv.get("N", "k"), std::nullopt);
}

TEST(Configuration, IsShownSortedWithSecretsHidden) {
    Namesrv server;
    server.context->runtimeConfig().set("supportActingMaster", "false");
    server.context->runtimeConfig().set("listenPort", "9876");
    EXPECT_EQ(server.call(RequestCode::GetNamesrvConfig).body(), "listenPort=9876\nsupportActingMaster=false\n");
}

TEST(Configuration, IsChangedByPeersOfTheSameMachineUnlessOneKeySaysOtherwise) {
    for (const bool open : {false, true}) {
        Namesrv server(open ? testkit::Settings{{"namesrvLocalOnlyCodes", ""}} : testkit::Settings{});
        server.context->runtimeConfig().set("supportActingMaster", "false");
        server.peer = server.context->peer("192.0.2.7:50001", "namesrv");
        const auto answer = server.call(RequestCode::UpdateNamesrvConfig, {}, "supportActingMaster=true\n");
        EXPECT_EQ(answer.code(), open ? ResponseCode::Success : ResponseCode::NoPermission);
        EXPECT_EQ(server.context->runtimeConfig().applied().size(), open ? 1U : 0U);
        EXPECT_EQ(server.call(RequestCode::GetNamesrvConfig).code(), ResponseCode::Success);
    }
}

TEST(Configuration, KnownKeysAreChangedAndUnknownOnesPassedOver) {
    Namesrv server;
    auto& config = server.context->runtimeConfig();
    config.set("supportActingMaster", "false");
    EXPECT_EQ(server.call(RequestCode::UpdateNamesrvConfig, {}, "supportActingMaster=true\nnoSuchKey=1\n").code(), ResponseCode::Success);
    ASSERT_EQ(config.applied().size(), 1U);
    EXPECT_EQ(config.applied()[0].key, "supportActingMaster");
    EXPECT_EQ(config.applied()[0].value, "true");
    EXPECT_EQ(server.call(RequestCode::UpdateNamesrvConfig, {}, "").code(), ResponseCode::Success);
    config.answerWith({StatusCode::InvalidArgument, "supportActingMaster: not true or false"});
    const auto bad = server.call(RequestCode::UpdateNamesrvConfig, {}, "supportActingMaster=maybe\n");
    EXPECT_EQ(bad.code(), ResponseCode::SystemError);
    EXPECT_EQ(bad.remark(), "supportActingMaster: not true or false");
    config.answerWith({StatusCode::Denied, "a path"});
    EXPECT_EQ(server.call(RequestCode::UpdateNamesrvConfig, {}, "supportActingMaster=x\n").code(), ResponseCode::NoPermission);
}

TEST(Configuration, NobodyChangesFromAfarWhereFilesAreWritten) {
    Namesrv server;
    auto& config = server.context->runtimeConfig();
    for (const std::string key : {"kvConfigPath", "configStorePath", "rocketmqHome", "configBlackList", "brokerConfigPath",
                                  "storePathRootDir", "plugin.path", "CONFIGSTOREPATH", "config\\u0053torePath"}) {
        config.set(key, "x");
        const auto answer = server.call(RequestCode::UpdateNamesrvConfig, {}, "listenPort=1\n" + key + "=/tmp/x;$(id)\n");
        EXPECT_EQ(answer.code(), ResponseCode::NoPermission) << key;
        EXPECT_EQ(answer.remark(), "Can not update config in black list.") << key;
    }
    config.set("productEnvName", "center");
    EXPECT_NE(server.call(RequestCode::UpdateNamesrvConfig, {}, "productEnvName=a\\nkvConfigPath=/x\n").code(), ResponseCode::Success)
        << "a line break inside a value";
    EXPECT_TRUE(config.applied().empty());
}

TEST(Lists, AreAnsweredUnlessSwitchedOff) {
    Namesrv server(testkit::Settings{{"enableAllTopicList", "false"}, {"enableTopicList", "false"}});
    for (const auto code : {RequestCode::GetAllTopicListFromNameserver, RequestCode::GetUnitTopicList}) {
        EXPECT_EQ(server.call(code).remark(), "disable");
        EXPECT_EQ(server.call(code).code(), ResponseCode::SystemError);
    }
    EXPECT_EQ(server.call(RequestCode::GetTopicsByCluster, {{"cluster", "C"}}).remark(), "disable");
}

TEST(Lists, UnitTopicsAreFoundByTheirFlags) {
    Namesrv server;
    auto unit = topicOf("unit");
    unit.topicSysFlag = 1;
    auto sub = topicOf("sub");
    sub.topicSysFlag = 2;
    auto both = topicOf("both");
    both.topicSysFlag = 3;
    server.registerBroker({}, {unit, sub, both, topicOf("plain")});
    EXPECT_EQ(server.call(RequestCode::GetUnitTopicList).body(), R"({"topicList":["both","unit"]})");
    EXPECT_EQ(server.call(RequestCode::GetHasUnitSubTopicList).body(), R"({"topicList":["both","sub"]})");
    EXPECT_EQ(server.call(RequestCode::GetHasUnitSubUnunitTopicList).body(), R"({"topicList":["sub"]})");
}

}  // namespace
}  // namespace patchbay::plugins::namesrv

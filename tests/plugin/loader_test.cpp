// Proves: every kind of plugin that cannot work is refused with one clear line, all of them in one run, and what had started before a
// failing one is stopped again in reverse. How: the built executable and libraries that break one rule each.
// Left to others: requests (serving_test), order and manifests in detail (unit/kernel/plugin).
// One store: brokers here have none, but for those of two tests that go through each.
#include "support/BrokerProcess.h"
#include "support/Stores.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>

namespace patchbay::test {
namespace {

using Files = std::map<std::string, std::string>;

const std::string kLibraries = PATCHBAY_FIXTURE_DIR;

std::string enable(const std::string& name, const std::string& more = {}) {
    return "plugin = " + name + "\n" + more;
}

RunResult check(Files plugins, const std::string& main = {}, const std::string& libraries = kLibraries) {
    BrokerProcess broker(main, std::move(plugins));
    broker.setPluginDirectory(libraries);
    auto result = broker.run({"--check"});
    // Paths of this run are not what is tested.
    const auto folder = broker.folder().path() + "/";
    for (auto* text : {&result.err, &result.out}) {
        for (const auto& gone : {folder, kLibraries + "/"}) {
            for (auto at = text->find(gone); at != std::string::npos; at = text->find(gone)) text->erase(at, gone.size());
        }
    }
    return result;
}

void expectRefused(Files plugins, const std::string& line, const std::string& main = {}) {
    const auto result = check(std::move(plugins), main);
    EXPECT_EQ(result.exitCode, 78) << result.out;
    EXPECT_EQ(result.err, line + "\n");
}

TEST(PluginLoader, TakesAGoodPlugin) {
    const auto result = check({{"10-bell.conf", enable("bell")}});
    EXPECT_EQ(result.exitCode, 0) << result.err;
    EXPECT_NE(result.out.find("plugins: bell\n"), std::string::npos) << result.out;
}

TEST(PluginLoader, RefusesAFileThatIsNotThereOrNoLibrary) {
    const auto missing = check({{"a.conf", enable("nobody")}});
    EXPECT_EQ(missing.exitCode, 78);
    EXPECT_EQ(missing.err.rfind("PB-1101 plugin nobody: patchbay-nobody.so: cannot open: ", 0), 0U) << missing.err;
    BrokerProcess broker("", {{"a.conf", enable("text", "library = ../text.so\n")}});
    broker.folder().write("text.so", "this is a text that calls itself a library; it is long enough for a header");
    broker.setPluginDirectory(broker.folder() / "plugins.d");
    const auto text = broker.run({"--check"});
    EXPECT_EQ(text.exitCode, 78);
    EXPECT_NE(text.err.find("text.so: not a 64-bit ELF library for this machine\n"), std::string::npos) << text.err;
}

TEST(PluginLoader, RefusesEveryTruncationOfAGoodLibrary) {
    TempFolder folder;
    const auto whole = kLibraries + "/patchbay-bell.so";
    const auto size = std::filesystem::file_size(whole);
    for (const auto part : {std::uintmax_t{10}, std::uintmax_t{100}, size / 4, size / 2, size - 1}) {
        const auto cut = folder / "patchbay-bell.so";
        std::filesystem::copy_file(whole, cut, std::filesystem::copy_options::overwrite_existing);
        std::filesystem::resize_file(cut, part);
        const auto result = check({{"a.conf", enable("bell")}}, {}, folder.path());
        EXPECT_EQ(result.exitCode, 78) << part;
        EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
        EXPECT_EQ(result.err.rfind("PB-110", 0), 0U) << result.err;
    }
}

TEST(PluginLoader, RefusesWhatIsNoPluginOrWasBuiltForAnother) {
    expectRefused({{"a.conf", enable("no-manifest")}},
                  "PB-1102 plugin no-manifest: patchbay-no-manifest.so: not a Patchbay plugin (no .patchbay section)");
    expectRefused({{"a.conf", enable("wrong-api")}},
                  "PB-1103 plugin wrong-api: built for plugin API 1.7, this broker offers 1.0. Upgrade the broker or rebuild the plugin with its SDK.");
    const auto abi = check({{"a.conf", enable("wrong-abi")}});
    EXPECT_EQ(abi.exitCode, 78);
    EXPECT_EQ(abi.err.rfind("PB-1104 plugin wrong-abi: built with 'gcc99-cxx11abi0', this broker with '", 0), 0U) << abi.err;
    const auto headers = check({{"a.conf", enable("wrong-headers")}});
    EXPECT_EQ(headers.exitCode, 78);
    EXPECT_EQ(headers.err.rfind("PB-1105 plugin wrong-headers: comes from another working tree: built of headers '0123456789abcdef', ", 0), 0U)
        << headers.err;
    expectRefused({{"30-pull.conf", enable("pull", "library = patchbay-bell.so\n")}},
                  "PB-1106 plugins.d/30-pull.conf: names 'pull' but the library is 'bell'");
}

TEST(PluginLoader, RefusesALibraryThatDoesNotLinkOrMakeItsObject) {
    const auto result = check({{"a.conf", enable("undefined-symbol")}});
    EXPECT_EQ(result.exitCode, 78);
    EXPECT_EQ(result.err.rfind("PB-1107 plugin undefined-symbol: ", 0), 0U) << result.err;
    EXPECT_NE(result.err.find("patchbayFixtureNowhere"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("patchbay-undefined-symbol.so"), std::string::npos) << result.err;
    expectRefused({{"a.conf", enable("null-create")}}, "PB-1108 plugin null-create: patchbay_plugin_create gave no object");
}

TEST(PluginLoader, RefusesServicesThatAreMissingDoubleOrCircular) {
    expectRefused({{"a.conf", enable("missing-service")}},
                  "PB-1111 plugin missing-service: needs service test.Bell/1; no enabled plugin provides it. bell and gong can.");
    expectRefused({{"a.conf", enable("bell")}, {"b.conf", enable("gong")}},
                  "PB-1112 service test.Bell/1: provided by bell and gong; choose with `service.test.Bell = bell`");
    expectRefused({{"a.conf", enable("cycle-a")}, {"b.conf", enable("cycle-b")}},
                  "PB-1113 plugin cycle-a: needs itself: cycle-a -> cycle-b -> cycle-a");
    expectRefused({{"a.conf", enable("bell")}}, "PB-1114 main.conf:5: service.test.Bell = drum: the enabled plugins that provide it are bell",
                  "service.test.Bell = drum");
}

TEST(PluginLoader, LoadsOnlyTheProviderThatWasChosen) {
    const auto result = check({{"a.conf", enable("bell")}, {"b.conf", enable("gong")}}, "service.test.Bell = gong");
    EXPECT_EQ(result.exitCode, 0) << result.err;
    EXPECT_NE(result.out.find("plugins: gong\n"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("plugin bell is not loaded"), std::string::npos) << result.out;
}

TEST(PluginLoader, RefusesWrongPluginFiles) {
    expectRefused({{"a.conf", "library = x.so\n"}}, "PB-1131 plugins.d/a.conf: no line `plugin = NAME`");
    expectRefused({{"a.conf", enable("bell")}, {"b.conf", enable("bell")}},
                  "PB-1132 plugins.d/b.conf: plugin bell is enabled by plugins.d/a.conf already");
}

TEST(PluginLoader, NamesEveryProblemAtOnce) {
    const auto result = check({{"a.conf", enable("bell", "bellCount = many\nbellSuond = dong\n")}, {"b.conf", enable("bell")}, {"c.conf", enable("missing-service")}},
                              "listenPort = 0\nlistenPort = none\nlistenPrt = 1\n");
    EXPECT_EQ(result.exitCode, 78);
    for (const char* line : {"PB-1132 plugins.d/b.conf: plugin bell is enabled", "PB-1205 plugins.d/a.conf:2: bellCount: 'many' is not an integer",
                             "PB-1203 plugins.d/a.conf:3: unknown key 'bellSuond'; did you mean bellSound?", "listenPort is set already in line",
                             "listenPort: 'none' is not an integer", "unknown key 'listenPrt'; did you mean listenPort?"}) {
        EXPECT_NE(result.err.find(line), std::string::npos) << line << "\n" << result.err;
    }
    // A library that cannot be read hides nothing but unknown keys, which may be its own.
    const auto unreadable = check({{"a.conf", enable("bell", "bellCount = many\n")}, {"b.conf", enable("nobody")}}, "listenPort = none\n");
    for (const char* line : {"PB-1101 plugin nobody", "bellCount: 'many' is not an integer", "listenPort: 'none' is not an integer"}) {
        EXPECT_NE(unreadable.err.find(line), std::string::npos) << line << "\n" << unreadable.err;
    }
}

TEST(PluginLoader, RefusesAConfigurationThatThePluginsTableOrThePluginRefuses) {
    expectRefused({{"a.conf", enable("bell", "bellCount = many\n")}}, "PB-1205 plugins.d/a.conf:2: bellCount: 'many' is not an integer");
    expectRefused({{"a.conf", enable("bell", "bellSound = dong\n")}}, "PB-1121 plugin bell: bellSound dong needs bellCount 2");
    expectRefused({{"a.conf", enable("bell")}}, "PB-1203 main.conf:5: unknown key 'belSound'; did you mean bellSound?", "belSound = x");
}

TEST(PluginLoader, RefusesWhatBearsAFilesNameAndIsNone) {
    for (const char* name : {"a.conf", "main.conf"}) {
        BrokerProcess broker("", {{"b.conf", enable("bell")}});
        broker.setPluginDirectory(kLibraries);
        const bool main = std::string(name) == "main.conf";
        const std::string path = main ? broker.configPath() : broker.folder() / "plugins.d/a.conf";
        std::filesystem::remove(path);
        ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
        for (const bool check : {true, false}) {
            const auto result = broker.run(check ? std::vector<std::string>{"--check"} : std::vector<std::string>{});
            EXPECT_EQ(result.exitCode, 78) << result.err;
            EXPECT_EQ(result.err, "PB-1001 " + path + ": cannot open " + path + ": it is not a regular file\n");
        }
    }
    BrokerProcess broker("", {{"b.conf", enable("bell")}});
    broker.setPluginDirectory(kLibraries);
    const std::string folder = broker.folder() / "plugins.d/";
    std::filesystem::create_directory(folder + "a.conf");
    std::filesystem::create_symlink("/nowhere/pull.conf", folder + "c.conf");
    std::filesystem::create_symlink("somebody@machine.4711", folder + ".#b.conf");   // of an editor
    std::filesystem::create_symlink("b.conf", folder + "b.conf~");
    const auto result = broker.run({"--check"});
    EXPECT_EQ(result.exitCode, 78);
    EXPECT_EQ(result.err, "PB-1001 " + folder + "a.conf: it is a directory, not a file\n" "PB-1001 " + folder +
                              "c.conf: it is a link to /nowhere/pull.conf, which does not exist\n");
}

TEST(PluginLoader, SaysOnceWhatSeveralPluginsRefuse) {
    for (const auto& store : kStores) {
        BrokerProcess broker("flushDiskType = NEVER\nfileReservedTime = x\nmaxMessageSize = y\n" + onStore(store));
        const auto result = broker.run({"--check"});
        EXPECT_EQ(result.exitCode, 78);
        for (const char* line : {": flushDiskType: 'NEVER' is", ": fileReservedTime: 'x' is", ": maxMessageSize: 'y' is"}) {
            const auto at = result.err.find(line);
            EXPECT_NE(at, std::string::npos) << result.err;
            EXPECT_EQ(result.err.find(line, at + 1), std::string::npos) << result.err;
        }
    }
}

TEST(PluginLoader, ComparesTheLongestFrameWithTheLargestMessage) {
    for (const auto& store : kStores) {
        BrokerProcess both("frameMaxLength = 2M\nmaxMessageSize = 4M\n" + onStore(store));
        const auto refused = both.run({"--check"});
        EXPECT_EQ(refused.exitCode, 78);
        EXPECT_EQ(refused.err, "PB-1206 " + both.configPath() + ":5: frameMaxLength: 2097152 is below maxMessageSize (4194304, " +
                                   both.configPath() + ":6), so such messages could not come\n");
        BrokerProcess equal("frameMaxLength = 2M\nmaxMessageSize = 2M\n" + onStore(store));
        EXPECT_EQ(equal.run({"--check"}).exitCode, 0);
        BrokerProcess small("frameMaxLength = 2M\n" + onStore(store));
        EXPECT_NE(small.run({"--check"}).err.find("is below maxMessageSize (4194304, default)"), std::string::npos);
        // A change that was taken while the broker ran does not stop its next start.
        BrokerProcess changed("frameMaxLength = 5M\n" + onStore(store));
        changed.folder().write("store/config/runtime.properties", "maxMessageSize = 6000000\n");
        EXPECT_EQ(changed.run({"--check"}).exitCode, 0);
    }
    // A file of RocketMQ's, which has no such key, starts, and is told what does not come.
    BrokerProcess rocketmqs("maxMessageSize = 33554432\nadminBrokerThreadPoolNums = 80");
    const auto taken = rocketmqs.run({"--check"});
    EXPECT_EQ(taken.exitCode, 0) << taken.err;
    EXPECT_NE(taken.out.find("note: frameMaxLength: 16777216 is below maxMessageSize (33554432, "), std::string::npos) << taken.out;
    ASSERT_TRUE(rocketmqs.start()) << rocketmqs.output();
    EXPECT_NE(rocketmqs.output().find("so such messages do not come; set frameMaxLength to take them"), std::string::npos);
    BrokerProcess larger("maxMessageSize = 32M\nframeMaxLength = 33M\nservice.patchbay.MessageStore = storage-sqlite");
    EXPECT_EQ(larger.run({"--check"}).exitCode, 0);
}

TEST(PluginLoader, StartsWithMoreThreadsInAFileThanItMayHave) {
    BrokerProcess broker("pullMessageThreadPoolNums = 272");   // RocketMQ's on 128 cores
    EXPECT_EQ(broker.run({"--check"}).exitCode, 0);
    ASSERT_TRUE(broker.start()) << broker.output();
    EXPECT_NE(broker.output().find("executor=pull key=pullMessageThreadPoolNums wanted=272 threads=5"), std::string::npos) << broker.output();
    EXPECT_NE(broker.output().find("executorThreadsMax=64"), std::string::npos) << broker.output();
}

TEST(PluginLoader, TakesWhatServersOfRocketmqTellOfTheirConfiguration) {
    for (const std::string role : {"broker", "namesrv"}) {
        std::ifstream file(PATCHBAY_TEST_DATA "/config/rocketmq-5.3.3/" + role + ".properties");
        std::ostringstream text;
        text << file.rdbuf();
        ASSERT_FALSE(text.str().empty()) << role;
        BrokerProcess process;
        process.folder().write("main.conf", text.str() + "roles = " + role + "\n");
        const auto checked = process.run({"--check"});
        EXPECT_EQ(checked.exitCode, 0) << checked.err;
        EXPECT_NE(checked.out.find("accepted without effect: "), std::string::npos);
    }
    // The spelling of older releases has the same effect.
    BrokerProcess old("mapedFileSizeCommitLog = 1048576\nmapedFileSizeConsumeQueue = 2000\nhaSlaveFallbehindMax = 1");
    const auto printed = old.run({"--print-config"});
    EXPECT_NE(printed.out.find("mappedFileSizeCommitLog = 1048576 "), std::string::npos) << printed.err;
    EXPECT_NE(printed.out.find("mappedFileSizeConsumeQueue = 2000 "), std::string::npos) << printed.err;
}

TEST(PluginLoader, ReportsAllProblemsOfAllPluginsAtOnce) {
    const auto result = check({{"a.conf", enable("wrong-api")}, {"b.conf", enable("no-manifest")}, {"c.conf", enable("nobody")}}, "listenPrt = 1\nbrokerId = x");
    EXPECT_EQ(result.exitCode, 78);
    for (const char* number : {"PB-1103", "PB-1102", "PB-1101", "PB-1205"}) EXPECT_NE(result.err.find(number), std::string::npos) << result.err;
}

TEST(PluginLoader, LeavesOutBrokenPluginsThatAreOptional) {
    const auto result = check({{"a.conf", enable("wrong-abi", "optional = true\n")}, {"b.conf", enable("missing-service", "optional = true\n")},
                               {"c.conf", enable("undefined-symbol", "optional = true\n")}});
    EXPECT_EQ(result.exitCode, 0) << result.err;
    EXPECT_NE(result.out.find("plugins:\n"), std::string::npos) << result.out;
    for (const char* number : {"PB-1104", "PB-1111", "PB-1107"}) EXPECT_NE(result.out.find(number), std::string::npos) << result.out;
}

TEST(PluginLoader, DoesNotLookAtPluginsOfOtherRolesOrThatAreSwitchedOff) {
    const auto result = check({{"a.conf", enable("wrong-abi", "roles = namesrv\n")}, {"b.conf", enable("nobody", "enabled = false\n")}}, "roles = broker");
    EXPECT_EQ(result.exitCode, 0) << result.err;
}

TEST(PluginLoader, CheckLeavesNothingBehind) {
    BrokerProcess broker("", {{"a.conf", enable("bell")}});
    broker.setPluginDirectory(kLibraries);
    EXPECT_EQ(broker.run({"--check"}).exitCode, 0);
    EXPECT_FALSE(std::filesystem::exists(broker.folder() / "store"));
}

/// Starts that get as far as running plugin code.
RunResult startOnce(Files plugins) {
    BrokerProcess broker("", std::move(plugins));
    broker.setPluginDirectory(kLibraries);
    EXPECT_FALSE(broker.start());
    RunResult result;
    result.exitCode = broker.stop(SIGKILL);
    result.err = broker.output();
    return result;
}

TEST(PluginLoader, EndsWithTheReasonWhenInitFails) {
    auto result = startOnce({{"a.conf", enable("throws-in-init")}});
    EXPECT_EQ(result.exitCode, 1);
    EXPECT_NE(result.err.find("PB-1122 plugin throws-in-init: an exception left init(): no room in the inn\n"), std::string::npos) << result.err;
    result = startOnce({{"a.conf", enable("breaks-promise")}});
    EXPECT_EQ(result.exitCode, 1);
    EXPECT_NE(result.err.find("PB-1122 plugin breaks-promise: its manifest promises test.Nothing/1, but init() did not publish it\n"), std::string::npos) << result.err;
}

std::string stumble(const std::string& step, const std::string& how) {
    return enable("stumbles", "stumbleStep = " + step + "\nstumbleHow = " + how + "\n");
}

TEST(PluginLoader, TakesExceptionsFromEveryStep) {
    expectRefused({{"a.conf", stumble("configure", "throw")}}, "PB-1121 plugin stumbles: an exception left configure(): stumbled in configure");
    EXPECT_NE(startOnce({{"a.conf", stumble("init", "throw")}}).err.find("PB-1122 plugin stumbles: an exception left init()"), std::string::npos);
    EXPECT_NE(startOnce({{"a.conf", stumble("start", "throw")}}).err.find("PB-1123 plugin stumbles: an exception left start()"), std::string::npos);
    BrokerProcess broker("", {{"a.conf", stumble("reconfigure", "throw")}});
    broker.setPluginDirectory(kLibraries);
    ASSERT_TRUE(broker.start()) << broker.output();
    broker.folder().write("plugins.d/a.conf", stumble("reconfigure", "throw") + "stumbleLive = 1\n");
    broker.signal(SIGHUP);
    EXPECT_EQ(broker.stop(SIGTERM), 0);
    EXPECT_NE(broker.output().find("stumbles: an exception left reconfigure()"), std::string::npos) << broker.output();
}

TEST(PluginLoader, NamesAPluginThatDoesNotComeBack) {
    for (const char* step : {"init", "start", "drain", "stop"}) {
        BrokerProcess broker("pluginStepWarning = 100ms", {{"a.conf", stumble(step, "hang")}});
        broker.setPluginDirectory(kLibraries);
        ASSERT_TRUE(broker.start()) << broker.output();
        EXPECT_EQ(broker.stop(SIGTERM), 0);
        EXPECT_NE(broker.output().find("a plugin has not come back plugin=stumbles from=" + std::string(step) + "()"), std::string::npos) << broker.output();
    }
}

TEST(PluginLoader, NamesAPluginThatDoesNotComeBackFromAChange) {
    BrokerProcess broker("pluginStepWarning = 100ms", {{"a.conf", stumble("reconfigure", "hang")}});
    broker.setPluginDirectory(kLibraries);
    ASSERT_TRUE(broker.start()) << broker.output();
    broker.folder().write("plugins.d/a.conf", stumble("reconfigure", "hang") + "stumbleLive = 1\n");
    broker.signal(SIGHUP);
    EXPECT_TRUE(broker.awaitOutput("a plugin has not come back plugin=stumbles from=reconfigure()")) << broker.output();
    EXPECT_EQ(broker.stop(SIGTERM), 0) << broker.output();
}

TEST(PluginLoader, EndsAStopThatAPluginHoldsUpForTooLong) {
    for (const char* step : {"drain", "stop"}) {
        BrokerProcess broker("pluginStepWarning = 50ms\nstopTimeout = 2s", {{"a.conf", stumble(step, "forever")}});
        broker.setPluginDirectory(kLibraries);
        ASSERT_TRUE(broker.start()) << broker.output();
        EXPECT_EQ(broker.stop(SIGTERM), 1) << broker.output();
        EXPECT_NE(broker.output().find("a plugin has not come back plugin=stumbles from=" + std::string(step) + "()"), std::string::npos) << broker.output();
        EXPECT_NE(broker.output().find("the stop took longer than stopTimeout"), std::string::npos) << broker.output();
    }
}

TEST(PluginLoader, EndsAStopThatComesWhileAPluginStarts) {
    for (const char* step : {"init", "start"}) {
        BrokerProcess broker("pluginStepWarning = 50ms\nstopTimeout = 3s", {{"a.conf", stumble(step, "forever")}});
        broker.setPluginDirectory(kLibraries);
        ASSERT_TRUE(broker.startUntil("a plugin has not come back")) << broker.output();
        EXPECT_EQ(broker.stop(SIGTERM), 1) << broker.output();
        EXPECT_NE(broker.output().find("a stop waits for the main thread, which starts or changes plugins; the process ends at the latest after "
                                       "stopTimeout signal=15 stopTimeoutMs=3000"), std::string::npos) << broker.output();
        EXPECT_NE(broker.output().find("a plugin has not come back plugin=stumbles from=" + std::string(step) + "()"), std::string::npos) << broker.output();
        EXPECT_NE(broker.output().find("the stop took longer than stopTimeout"), std::string::npos) << broker.output();
    }
    // A change that hangs later is no other matter; and a second signal does not wait.
    BrokerProcess broker("pluginStepWarning = 50ms", {{"a.conf", stumble("reconfigure", "forever")}});
    broker.setPluginDirectory(kLibraries);
    ASSERT_TRUE(broker.start()) << broker.output();
    broker.folder().write("plugins.d/a.conf", stumble("reconfigure", "forever") + "stumbleLive = 1\n");
    broker.signal(SIGHUP);
    ASSERT_TRUE(broker.awaitOutput("a plugin has not come back")) << broker.output();
    broker.signal(SIGTERM);
    ASSERT_TRUE(broker.awaitOutput("a stop waits for the main thread")) << broker.output();
    EXPECT_EQ(broker.stop(SIGTERM), 128 + SIGTERM) << broker.output();
}

TEST(PluginLoader, StopsInOrderWhenASignalCameWhileAPluginStarted) {
    BrokerProcess broker("pluginStepWarning = 20ms", {{"a.conf", stumble("start", "hang")}});
    broker.setPluginDirectory(kLibraries);
    ASSERT_TRUE(broker.startUntil("a plugin has not come back")) << broker.output();
    EXPECT_EQ(broker.stop(SIGTERM), 0) << broker.output();
    EXPECT_NE(broker.output().find(" ready in "), std::string::npos) << broker.output();
    EXPECT_NE(broker.output().find("plugin stopped plugin=stumbles"), std::string::npos) << broker.output();
}

TEST(PluginLoader, ASignalEndsAtOnceWhatAPluginHoldsUpBeforeTheStart) {
    BrokerProcess broker("", {{"a.conf", stumble("configure", "forever")}});
    broker.setPluginDirectory(kLibraries);
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--check"}, std::vector<std::string>{}}) {
        ASSERT_TRUE(broker.startUntil("stumbles for ever in configure", arguments)) << broker.output();
        EXPECT_EQ(broker.stop(SIGTERM), 128 + SIGTERM) << broker.output();
    }
}

TEST(PluginLoader, CleansUpBehindPluginsThatLeaveThingsBehind) {
    for (const char* step : {"init", "start", "drain", "stop"}) {
        BrokerProcess broker("", {{"a.conf", stumble(step, "leak")}});
        broker.setPluginDirectory(kLibraries);
        ASSERT_TRUE(broker.start()) << broker.output();
        EXPECT_EQ(broker.stop(SIGTERM), 0) << step << broker.output();
        EXPECT_NE(broker.output().find("plugin stopped plugin=stumbles"), std::string::npos) << broker.output();
    }
}

TEST(PluginLoader, StopsWhatHadStartedWhenAStartFails) {
    const auto result = startOnce({{"a.conf", enable("fails-start")}, {"b.conf", enable("bell")}});
    EXPECT_EQ(result.exitCode, 1);
    const auto starts = result.err.find("bell starts sound=ding");
    const auto stops = result.err.find("bell stops");
    EXPECT_NE(starts, std::string::npos) << result.err;
    EXPECT_NE(stops, std::string::npos) << result.err;
    EXPECT_LT(starts, stops);
    EXPECT_NE(result.err.find("PB-1123 plugin fails-start: the disk is on fire\n"), std::string::npos) << result.err;
    EXPECT_EQ(result.err.find("still referred to"), std::string::npos) << result.err;
}

TEST(PluginLoader, GoesOnWithoutAnOptionalPluginThatFailsToStart) {
    BrokerProcess broker("", {{"a.conf", enable("fails-start", "optional = true\n")}, {"b.conf", enable("bell")},
                              {"c.conf", enable("throws-in-init", "optional = true\n")}});
    broker.setPluginDirectory(kLibraries);
    ASSERT_TRUE(broker.start()) << broker.output();
    EXPECT_EQ(broker.stop(SIGTERM), 0);
    EXPECT_NE(broker.output().find("optional plugin left out plugin=fails-start error=\"the disk is on fire\""), std::string::npos) << broker.output();
}

TEST(PluginLoader, NamesWhoStillHoldsAServiceAndLeavesItInMemory) {
    // It is left in memory on purpose, which the leak check of the process would call a leak.
    ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    BrokerProcess broker("", {{"a.conf", enable("keeps-lease")}, {"b.conf", enable("bell")}});
    broker.setPluginDirectory(kLibraries);
    ASSERT_TRUE(broker.start()) << broker.output();
    EXPECT_EQ(broker.stop(SIGTERM), 0);
    EXPECT_NE(broker.output().find("plugin=bell holders=\"keeps-lease (test.Bell/1)\""), std::string::npos) << broker.output();
    ::unsetenv("ASAN_OPTIONS");
}

TEST(PluginLoader, MapsPrivateCopiesAndRemovesThem) {
    TempFolder libraries;
    const auto library = libraries / "patchbay-bell.so";
    std::filesystem::copy_file(kLibraries + "/patchbay-bell.so", library);
    BrokerProcess broker("", {{"a.conf", enable("bell")}});
    broker.setPluginDirectory(libraries.path());
    ASSERT_TRUE(broker.start()) << broker.output();
    std::filesystem::resize_file(library, 0);   // a package that is replaced in place
    EXPECT_EQ(broker.stop(SIGTERM), 0) << broker.output();
    EXPECT_FALSE(std::filesystem::exists(broker.folder() / "store/run/plugins"));
}

TEST(PluginLoader, UnloadsStoppedPluginsWhenAsked) {
    BrokerProcess broker("plugin.unload = true", {{"a.conf", enable("misbehaves")}, {"b.conf", enable("bell")}});
    broker.setPluginDirectory(kLibraries);
    ASSERT_TRUE(broker.start()) << broker.output();
    EXPECT_EQ(broker.stop(SIGTERM), 0) << broker.output();
    EXPECT_NE(broker.output().find("plugin stopped plugin=bell generation=1 end=unloaded"), std::string::npos) << broker.output();
}

TEST(PluginLoader, ExplainsAKeyWithItsValueAndWhereItComesFrom) {
    BrokerProcess broker("", {{"a.conf", enable("bell", "bellSound = dang\n")}});
    broker.setPluginDirectory(kLibraries);
    const auto result = broker.run({"--explain", "bellSound"});
    EXPECT_EQ(result.exitCode, 0) << result.err;
    EXPECT_EQ(result.out, "key       bellSound (plugin bell)\nmeaning   What it says.\ntype      text\ndefault   ding\nvalue     dang\nfrom      plugin file, " +
                              broker.folder().path() + "/plugins.d/a.conf:2\nchange    while the broker runs\n");
    const auto wrong = broker.run({"--explain", "belSound"});
    EXPECT_EQ(wrong.exitCode, 64);
    EXPECT_NE(wrong.err.find("did you mean bellSound?"), std::string::npos) << wrong.err;
    const auto javas = broker.run({"--explain", "popPollingSize"});
    EXPECT_EQ(javas.exitCode, 0) << javas.err;
    EXPECT_NE(javas.out.find("without effect here"), std::string::npos) << javas.out;
}

TEST(PluginLoader, TakesEveryDefaultOfTheFileThatListsThem) {
    for (const auto& store : kStores) {
        std::ifstream file(PATCHBAY_SOURCE_DIR "/etc/examples/every-key.conf");
        std::string lines = "plugin.metrics.enabled = true\n" + onStore(store);
        bool chosen = true;
        int keys = 0;
        for (std::string line; std::getline(file, line);) {
            if (line.starts_with("# --- ")) chosen = !line.starts_with("# --- plugin storage-") || line.starts_with("# --- plugin " + store + ":");
            // "#key = value"; the meaning stands behind "# ", and a key without a default has no value.
            if (!chosen || !line.starts_with('#') || line.starts_with("# ") || line.ends_with('=')) continue;
            // These say where the broker of the test runs.
            if (line.starts_with("#listenPort") || line.starts_with("#namesrv.listenPort") || line.starts_with("#bindAddress") ||
                line.starts_with("#storePathRootDir")) continue;
            lines += line.substr(1) + "\n";
            ++keys;
        }
        EXPECT_GT(keys, 150);
        BrokerProcess broker(lines);
        const auto checked = broker.run({"--check"});
        EXPECT_EQ(checked.exitCode, 0) << checked.err << checked.out;
    }
}

TEST(PluginLoader, SwitchesPluginsByAKeyOfTheMainFileOrTheCommandLine) {
    const auto on = check({{"a.conf", enable("bell", "enabled = false\n")}}, "plugin.bell.enabled = true");
    EXPECT_EQ(on.exitCode, 0) << on.err;
    EXPECT_NE(on.out.find("plugins: bell\n"), std::string::npos) << on.out;
    const auto nobody = check({{"a.conf", enable("bell")}}, "plugin.drum.enabled = true");
    EXPECT_EQ(nobody.exitCode, 78);
    EXPECT_EQ(nobody.err, "PB-1203 main.conf:5: plugin.drum.enabled: no file of plugins.d is of plugin drum\n");
}

TEST(PluginLoader, PrintsAManifestAndWhetherItWouldTakeThePlugin) {
    BrokerProcess broker;
    auto result = broker.run({"--inspect", kLibraries + "/patchbay-bell.so"});
    EXPECT_EQ(result.exitCode, 0) << result.err;
    EXPECT_NE(result.out.find("provides     test.Bell/1\n"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("this broker takes it\n"), std::string::npos) << result.out;
    result = broker.run({"--inspect", kLibraries + "/patchbay-wrong-abi.so"});
    EXPECT_EQ(result.exitCode, 78);
    EXPECT_NE(result.err.find("PB-1104"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace patchbay::test

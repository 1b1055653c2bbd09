// Proves: changes at run time are checked, applied all or none, kept for the next start, and that paths, plugin keys and line
// breaks never get in. How: an owner that notes what it is told, a disk in memory. Left to others: who may ask (plugin admin).
#include "config/RuntimeConfigStore.h"

#include "support/MemoryFiles.h"

#include <gtest/gtest.h>

namespace patchbay::kernel {
namespace {

using plugin::ConfigEntry;
using plugin::ConfigKey;
using plugin::ConfigType;

class SilentLog final : public plugin::Logger {
public:
    [[nodiscard]] bool enabled(plugin::LogLevel) const noexcept override { return false; }

protected:
    void write(plugin::LogLevel, std::string_view) noexcept override {}
    bool admit(std::string_view, std::uint64_t&) noexcept override { return false; }
};

constexpr ConfigKey kKernel[] = {{"brokerName", ConfigType::Text, "a", ""},
                                 {"brokerPermission", ConfigType::Int, "6", "", plugin::kReloadable, 0, 7},
                                 {"password", ConfigType::Text, "geheim", "", plugin::kSecret},
                                 {"storePathRootDir", ConfigType::Path, "/s", ""}};
constexpr ConfigKey kSend[] = {{"maxMessageSize", ConfigType::Bytes, "4M", "", plugin::kReloadable, 1, 1 << 30, "messageMax"},
                               {"brokerPermission", ConfigType::Int, "6", "", plugin::kReloadable, 0, 7},
                               {"lanes", ConfigType::Int, "1", ""},
                               {"token", ConfigType::Text, "geheim", "", plugin::kSecret}};
constexpr ConfigKey kNames[] = {{"scanInterval", ConfigType::Millis, "5000", "", plugin::kReloadable}};

class RuntimeConfigTest : public ::testing::Test {
protected:
    RuntimeConfigTest() : store_(files_, log_, [](std::function<Status()> work) { return work(); }) {
        store_.open({"/data/config/runtime.properties", {"brokerName"}});
        store_.addOwner({"kernel", {}, values(kKernel), nullptr});
        store_.addOwner({"send", {"broker"}, values(kSend), tell("send")});
        store_.addOwner({"other", {"broker"}, values(kSend), tell("other")});
        store_.addOwner({"names", {"namesrv"}, values(kNames), tell("names")});
    }

    static ConfigValues values(std::span<const ConfigKey> keys) {
        Problems problems;
        return ConfigValues::resolve(keys, {}, "/", "t", problems);
    }

    std::function<Status(const ConfigValues&, std::span<const std::string_view>)> tell(std::string name) {
        return [this, name](const ConfigValues& next, std::span<const std::string_view> changed) -> Status {
            for (const auto key : changed) told_.push_back(name + " " + std::string(key) + "=" + next.find(key)->value.text);
            return name == refuser_ ? Status(StatusCode::InvalidArgument, "not today") : Status::ok();
        };
    }

    StatusCode change(std::vector<ConfigEntry> entries, std::string_view listener = "broker") {
        return store_.apply(listener, entries).code();
    }

    std::string valueOf(std::string_view key, std::string_view listener = "broker") const {
        for (const auto& entry : store_.snapshot(listener)) {
            if (entry.key == key) return entry.value;
        }
        return "none";
    }

    test::MemoryFiles files_;
    SilentLog log_;
    RuntimeConfigStore store_;
    std::vector<std::string> told_;
    std::string refuser_;
};

TEST_F(RuntimeConfigTest, ShowsTheKeysOfOneListenerAndHidesSecrets) {
    EXPECT_EQ(valueOf("maxMessageSize"), "4M");
    EXPECT_EQ(valueOf("maxMessageSize", "namesrv"), "none");
    EXPECT_EQ(valueOf("scanInterval", "namesrv"), "5000");
    EXPECT_EQ(valueOf("brokerName", "namesrv"), "a");
    EXPECT_EQ(valueOf("password"), "***");
}

TEST_F(RuntimeConfigTest, TellsEveryOwnerOfTheKeyAndKeepsTheChange) {
    EXPECT_EQ(change({{"messageMax", "1M"}}), StatusCode::Ok);
    EXPECT_EQ(told_, (std::vector<std::string>{"send maxMessageSize=1M", "other maxMessageSize=1M"}));
    EXPECT_EQ(valueOf("maxMessageSize"), "1M");
    EXPECT_EQ(store_.changeCount(), 1);
    Problems problems;
    const auto sources = [&] {
        ConfigSources made;
        EXPECT_EQ(made.addRunTimeChanges(files_, "/data/config/runtime.properties", problems), 1U);
        return made;
    }();
    EXPECT_TRUE(problems.empty()) << problems.toString();
    ASSERT_EQ(sources.common().size(), 1U);
    EXPECT_EQ(sources.common()[0].key, "messageMax");
    EXPECT_EQ(sources.common()[0].value, "1M");
}

TEST_F(RuntimeConfigTest, TheKernelsTableTellsWhatPluginsDo) {
    ASSERT_EQ(change({{"brokerPermission", "4"}}), StatusCode::Ok);
    EXPECT_EQ(store_.owners().front().name, "kernel");
    EXPECT_EQ(store_.owners().front().values.find("brokerPermission")->value.text, "4");
    refuser_ = "other";
    ASSERT_EQ(change({{"brokerPermission", "2"}}), StatusCode::InvalidArgument);
    EXPECT_EQ(store_.owners().front().values.find("brokerPermission")->value.text, "4");
}

TEST_F(RuntimeConfigTest, KeepsEarlierChangesInTheFile) {
    EXPECT_EQ(change({{"maxMessageSize", "1M"}}), StatusCode::Ok);
    EXPECT_EQ(change({{"brokerPermission", "4"}}), StatusCode::Ok);
    const auto text = files_.readAll("/data/config/runtime.properties");
    ASSERT_TRUE(text);
    EXPECT_NE(text->find("maxMessageSize = 1M"), std::string::npos);
    EXPECT_NE(text->find("brokerPermission = 4"), std::string::npos);
}

TEST_F(RuntimeConfigTest, DoesNotBringBackALineThatAnOperatorTookOut) {
    ASSERT_EQ(change({{"maxMessageSize", "1M"}}), StatusCode::Ok);
    ASSERT_TRUE(store_.keepSwitch("plugin.control.enabled", false));
    ASSERT_TRUE(files_.replaceAtomically("/data/config/runtime.properties", "# mine\nbrokerPermission = 4\n", true));
    ASSERT_EQ(change({{"brokerPermission", "2"}}), StatusCode::Ok);
    ASSERT_TRUE(store_.keepSwitch("plugin.metrics.enabled", true));
    const auto text = files_.readAll("/data/config/runtime.properties");
    ASSERT_TRUE(text);
    EXPECT_EQ(text->find("maxMessageSize"), std::string::npos) << *text;
    EXPECT_EQ(text->find("plugin.control"), std::string::npos) << *text;
    EXPECT_NE(text->find("brokerPermission = 2\n"), std::string::npos) << *text;
    EXPECT_NE(text->find("plugin.metrics.enabled = true\n"), std::string::npos) << *text;
}

TEST_F(RuntimeConfigTest, LeavesAFileOfChangesThatItCannotReadAsItIs) {
    const std::string half = "maxMessageSize = 1M\nmaxMessageSize = 2M\n";
    ASSERT_TRUE(files_.makeDirectories("/data/config"));
    ASSERT_TRUE(files_.replaceAtomically("/data/config/runtime.properties", half, true));
    const auto status = store_.keepSwitch("plugin.metrics.enabled", true);
    EXPECT_NE(status.message().find("runtime.properties"), std::string::npos) << status.message();
    EXPECT_EQ(*files_.readAll("/data/config/runtime.properties"), half);
}

TEST_F(RuntimeConfigTest, SaysInTheAnswerThatAChangeCouldNotBeKept) {
    files_.setCapacity(0);
    const ConfigEntry entries[] = {{"maxMessageSize", "1M", false, false}};
    const auto status = store_.apply("broker", entries);
    EXPECT_EQ(status.code(), StatusCode::Full);
    EXPECT_TRUE(status.message().starts_with("changed, but until the next restart only: ")) << status.message();
    EXPECT_EQ(valueOf("maxMessageSize"), "1M");
    const auto kept = store_.keepSwitch("plugin.metrics.enabled", true);
    EXPECT_TRUE(kept.message().starts_with("changed, but until the next restart only: ")) << kept.message();
}

TEST_F(RuntimeConfigTest, KeepsAKeyUnderOneOfItsNamesOnly) {
    ASSERT_EQ(change({{"messageMax", "1M", false, false}}), StatusCode::Ok);
    ASSERT_EQ(change({{"maxMessageSize", "2M", false, false}}), StatusCode::Ok);
    Problems problems;
    ConfigSources sources;
    ASSERT_EQ(sources.addRunTimeChanges(files_, "/data/config/runtime.properties", problems), 1U);
    const auto next = ConfigValues::resolve(kSend, sources.common(), "/", "t", problems);
    EXPECT_TRUE(problems.empty()) << problems.toString();
    EXPECT_EQ(next.find("maxMessageSize")->value.text, "2M");
}

TEST_F(RuntimeConfigTest, RefusesPathsPluginKeysAndTheBlackList) {
    for (const char* key : {"storePathRootDir", "brokerConfigPath", "configStorePath", "rocketmqHome", "kvConfigPath", "library",
                            "plugin.unload", "service.patchbay.MessageStore", "executor.x.threads", "brokerName"}) {
        EXPECT_EQ(change({{key, "/tmp/x;rm -rf"}}), StatusCode::Denied) << key;
    }
    EXPECT_EQ(store_.changeCount(), 0);
    EXPECT_FALSE(files_.exists("/data/config/runtime.properties"));
}

TEST_F(RuntimeConfigTest, RefusesUnknownKeysBadValuesAndLineBreaks) {
    EXPECT_EQ(change({{"noSuchKey", "1"}}), StatusCode::NotFound);
    EXPECT_EQ(change({{"scanInterval", "1"}}), StatusCode::NotFound);   // of the other listener
    EXPECT_EQ(change({{"aclEnable", "true"}}), StatusCode::Unsupported);
    EXPECT_EQ(change({{"lanes", "2"}}), StatusCode::Unsupported);
    EXPECT_EQ(change({{"maxMessageSize", "big"}}), StatusCode::InvalidArgument);
    EXPECT_EQ(change({{"maxMessageSize", "0"}}), StatusCode::OutOfRange);
    EXPECT_EQ(change({{"maxMessageSize", "1M\nlibrary=x"}}), StatusCode::InvalidArgument);
    EXPECT_EQ(change({{"maxMessageSize", "1M"}, {"maxMessageSize", "2M"}}), StatusCode::InvalidArgument);
    EXPECT_TRUE(told_.empty());
}

TEST_F(RuntimeConfigTest, SaysBeforehandWhatItWouldAnswer) {
    const auto would = [this](const char* key, const char* value) { return store_.wouldApply("broker", {key, value, false, false}); };
    EXPECT_TRUE(would("maxMessageSize", "1M"));
    EXPECT_EQ(would("maxMessageSize", "0").message(), "maxMessageSize: '0' is out of range (1 to 1073741824)");
    EXPECT_EQ(would("storePathRootDir", "/x").code(), StatusCode::Denied);
    EXPECT_EQ(would("noSuchKey", "1").code(), StatusCode::NotFound);
    // The plugin takes the value when it begins anew; a key of the kernel's waits for a start.
    EXPECT_EQ(would("lanes", "2").message(), "lanes needs a restart of its plugin: set it in the configuration file, then 'patchctl plugin reload send'");
    EXPECT_EQ(would("password", "x").message(), "password needs a restart: set it in the configuration file");
    EXPECT_TRUE(told_.empty());
    EXPECT_EQ(valueOf("maxMessageSize"), "4M");
    EXPECT_EQ(store_.changeCount(), 0);
    EXPECT_FALSE(files_.exists("/data/config/runtime.properties"));
}

TEST_F(RuntimeConfigTest, DoesNotTellWhetherAGuessIsTheSecret) {
    const auto would = [this](const char* value) { return store_.wouldApply("broker", {"token", value, false, false}); };
    EXPECT_FALSE(would("wrong"));
    EXPECT_EQ(would("geheim").message(), would("wrong").message());
    EXPECT_EQ(change({{"token", "geheim"}}), change({{"token", "wrong"}}));
    EXPECT_TRUE(store_.wouldApply("broker", {"lanes", "1", false, false})) << "others: what runs may be said again";
}

TEST_F(RuntimeConfigTest, WhatTheBlackListNamesIsNotTakenBackEither) {
    const ConfigSources none;
    ASSERT_EQ(change({{"maxMessageSize", "1M"}}), StatusCode::Ok);
    ASSERT_TRUE(store_.keepSwitch("plugin.send.enabled", false));
    for (const char* listed : {"maxMessageSize", "messageMax"}) {
        store_.open({"/data/config/runtime.properties", {listed}});
        for (const char* key : {"maxMessageSize", "messageMax"}) {
            EXPECT_EQ(store_.unset(key, none, true).code(), StatusCode::Denied) << listed << " " << key;
            EXPECT_EQ(store_.unset(key, none, false).message(), std::string(key) + " must not be changed while the broker runs: configBlackList names it");
            EXPECT_EQ(change({{key, "2M"}}), StatusCode::Denied) << listed << " " << key;
        }
    }
    EXPECT_EQ(valueOf("maxMessageSize"), "1M");
    EXPECT_TRUE(store_.unset("plugin.send.enabled", none, false)) << "a switch";
}

TEST_F(RuntimeConfigTest, TakesAChangeBackToWhatTheFilesSay) {
    ASSERT_TRUE(files_.makeDirectories("/etc/p"));
    ASSERT_TRUE(files_.replaceAtomically("/etc/p/b.conf", "messageMax = 8M\n", true));
    const auto sources = [this] {
        Problems problems;
        auto read = ConfigSources::read(files_, "/etc/p/b.conf", {}, "/", problems);
        read.addRunTimeChanges(files_, "/data/config/runtime.properties", problems);
        EXPECT_TRUE(problems.empty()) << problems.toString();
        return read;
    };
    EXPECT_EQ(store_.unset("maxMessageSize", sources(), false).code(), StatusCode::NotFound);
    EXPECT_EQ(store_.unset("noSuchKey", sources(), false).message(), "unknown key 'noSuchKey'");
    ASSERT_EQ(change({{"maxMessageSize", "1M"}}), StatusCode::Ok);
    ASSERT_EQ(change({{"brokerPermission", "4"}}), StatusCode::Ok);
    told_.clear();
    EXPECT_TRUE(store_.unset("messageMax", sources(), true));
    EXPECT_EQ(valueOf("maxMessageSize"), "1M") << "a dry run";
    EXPECT_TRUE(store_.unset("messageMax", sources(), false)) << "by either name";
    EXPECT_EQ(told_, (std::vector<std::string>{"send maxMessageSize=8M", "other maxMessageSize=8M"}));
    EXPECT_EQ(valueOf("maxMessageSize"), "8M");
    EXPECT_EQ(valueOf("brokerPermission"), "4") << "other changes stay";
    const auto text = *files_.readAll("/data/config/runtime.properties");
    EXPECT_EQ(text.find("essageMax"), std::string::npos) << text;
    EXPECT_EQ(text.find("maxMessageSize"), std::string::npos) << text;
    EXPECT_NE(text.find("brokerPermission = 4\n"), std::string::npos) << text;
    refuser_ = "other";
    EXPECT_EQ(store_.unset("brokerPermission", sources(), false).message(), "other: not today");
    EXPECT_EQ(valueOf("brokerPermission"), "4");
    EXPECT_NE(files_.readAll("/data/config/runtime.properties")->find("brokerPermission = 4\n"), std::string::npos);
}

TEST_F(RuntimeConfigTest, ChangesNothingWhilePluginsAreExchanged) {
    ASSERT_EQ(change({{"maxMessageSize", "1M"}}), StatusCode::Ok);
    told_.clear();
    store_.exchanging(true);
    EXPECT_EQ(change({{"maxMessageSize", "2M"}}), StatusCode::Busy);
    EXPECT_EQ(store_.unset("maxMessageSize", {}, false).message(), "plugins are being exchanged; try again");
    EXPECT_TRUE(told_.empty());
    EXPECT_EQ(valueOf("maxMessageSize"), "1M");
    store_.exchanging(false);
    EXPECT_TRUE(store_.unset("maxMessageSize", {}, false));
    EXPECT_EQ(valueOf("maxMessageSize"), "4M");
}

TEST_F(RuntimeConfigTest, AppliesNothingWhenOneOfManyIsWrong) {
    EXPECT_EQ(change({{"maxMessageSize", "1M"}, {"noSuchKey", "1"}}), StatusCode::NotFound);
    EXPECT_TRUE(told_.empty());
    EXPECT_EQ(valueOf("maxMessageSize"), "4M");
}

TEST_F(RuntimeConfigTest, TakesBackWhatOthersHaveAppliedWhenOneRefuses) {
    refuser_ = "other";
    EXPECT_EQ(change({{"maxMessageSize", "1M"}}), StatusCode::InvalidArgument);
    EXPECT_EQ(told_, (std::vector<std::string>{"send maxMessageSize=1M", "other maxMessageSize=1M", "send maxMessageSize=4M",
                                               "other maxMessageSize=4M"}));
    EXPECT_EQ(valueOf("maxMessageSize"), "4M");
    EXPECT_EQ(store_.changeCount(), 0);
}

TEST_F(RuntimeConfigTest, AppliesTheDifferenceOfChangedFiles) {
    (void)files_.makeDirectories("/etc/p");
    {
        auto file = files_.open("/etc/p/b.conf", OpenMode::Create);
        ASSERT_TRUE(file && (*file)->writeAt("maxMessageSize = 8M\nlanes = 3\n", 0));
    }
    Problems problems;
    ASSERT_TRUE(store_.reload(ConfigSources::read(files_, "/etc/p/b.conf", {}, "/", problems), [](const std::string&) { return false; }));
    EXPECT_EQ(told_, (std::vector<std::string>{"send maxMessageSize=8M", "other maxMessageSize=8M"}));
    EXPECT_EQ(valueOf("lanes"), "1");
    EXPECT_EQ(valueOf("maxMessageSize"), "8M");
    store_.takeBackReload();
    EXPECT_EQ(told_.back(), "other maxMessageSize=4M");
    EXPECT_EQ(valueOf("maxMessageSize"), "4M");
}

}  // namespace
}  // namespace patchbay::kernel

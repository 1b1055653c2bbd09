// Proves: before and after a change of a key patchctl tells what the broker makes of it: whether it takes the value, for how long it holds, how it is
// taken back, and whose word a value is.
// How: the built patchctl against brokers with files, a command line and changes of their own. Left to others: what the owners of keys do.
#include "PatchctlFixture.h"

#include <filesystem>

namespace patchbay::test {
namespace {

class PatchctlConfig : public PatchctlOnStore {
protected:
    /// A broker of the test's own.
    void startOwn(const std::string& lines, const std::vector<std::string>& arguments) {
        own_ = std::make_unique<BrokerProcess>(onStore(GetParam()) + lines);
        ASSERT_TRUE(own_->start(arguments)) << own_->output();
        at_ = " -b 127.0.0.1:" + std::to_string(own_->brokerPort());
        servers_ = " --namesrv 127.0.0.1:" + std::to_string(own_->namesrvPort());
    }
    std::string explained(const std::string& key, const char* member) {
        std::string text;
        return parsed("config explain " + key + at_, text).root()[member].text().value_or("");
    }
    void expectSays(const std::string& line, int exit, const std::string& words) {
        const auto ran = shell(line + at_);
        EXPECT_EQ(ran.exit, exit) << line << "\n" << ran.out;
        EXPECT_NE(ran.out.find(words), std::string::npos) << line << "\n" << ran.out;
    }

    std::unique_ptr<BrokerProcess> own_;
    std::string at_;
    std::string servers_;
};

TEST_P(PatchctlConfig, ADryRunSaysWhatTheBrokerWouldAnswer) {
    startOwn("", {});
    const std::string set = "config set ";
    expectSays(set + "fileReservedTime 24 --dry-run", 0, "would be changed");
    for (const std::string dry : {" --dry-run", ""}) {
        expectSays(set + "fileReservedTime -1" + dry, 1, "out of range");
        expectSays(set + "fileReservedTime soon" + dry, 1, "is not an integer");
        expectSays(set + "noSuchKey 1" + dry, 3, "has no key 'noSuchKey'");
        expectSays(set + "storePathRootDir /x" + dry, 1, "paths are set in the configuration file only");
        expectSays(set + "frameMaxLength 20000000" + dry, 1, "frameMaxLength needs a restart: set it in the configuration file");
        expectSays(set + "longPollingEnable false" + dry, 1, "then 'patchctl plugin reload pull'");
        expectSays(set + "plugin.reply.enabled false" + dry, 1, "use 'patchctl plugin enable reply' or 'patchctl plugin disable reply'");
        expectSays(set + "service.patchbay.MessageStore x" + dry, 1, "then 'patchctl config reload'");
        expectSays(set + "waitSecondsForService soon --nameserver" + servers_ + dry, 1, "is not ");
        expectSays(set + "noSuchKey 1 --nameserver" + servers_ + dry, 3, "has no key 'noSuchKey'");
        expectSays(set + "kvConfigPath /x --nameserver" + servers_ + dry, 1, "kvConfigPath is a path; paths are set in the configuration file only");
    }
    EXPECT_FALSE(std::filesystem::exists(own_->folder() / "store/config/runtime.properties")) << "nothing was changed by any of them";
    expectSays("config explain longPollingEnable", 0, "'patchctl plugin reload pull'");
    expectSays("config explain frameMaxLength", 0, "by a restart");
    expectSays("config explain fileReservedTime", 0, "by 'patchctl config set'");
}

TEST_P(PatchctlConfig, AValueOfTheCommandLineWinsAtTheNextStartAndThatIsSaid) {
    startOwn("", {"-D", "fileReservedTime=48"});
    for (const std::string dry : {" --dry-run", ""}) {
        expectSays("config set fileReservedTime 24" + dry, 0, "changed; until the next start only: its command line (-D fileReservedTime=48) wins then");
    }
    EXPECT_EQ(explained("fileReservedTime", "value"), "24");
    const std::string other = done("config set maxTransferCountOnMessageInMemory 33" + at_);
    EXPECT_EQ(other.find("until"), std::string::npos) << other;
}

TEST_P(PatchctlConfig, AChangeIsTakenBack) {
    startOwn("fileReservedTime = 40\n", {});
    expectSays("config unset fileReservedTime", 3, "was not changed at run time");
    expectSays("config unset noSuchKey", 3, "unknown key 'noSuchKey'");
    done("config set fileReservedTime 24" + at_);
    done("config set maxTransferCountOnMessageInMemory 33" + at_);
    expectSays("config unset fileReservedTime --dry-run", 0, "would be taken back");
    EXPECT_EQ(explained("fileReservedTime", "value"), "24");
    EXPECT_EQ(explained("fileReservedTime", "origin"), "changed at run time");
    expectSays("config unset fileReservedTime", 0, "taken back; it is 40 (");
    EXPECT_EQ(explained("fileReservedTime", "value"), "40");
    EXPECT_EQ(explained("fileReservedTime", "origin"), "main file");
    expectSays("config unset maxTransferCountOnMessageInMemory", 0, "taken back; it is 32 (default) again");
    done("config set waitSecondsForService 30 --nameserver" + servers_);
    expectSays("config unset waitSecondsForService --nameserver" + servers_, 0, "taken back; it is ");
    // A key of the kernel's that plugins act on waits for nothing.
    done("config set brokerPermission 4" + at_);
    EXPECT_EQ(explained("brokerPermission", "value"), "4");
    expectSays("config reload", 0, "what differed in the files is in force");
    done("config unset brokerPermission" + at_);
    EXPECT_EQ(explained("brokerPermission", "value"), "6");
    EXPECT_EQ(own_->stop(SIGTERM), 0) << own_->output();
    ASSERT_TRUE(own_->start()) << own_->output();
    at_ = " -b 127.0.0.1:" + std::to_string(own_->brokerPort());
    EXPECT_EQ(explained("fileReservedTime", "value"), "40");
    EXPECT_EQ(explained("maxTransferCountOnMessageInMemory", "value"), "32");
}

TEST_P(PatchctlConfig, ASwitchIsWhoseWordItWas) {
    startOwn("plugin.metrics.enabled = false\n", {"-D", "plugin.rebalance.enabled=true"});
    const auto word = [this](const std::string& plugin) {
        const std::string key = "plugin." + plugin + ".enabled";
        return explained(key, "value") + ", " + explained(key, "origin") + ", " + explained(key, "where");
    };
    EXPECT_NE(word("metrics").find("false, main file, " + own_->configPath() + ":"), std::string::npos) << word("metrics");
    EXPECT_EQ(word("rebalance"), "true, command line, -D plugin.rebalance.enabled");
    EXPECT_EQ(word("reply").find("true, changed"), std::string::npos) << word("reply");
    EXPECT_EQ(explained("service.patchbay.MessageStore", "origin"), "main file");
    done("plugin disable reply" + at_);
    EXPECT_EQ(word("reply"), "false, changed at run time, changed at run time");
    EXPECT_EQ(own_->stop(SIGTERM), 0) << own_->output();
    ASSERT_TRUE(own_->start()) << own_->output();
    at_ = " -b 127.0.0.1:" + std::to_string(own_->brokerPort());
    const std::string kept = word("reply");
    EXPECT_TRUE(kept.starts_with("false, changed at run time, ")) << kept;
    EXPECT_NE(kept.find("runtime.properties:"), std::string::npos) << kept;
    expectSays("config unset plugin.reply.enabled", 0, "false runs until the next 'patchctl config reload', then true");
    done("config reload" + at_);
    EXPECT_TRUE(word("reply").starts_with("true, ")) << word("reply");
    EXPECT_EQ(own_->stop(SIGTERM), 0) << own_->output();
}

INSTANTIATE_TEST_SUITE_P(Mmap, PatchctlConfig, ::testing::Values("storage-mmap"));
INSTANTIATE_TEST_SUITE_P(Sqlite, PatchctlConfig, ::testing::Values("storage-sqlite"));

}  // namespace
}  // namespace patchbay::test

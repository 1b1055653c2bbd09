// Proves: keys nobody knows are refused with the nearest known one, keys of RocketMQ are taken, and everything wrong in several
// files is reported at once. How: files on a disk in memory. Left to others: values (ConfigValues).
#include "config/KeyCheck.h"

#include "config/RocketmqKeys.h"
#include "patchbay/base/Nearest.h"
#include "support/MemoryFiles.h"

#include <gtest/gtest.h>

#include <set>

namespace patchbay::kernel {
namespace {

using plugin::ConfigKey;
using plugin::ConfigType;

constexpr ConfigKey kKernel[] = {{"listenPort", ConfigType::Int, "10911", ""}, {"brokerName", ConfigType::Text, "", ""}};
constexpr ConfigKey kPull[] = {{"longPollingEnable", ConfigType::Bool, "true", ""},
                               {"pullBytesMax", ConfigType::Bytes, "1M", "", 0, 0, 1 << 30, "maxTransferBytesOnMessageInMemory"}};

class KeyCheckTest : public ::testing::Test {
protected:
    KeyCheckTest() { (void)files_.makeDirectories("/etc/p/plugins.d"); }

    void write(const std::string& path, std::string_view text) {
        auto file = files_.open(path, OpenMode::Create);
        ASSERT_TRUE(file) << file.error().toString();
        ASSERT_TRUE((*file)->writeAt(text, 0));
    }

    UnusedKeys check(const std::string& main, const std::string& pull = "plugin = pull\n", std::vector<std::string> definitions = {}) {
        write("/etc/p/b.conf", main);
        write("/etc/p/plugins.d/40-pull.conf", pull);
        sources_ = ConfigSources::read(files_, "/etc/p/b.conf", definitions, "/work", problems_);
        sources_.readPluginFiles(files_, "/etc/p/plugins.d", problems_);
        kernel_ = ConfigValues::resolve(kKernel, sources_.common(), "/", "kernel", problems_);
        const auto& file = sources_.pluginFiles().at(0);
        pull_ = ConfigValues::resolve(kPull, sources_.assignmentsFor(file), "/", "pull", problems_);
        const KeyOwner owners[] = {{"kernel", &kernel_, nullptr}, {"pull", &pull_, &file}};
        return checkKeys(sources_, owners, problems_);
    }

    test::MemoryFiles files_;
    Problems problems_;
    ConfigSources sources_;
    ConfigValues kernel_;
    ConfigValues pull_;
};

TEST_F(KeyCheckTest, NamesTheNearestKeyForATypingError) {
    check("listenPrt = 1\nlongpollingEnabel = false\nzzzzzzzzzzzz = 1\n");
    ASSERT_EQ(problems_.size(), 3U) << problems_.toString();
    EXPECT_EQ(problems_.list()[0].toString(), "PB-1203 /etc/p/b.conf:1: unknown key 'listenPrt'; did you mean listenPort?");
    EXPECT_EQ(problems_.list()[1].toString(), "PB-1203 /etc/p/b.conf:2: unknown key 'longpollingEnabel'; did you mean longPollingEnable?");
    EXPECT_EQ(problems_.list()[2].toString(), "PB-1203 /etc/p/b.conf:3: unknown key 'zzzzzzzzzzzz'");
}

TEST_F(KeyCheckTest, LetsTheMainFileSetPluginKeysAndWin) {
    check("maxTransferBytesOnMessageInMemory = 2M\n", "plugin = pull\npullBytesMax = 3M\nlongPollingEnable = false\n");
    EXPECT_TRUE(problems_.empty()) << problems_.toString();
    EXPECT_EQ(pull_.integer("pullBytesMax"), 2 << 20);
    EXPECT_FALSE(pull_.flag("longPollingEnable"));
}

TEST_F(KeyCheckTest, SaysWhereAKeyBelongsThatStandsInAPluginsFile) {
    check("", "plugin = pull\nlistenPort = 1\nnobody = 2\n");
    ASSERT_EQ(problems_.size(), 2U) << problems_.toString();
    EXPECT_EQ(problems_.list()[0].toString(),
              "PB-1203 /etc/p/plugins.d/40-pull.conf:2: listenPort is not a key of plugin pull but of kernel; set it in the main file");
    EXPECT_EQ(problems_.list()[1].where, "/etc/p/plugins.d/40-pull.conf:3");
}

TEST_F(KeyCheckTest, TakesEveryKeyOfRocketmqAndListsThoseWithoutEffect) {
    std::string main;
    for (const auto& key : rocketmqKeys()) {
        main += std::string(key.name) + (key.type == ConfigType::Bool ? " = false\n" : key.type == ConfigType::Text ? " = some\n" : " = 7\n");
    }
    const auto unused = check(main);
    EXPECT_TRUE(problems_.empty()) << problems_.toString();
    const std::set<std::string> plain(unused.plain.begin(), unused.plain.end());
    EXPECT_TRUE(plain.contains("useReentrantLockWhenPutMessage"));
    EXPECT_FALSE(plain.contains("longPollingEnable"));
    EXPECT_EQ(plain.size() + unused.paths.size(), rocketmqKeys().size() - 4);   // 4 keys are in use here
}

TEST_F(KeyCheckTest, RefusesAPromiseThatNobodyKeeps) {
    check("aclEnable = True\nauthenticationEnabled = False\nenableDLegerCommitLog = false\n");
    ASSERT_EQ(problems_.size(), 1U) << problems_.toString();
    EXPECT_EQ(problems_.list()[0].where, "/etc/p/b.conf:1");
    EXPECT_EQ(problems_.list()[0].number, ErrorNumber::NotAChoice);
}

TEST_F(KeyCheckTest, ValuesOfKeysWithoutEffectAreOfTheirTypeToo) {
    check("popPollingSize = abc\naclEnable = yes\nmaxMessageSizes = 1\nmaxMsgsNumBatch = 64\ndataReadAheadEnable = TRUE\ndLegerGroup = any thing\n"
          "mappedFileSizeCommitLog = 1G\nfilterDataCleanTimeSpan = 2h\n");
    ASSERT_EQ(problems_.size(), 3U) << problems_.toString();
    EXPECT_EQ(problems_.list()[0].toString(), "PB-1205 /etc/p/b.conf:1: popPollingSize: 'abc' is not an integer");
    EXPECT_EQ(problems_.list()[1].toString(), "PB-1205 /etc/p/b.conf:2: aclEnable: 'yes' is neither true nor false");
}

TEST_F(KeyCheckTest, ReportsAllProblemsOfAllFilesAtOnce) {
    check("listenPort = abc\nlistenPort = 2\nbrokerName = b #x\nunknownThing = 1\n", "enabled = perhaps\nroles = broker moon\npullBytesMax = -x\n");
    std::set<int> numbers;
    for (const auto& problem : problems_.list()) numbers.insert(static_cast<int>(problem.number));
    EXPECT_EQ(numbers, (std::set<int>{1131, 1202, 1203, 1204, 1205, 1207})) << problems_.toString();
}

TEST_F(KeyCheckTest, ReadsExecutorSizesAndChoicesAndRefusesWrongOnes) {
    check("executor.pull.threads = 4\nservice.patchbay.MessageStore = storage-mmap\nexecutor.pull.colour = 1\nexecutor.threads = 1\n",
          "plugin = pull\nexecutor.pull.threads = 2\nexecutor.pull.queueCapacity = 50\nexecutor.pull.maxQueueWait = 5s\n");
    ASSERT_EQ(problems_.size(), 2U) << problems_.toString();
    EXPECT_EQ(problems_.list()[0].toString(),
              "PB-1210 /etc/p/b.conf:3: executor.pull.colour: 'colour' is none of: threads, queueCapacity, maxQueueWait");
    EXPECT_EQ(problems_.list()[1].number, ErrorNumber::BadExecutor);
    const auto executors = sources_.executorsFor(sources_.pluginFiles().at(0));
    EXPECT_EQ(executors.at("pull").threads, 4U);
    EXPECT_EQ(executors.at("pull").queueCapacity, 50U);
    EXPECT_EQ(executors.at("pull").maxQueueWait, std::chrono::seconds(5));
    EXPECT_EQ(sources_.choices().at("patchbay.MessageStore").plugin, "storage-mmap");
}

TEST_F(KeyCheckTest, LetsTheCommandLineWin) {
    check("listenPort = 1\n", "plugin = pull\n", {"listenPort=7", "listenPort=8", "longPollingEnable=false", "broken"});
    ASSERT_EQ(problems_.size(), 1U) << problems_.toString();
    EXPECT_EQ(problems_.list()[0].toString(), "PB-1201 -D: 'broken' is not of the form key=value");
    EXPECT_EQ(kernel_.integer("listenPort"), 8);
    EXPECT_FALSE(pull_.flag("longPollingEnable"));
}

TEST(Nearest, GivesUpWhenNothingIsNear) {
    const std::string known[] = {"listenPort", "brokerName"};
    EXPECT_EQ(nearest("listenport", known), "listenPort");
    EXPECT_EQ(nearest("port", known), "");
}

}  // namespace
}  // namespace patchbay::kernel

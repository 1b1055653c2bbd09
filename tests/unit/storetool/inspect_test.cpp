// Proved: the tools name what is in a store, find what is damaged in log, consume queues and index, and change nothing.
// How: stores written into a temporary directory, then damaged; digests of all files before and after.
// Left to others: recovery itself (tests/unit/plugins/storage-mmap), directories of a Java broker (at the end of this file).
#include "patchbay/storetool/StoreTool.h"

#include "Layout.h"
#include "MmapStore.h"

#include "patchbay/testkit/FakeRuntime.h"
#include "patchbay/testkit/ManualClock.h"
#include "patchbay/testkit/StoreClient.h"
#include "patchbay/testkit/TempDir.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace patchbay::storetool {

namespace {

namespace fs = std::filesystem;

class StoreToolTest : public testing::Test {
protected:
    StoreToolTest() {
        tool.directory = own.root = dir.path() + "/store";
        own.segmentBytes = 65'536;
        own.queueFileBytes = 400;
        own.indexSlots = tool.indexSlots = 50;
        own.indexEntries = tool.indexEntries = 500;
    }

    /// 200 messages in two queues of TopicA, 20 in TopicB; closed afterwards unless it is kept.
    std::unique_ptr<mmapstore::MmapStore> write() {
        auto store = std::make_unique<mmapstore::MmapStore>(systemFiles(), clock, log, own);
        EXPECT_TRUE(store->open());
        for (int i = 0; i < 200; ++i) send(*store, "TopicA", i % 2, i);
        for (int i = 0; i < 20; ++i) send(*store, "TopicB", 0, i);
        return store;
    }
    void send(mmapstore::MmapStore& store, const std::string& topic, std::int32_t queue, int i) {
        clock.advance(std::chrono::seconds(1));
        const auto item = testkit::appendOne(
            store, {.topic = topic, .queueId = queue, .body = "body \"" + std::to_string(i) + "\"", .keys = "k" + std::to_string(i)});
        ASSERT_TRUE(isStored(item.status));
        positions.push_back(item.physicalOffset);
    }
    void damage(const std::string& file, std::int64_t at, std::string_view bytes) {
        std::fstream stream(own.root + "/" + file, std::ios::in | std::ios::out | std::ios::binary);
        ASSERT_TRUE(stream) << file;
        stream.seekp(at);
        stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    std::map<std::string, std::string> contents() const {
        std::map<std::string, std::string> result;
        for (const auto& entry : fs::recursive_directory_iterator(own.root)) {
            if (!entry.is_regular_file()) continue;
            std::ifstream stream(entry.path(), std::ios::binary);
            result[fs::relative(entry.path(), own.root)] = std::string(std::istreambuf_iterator<char>(stream), {});
        }
        return result;
    }
    LineSink sink() {
        return [this](std::string_view line) {
            lines.emplace_back(line);
            return true;
        };
    }
    int count(std::string_view part) const {
        int found = 0;
        for (const std::string& line : lines) found += line.find(part) != std::string::npos ? 1 : 0;
        return found;
    }
    CheckReport check() {
        lines.clear();
        const auto before = contents();
        const Result<CheckReport> report = storeCheck(tool, sink());
        EXPECT_TRUE(report) << report.error().toString();
        EXPECT_EQ(contents(), before);
        return report ? *report : CheckReport{};
    }

    testkit::TempDir dir;
    testkit::ManualClock clock;
    testkit::FakeLogger log;
    mmapstore::StoreOptions own;
    StoreToolOptions tool;
    std::vector<std::string> lines;
    std::vector<std::int64_t> positions;
};

TEST_F(StoreToolTest, InfoTellsWhatIsThere) {
    write().reset();
    const Result<StoreInfo> info = storeInfo(tool, sink());
    ASSERT_TRUE(info) << info.error().toString();
    EXPECT_EQ(info->logFileBytes, 65'536);
    EXPECT_EQ(info->topics, 2);
    EXPECT_EQ(info->queues, 3);
    EXPECT_EQ(info->indexFiles, 1);
    EXPECT_FALSE(info->abortPresent);
    EXPECT_EQ(info->firstStoreMs, 1'700'000'001'000);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NE(lines[0].find("lastStop=clean"), std::string::npos) << lines[0];
    EXPECT_NE(lines[0].find("firstMessage=\"2023-11-14 22:13:21.000\""), std::string::npos) << lines[0];
}

TEST_F(StoreToolTest, ARunningStoreIsRefusedAndAMissingOneNamed) {
    auto store = write();
    const Result<CheckReport> refused = storeCheck(tool, sink());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), StatusCode::Busy);
    EXPECT_NE(refused.error().message().find(tool.directory), std::string::npos);
    store.reset();
    tool.directory = dir.path() + "/nowhere";
    EXPECT_EQ(storeInfo(tool, sink()).error().code(), StatusCode::NotFound);
}

TEST_F(StoreToolTest, ACheckOfAWholeStoreFindsNothing) {
    write().reset();
    const CheckReport report = check();
    EXPECT_EQ(report.problems, 0) << lines.front();
    EXPECT_EQ(report.records, 220);
    EXPECT_EQ(report.units, 220);
    EXPECT_EQ(report.indexEntries, 220);
    EXPECT_EQ(count("nextStart recovery=afterCleanStop"), 1);
    EXPECT_EQ(count("checked records=220"), 1);
}

TEST_F(StoreToolTest, EachKindOfDamageIsFoundAndTheRestIsStillLookedAt) {
    write().reset();
    const std::string log0 = "commitlog/00000000000000000000";
    damage(log0, positions[50] + 90, "\xff");
    damage("consumequeue/TopicA/1/00000000000000000400", 3 * 20 + 7, "\x01");
    for (const auto& entry : fs::directory_iterator(own.root + "/index")) {
        damage("index/" + entry.path().filename().string(), 40 + 50 * 4 + 7 * 20, "\x7f");
    }
    const CheckReport report = check();
    EXPECT_EQ(report.records, 219) << "the walk goes on behind a bad record";
    EXPECT_EQ(count("problem what=\"a body does not fit its checksum\""), 1);
    EXPECT_EQ(count("fileOffset=" + std::to_string(positions[50])), 2) << "now, and after the next start";
    EXPECT_EQ(count("problem what=\"messages of the log are not in their consume queue\" topic=TopicA queue=1 count=1 first=23"), 1);
    EXPECT_EQ(count("problem what=\"units of a consume queue point to something else\" topic=TopicA queue=1 count=1 first=23"), 1);
    EXPECT_EQ(count("problem what=\"entries of the key index do not fit the log\""), 1);
    EXPECT_EQ(report.problems, 4);
    EXPECT_EQ(report.left, 4) << "after a clean stop nobody looks";
    EXPECT_EQ(count("remedy "), 1);
}

TEST_F(StoreToolTest, MissingAndShortFilesAreFound) {
    write().reset();
    fs::remove(own.root + "/consumequeue/TopicA/0/00000000000000000800");
    fs::resize_file(own.root + "/consumequeue/TopicB/0/00000000000000000000", 200);
    const CheckReport report = check();
    EXPECT_EQ(count("a file is missing before"), 1);
    EXPECT_EQ(count("problem what=\"messages of the log are not in their consume queue\""), 2);
    EXPECT_GE(report.problems, 3);
}

TEST_F(StoreToolTest, ADumpIsFilteredAndCanBeJson) {
    write().reset();
    DumpFilter filter;
    filter.topic = "TopicA";
    filter.queueId = 1;
    filter.fromMs = 1'700'000'000'000 + 10'000;
    filter.toMs = 1'700'000'000'000 + 20'000;
    filter.bodies = true;
    Result<std::int64_t> written = storeDump(tool, filter, sink());
    ASSERT_TRUE(written) << written.error().toString();
    EXPECT_EQ(*written, 6);
    EXPECT_EQ(count("topic=TopicA queue=1 offset=4 "), 1) << lines.front();
    EXPECT_EQ(count("body=\"body \\\"9\\\"\""), 1) << lines.front();
    lines.clear();
    tool.json = true;
    filter.messagesMax = 2;
    written = storeDump(tool, filter, sink());
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_TRUE(lines[0].starts_with("{\"kind\":\"message\",\"position\":")) << lines[0];
    EXPECT_NE(lines[0].find("\"topic\":\"TopicA\",\"queue\":1,\"offset\":4"), std::string::npos) << lines[0];
    EXPECT_TRUE(lines[0].ends_with("}"));
}

TEST_F(StoreToolTest, WhoReadsTheLinesMayStop) {
    write().reset();
    int taken = 0;
    const Result<std::int64_t> written = storeDump(tool, {}, [&](std::string_view) { return ++taken < 3; });
    EXPECT_EQ(written.error().code(), StatusCode::Cancelled);
    EXPECT_EQ(taken, 3);
}

TEST_F(StoreToolTest, ADryRunSaysWhatAStartWouldDoAndTheStartThenDoesIt) {
    auto store = write();
    const std::string copy = dir.path() + "/killed";
    fs::copy(own.root, copy, fs::copy_options::recursive);
    store.reset();
    tool.directory = own.root = copy;
    damage("commitlog/00000000000000000000", positions[219] + 95, "\x01");
    fs::remove_all(copy + "/consumequeue/TopicA/0");
    fs::remove(copy + "/checkpoint");  // how far it had come depends on the threads; without it the log is read from its beginning
    const auto before = contents();
    const Result<CheckReport> report = storeRepairDryRun(tool, sink());
    ASSERT_TRUE(report) << report.error().toString();
    EXPECT_EQ(contents(), before);
    EXPECT_EQ(report->end, positions[219]);
    EXPECT_EQ(count("wouldMend what=\"the commit log ends with a record that is not whole"), 1);
    EXPECT_EQ(count("commit log recovered clean=false"), 1);
    EXPECT_EQ(count("wouldMend "), report->mends);
    EXPECT_EQ(count(" mends=" + std::to_string(report->mends)), 1) << "as many as were named";
    EXPECT_EQ(report->left, 0);
    log.clear();
    mmapstore::MmapStore again(systemFiles(), clock, log, own);
    ASSERT_TRUE(again.open());
    EXPECT_EQ(again.stats().maxPhysicalOffset, report->end);
    EXPECT_EQ(again.range("TopicA", 0).max, 100);
    EXPECT_TRUE(log.contains("the commit log ends with a record that is not whole"));
}

/// A store is damaged in one way; check and dry run have to say the same about the next start, and the start has to do it.
class NextStart : public StoreToolTest {
protected:
    /// The lines about the next start.
    std::vector<std::string> told() const {
        std::vector<std::string> result;
        for (const std::string& line : lines) {
            if (line.starts_with("would") && !line.starts_with("wouldSay")) result.push_back(line);
        }
        std::sort(result.begin(), result.end());
        return result;
    }
    /// A store whose last stop was clean or a crash, with everything before the checkpoint but one message of TopicB.
    void prepare(bool clean) {
        own.root = tool.directory = dir.path() + "/store" + std::to_string(++stores);
        positions.clear();
        own.indexEntries = tool.indexEntries = 101;
        auto store = write();
        EXPECT_TRUE(store->settle());
        send(*store, "TopicB", 0, 20);
        for (bool wanted = false; !wanted;) {  // also the last key is in the index
            const auto hits = store->findByKey({.topic = "TopicB", .key = "k20", .endMs = INT64_MAX});
            wanted = hits && hits->hits.size() == 1;
        }
        const std::string killed = own.root + "-killed";
        if (!clean) fs::copy(own.root, killed, fs::copy_options::recursive);
        store.reset();
        if (!clean) own.root = tool.directory = killed;
    }
    std::string indexFile(std::size_t number) const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(own.root + "/index")) names.push_back(entry.path());
        std::sort(names.begin(), names.end());
        return names.at(number);
    }
    /// What both say; then the store is started for real.
    void expectAgreement() {
        const CheckReport checked = check();
        const std::vector<std::string> first = told();
        lines.clear();
        const Result<CheckReport> dry = storeRepairDryRun(tool, sink());
        ASSERT_TRUE(dry) << dry.error().toString();
        EXPECT_EQ(told(), first);
        EXPECT_EQ(checked.mends, dry->mends);
        EXPECT_EQ(checked.left, dry->left);
        EXPECT_EQ(checked.end, dry->end);
        mends = dry->mends;
        left = dry->left;
        log.clear();
        {
            mmapstore::MmapStore started(systemFiles(), clock, log, own);
            ASSERT_TRUE(started.open());
            for (const auto& [topic, queue] : {std::pair{"TopicA", 0}, {"TopicA", 1}, {"TopicB", 0}}) (void)started.range(topic, queue);
            EXPECT_EQ(started.stats().maxPhysicalOffset, dry->end);
        }
        for (const std::string& line : first) {
            if (!line.starts_with("wouldMend ")) continue;
            const std::size_t from = line.find("what=\"") + 6;
            const std::string what = line.substr(from, line.find_first_of("=;\"", from) - from);
            EXPECT_TRUE(log.contains(what.substr(0, what.rfind(' '))) || what.starts_with("key-index files newer")) << what;
        }
        const CheckReport after = check();
        EXPECT_EQ(after.problems, left) << "what was left is there, and nothing else";
        EXPECT_EQ(after.mends, 0);
        all.clear();
        for (const std::string& line : first) all.append(line).append("\n");
    }

    int stores = 0;
    std::int64_t mends = 0;
    std::int64_t left = 0;
    std::string all;
};

TEST_F(NextStart, IsToldAlikeByCheckAndDryRunWhateverIsDamaged) {
    struct Damage {
        const char* name;
        std::function<void()> make;
        std::int64_t mendsAfterClean, leftAfterClean, mendsAfterCrash, leftAfterCrash;
    };
    // After a crash the index is built again from the checkpoint's time on, which is a line in any case.
    const Damage damages[] = {
        {"nothing", [] {}, 0, 0, 1, 0},
        {"a queue removed", [&] { fs::remove_all(own.root + "/consumequeue/TopicB/0"); }, 1, 0, 2, 0},
        {"a unit of zeros", [&] { damage("consumequeue/TopicA/1/00000000000000000400", 3 * 20, std::string(20, '\0')); }, 0, 1, 1, 1},
        {"a unit that points elsewhere", [&] { damage("consumequeue/TopicA/1/00000000000000000400", 3 * 20 + 7, "\x01"); }, 0, 2, 1, 2},
        {"a short file", [&] { fs::resize_file(own.root + "/consumequeue/TopicA/1/00000000000000000400", 300); }, 1, 0, 2, 0},
        {"a hole", [&] { fs::remove(own.root + "/consumequeue/TopicA/1/00000000000000000400"); }, 1, 0, 3, 0},
        {"a stray file", [&] { std::ofstream(own.root + "/consumequeue/TopicA/1/notes") << "x"; }, 1, 0, 2, 0},
        {"an index file removed", [&] { fs::remove(indexFile(1)); }, 1, 0, 1, 0},
        {"the first index file removed", [&] { fs::remove(indexFile(0)); }, 1, 0, 1, 1},
        {"a flipped bit in a body", [&] { damage("commitlog/00000000000000000000", positions[50] + 90, "\xff"); }, 0, 1, 1, 1},
    };
    for (const bool clean : {true, false}) {
        for (const Damage& one : damages) {
            SCOPED_TRACE(std::string(one.name) + (clean ? " after a clean stop" : " after a crash"));
            prepare(clean);
            one.make();
            expectAgreement();
            EXPECT_EQ(mends, clean ? one.mendsAfterClean : one.mendsAfterCrash) << all;
            EXPECT_EQ(left, clean ? one.leftAfterClean : one.leftAfterCrash) << all;
        }
    }
}

TEST_F(NextStart, IsRefusedInTheSameWords) {
    prepare(true);
    fs::resize_file(own.root + "/commitlog/00000000000000000000", 1000);
    std::ofstream(own.root + "/commitlog/" + mmapstore::fileName(65'536)) << std::string(65'536, '\0');
    const CheckReport checked = check();
    EXPECT_GE(checked.problems, 1);
    EXPECT_EQ(count("wouldRefuse "), 1);
    const Result<CheckReport> dry = storeRepairDryRun(tool, sink());
    ASSERT_FALSE(dry);
    EXPECT_EQ(count("reason=\"" + dry.error().message() + "\""), 1) << dry.error().message();
}

/// Directories that a Java broker wrote; the tools must not take for damage what Java calls normal.
class JavaStore : public StoreToolTest, public testing::WithParamInterface<const char*> {
protected:
    JavaStore() {
        const std::string base = std::string(PATCHBAY_TEST_DATA) + "/golden/store/" + GetParam();
        EXPECT_EQ(std::system(("tar -xzf " + base + ".tar.gz -C " + dir.path()).c_str()), 0);
        tool.indexSlots = 1000;
        tool.indexEntries = std::string_view(GetParam()) == "c-complex" ? 2000 : 4000;
    }
};

TEST_P(JavaStore, IsWholeForTheToolsAndADryRunEndsWhereJavaEnded) {
    const std::string name = GetParam();
    const bool cut = name == "b3-cut";
    const CheckReport report = check();
    std::string all;
    for (const std::string& line : lines) all.append(line).append("\n");
    // A killed broker had not written all of its queues; a zeroed end of a record is the damage that was made on purpose.
    const bool killed = name.starts_with("b");
    EXPECT_EQ(report.problems > 0 && !killed, false) << all;
    EXPECT_GT(report.records, 100) << all;
    EXPECT_EQ(count("do not add up to its size"), cut ? 1 : 0) << all;
    const auto before = contents();
    const Result<CheckReport> dry = storeRepairDryRun(tool, sink());
    ASSERT_TRUE(dry) << dry.error().toString();
    EXPECT_EQ(contents(), before);
    static const std::map<std::string, std::int64_t> kEnds = {{"a-simple", 207'188}, {"b-killed", 1'166'108}, {"b2-torn", 594'281},
                                                              {"b3-cut", 482'861},   {"c-complex", 1'759'207}, {"d-names", 128'917},
                                                              {"e-extended", 43'365}};
    EXPECT_EQ(dry->end, kEnds.at(name)) << all;
}

INSTANTIATE_TEST_SUITE_P(Java, JavaStore,
                         testing::Values("a-simple", "b-killed", "b2-torn", "b3-cut", "c-complex", "d-names", "e-extended"));

}  // namespace

}  // namespace patchbay::storetool

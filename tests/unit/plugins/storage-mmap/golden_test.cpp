// Proved: directories written by a Java broker 5.3.3 (cleanly closed, killed, torn, cut off) open with every message that a
// Java broker finds in them, byte for byte, and what this store does not understand in them stays as it was.
// How: recorded archives with manifests of what Java read. Left to others: that Java opens what we wrote (interoperation).
#include "Fixture.h"

#include "patchbay/base/Clock.h"
#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/util/Hash.h"
#include "patchbay/testkit/TempDir.h"
#include "support/Sha256.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace patchbay::mmapstore {

namespace {

std::string outputOf(const std::string& command) {
    std::string output;
    FILE* const pipe = ::popen(command.c_str(), "r");
    std::array<char, 65'536> buffer;
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), got);
    EXPECT_EQ(::pclose(pipe), 0) << command;
    return output;
}

std::string contentOf(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return std::move(text).str();
}

class MmapGolden : public testing::TestWithParam<const char*> {
protected:
    MmapGolden() {
        const std::string base = std::string(PATCHBAY_TEST_DATA) + "/golden/store/" + GetParam();
        outputOf("tar -xzf " + base + ".tar.gz -C " + dir.path());
        manifest = outputOf("gzip -dc " + base + ".manifest.json.gz");
        options.root = dir.path() + "/store";
        options.segmentBytes = 1'048'576;
        options.queueFileBytes = 20'000;
        options.batchQueueFileBytes = 46'000;
        options.hasBatchQueues = [](std::string_view topic) { return topic == "FeBcq"; };
        options.keyIndex = false;  // its files: index_test.cpp
    }

    void open() {
        store.reset();
        store = std::make_unique<MmapStore>(systemFiles(), systemClock(), log, options);
        // The recordings get older, and the disk of who runs this may be full.
        store->tunables().deleteHours = 0;
        store->tunables().cleanForcibly = 0;
        store->tunables().diskFreeBytesMin = 1;
        const Status opened = store->open();
        ASSERT_TRUE(opened) << opened.toString();
    }

    /// Digests of all files that belong to other parts of RocketMQ.
    [[nodiscard]] std::map<std::string, std::string> otherFiles() const {
        std::map<std::string, std::string> digests;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(options.root)) {
            const std::string name = std::filesystem::relative(entry.path(), options.root).string();
            const bool ours = name.starts_with("commitlog/") || name.starts_with("consumequeue/") ||
                              name.starts_with("batchconsumequeue/") || name == "checkpoint" ||
                              name == "abort" || name == "abort.bak" || name == "lock" || name == "lastStop";
            // The wheel is 38 MB of zeros in every fixture that has no timer.
            if (entry.is_regular_file() && !ours && entry.file_size() < (8U << 20)) {
                digests[name] = test::sha256(contentOf(entry.path()));
            }
        }
        return digests;
    }

    void expectMessage(const json::Value& message, const testkit::StoredMessage& stored) {
        EXPECT_EQ(stored.physicalOffset, message["physicalOffset"].integer());
        const Result<Slice> record = store->at(stored.physicalOffset);
        ASSERT_TRUE(record) << record.error().toString();
        EXPECT_EQ(static_cast<std::int64_t>(record->bytes.size()), message["size"].integer());
        EXPECT_EQ(test::sha256(record->bytes), message["recordSha256"].string());
    }

    void expectBrief(const json::Value& row, const testkit::StoredMessage& stored) {
        std::vector<json::Value> cells;
        for (const auto& item : row) cells.push_back(item.value);
        EXPECT_EQ(stored.queueOffset, cells.at(0).integer());
        EXPECT_EQ(stored.physicalOffset, cells.at(1).integer());
        EXPECT_EQ(test::sha256(stored.body).substr(0, 16), cells.at(3).string());
    }

    void expectQueue(const std::string& topic, std::int32_t queueId, const json::Value& queue) {
        SCOPED_TRACE(topic + ":" + std::to_string(queueId));
        const auto range = store->range(topic, queueId);
        EXPECT_EQ(range.min, queue["min"].integer());
        ASSERT_EQ(range.max, queue["max"].integer());
        if (range.max == 0) return;
        const auto stored = testkit::readAll(*store, topic, queueId, range.min);
        const bool brief = queue["messagesBrief"].exists();
        const json::Value messages = queue[brief ? "messagesBrief" : "messages"];
        ASSERT_EQ(stored.size(), messages.size());
        std::size_t index = 0;
        for (const auto& item : messages) {
            if (brief) {
                expectBrief(item.value, stored[index]);
            } else {
                expectMessage(item.value, stored[index]);
            }
            ++index;
        }
        read += stored.size();
    }

    void expectTruth(const json::Value& truth) {
        for (const auto& topic : truth["topics"]) {
            const std::string name(topic.key);
            if (name.empty()) continue;
            for (const auto& queue : topic.value) expectQueue(name, std::stoi(std::string(queue.key)), queue.value);
        }
    }

    testkit::TempDir dir;
    testkit::FakeLogger log;
    StoreOptions options;
    std::string manifest;
    std::unique_ptr<MmapStore> store;
    std::size_t read = 0;
};

TEST_P(MmapGolden, EveryMessageThatJavaFindsIsThereBeforeAndAfterAppendsKillsAndRestarts) {
    const auto document = json::Document::parse(manifest);
    ASSERT_TRUE(document) << document.error().toString();
    const json::Value truth = document->root()["truth"];
    const auto others = otherFiles();
    open();
    expectTruth(truth);
    EXPECT_GT(read, 100U);
    EXPECT_EQ(std::to_string(store->stats().maxPhysicalOffset), truth["runtime"]["commitLogMaxOffset"].text());
    for (int i = 0; i < 1500; ++i) ASSERT_EQ(testkit::appendOne(*store, {.topic = "Fresh", .body = std::string(800, 'f')}).queueOffset, i);
    // As a killed process leaves it: the copy has neither a clean end nor the units in memory.
    const std::string copy = dir.path() + "/killed";
    std::filesystem::copy(options.root, copy, std::filesystem::copy_options::recursive);
    const std::string original = std::exchange(options.root, copy);
    open();
    expectTruth(truth);
    EXPECT_EQ(store->range("Fresh", 0).max, 1500);
    options.root = original;
    open();
    expectTruth(truth);
    EXPECT_EQ(testkit::readAll(*store, "Fresh", 0).size(), 1500U);
    store.reset();
    EXPECT_EQ(otherFiles(), others);
}

TEST_P(MmapGolden, LostConsumeQueuesAreRebuiltAsJavaWroteThem) {
    if (std::string_view(GetParam()) == "b2-torn") GTEST_SKIP() << "the tags of its torn record are gone from the log";
    if (std::filesystem::exists(options.root + "/consumequeue_ext")) GTEST_SKIP() << "units point into the extension";
    open();  // a killed store gets its missing units
    store.reset();
    std::map<std::string, std::string> before;
    const auto digests = [&] {
        std::map<std::string, std::string> files;
        const std::string queues = options.root + "/consumequeue";
        for (const auto& entry : std::filesystem::recursive_directory_iterator(queues)) {
            const std::string name = std::filesystem::relative(entry.path(), queues).string();
            // Delivery times depend on levels that the fixtures changed, extension addresses on the extension.
            if (entry.is_regular_file() && !name.starts_with("SCHEDULE") && !name.starts_with("%LMQ%")) {
                files[name] = test::sha256(contentOf(entry.path()));
            }
        }
        return files;
    };
    before = digests();
    std::filesystem::remove_all(options.root + "/consumequeue");
    open();
    store.reset();
    EXPECT_EQ(digests(), before);
}

class MmapGoldenDispatch : public MmapGolden {};

TEST_P(MmapGoldenDispatch, MessagesInSeveralQueuesAreInAllOfThemAlsoAfterTheQueuesWereLost) {
    std::vector<std::string> topics;
    for (const auto& entry : std::filesystem::directory_iterator(options.root + "/consumequeue")) {
        if (entry.path().filename().string().starts_with("%LMQ%")) topics.push_back(entry.path().filename().string());
    }
    ASSERT_FALSE(topics.empty());
    std::map<std::string, std::vector<std::int64_t>> before;
    for (int round = 0; round < 3; ++round) {
        open();
        for (const std::string& topic : topics) {
            std::vector<std::int64_t> positions;
            service::ReadResult result;
            for (std::int64_t offset = 0; offset < store->range(topic, 0).max; offset = result.nextOffset) {
                store->read(topic, 0, offset, {}, nullptr, result);
                ASSERT_EQ(result.status, service::ReadStatus::Found);
                for (const auto& message : testkit::messagesOf(result)) positions.push_back(message.physicalOffset);
            }
            EXPECT_FALSE(positions.empty()) << topic;
            EXPECT_EQ(before.emplace(topic, positions).first->second, positions) << topic;
        }
        store.reset();
        if (round == 1) {
            for (const std::string& topic : topics) std::filesystem::remove_all(options.root + "/consumequeue/" + topic);
        }
    }
}

TEST_P(MmapGoldenDispatch, LostBatchQueuesAreRebuiltAsJavaWroteThem) {
    std::map<std::string, std::string> before;
    const auto contents = [&] {
        std::map<std::string, std::string> files;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(options.root + "/batchconsumequeue")) {
            if (entry.is_regular_file()) files[entry.path().string()] = contentOf(entry.path());
        }
        return files;
    };
    before = contents();
    ASSERT_EQ(before.size(), 2U);
    std::filesystem::remove_all(options.root + "/consumequeue");
    std::filesystem::remove_all(options.root + "/batchconsumequeue");
    open();
    store.reset();
    EXPECT_EQ(contents(), before);
}

TEST_P(MmapGoldenDispatch, TagsOfUnitsThatPointIntoTheExtensionAreThoseOfTheirMessages) {
    options.extensionFileBytes = 65'536;
    open();
    const auto all = testkit::readAll(*store, "FeE1", 0);
    ASSERT_GT(all.size(), 20U);
    store.reset();
    // Without the messages' own: the extension alone can say it.
    QueueFiles open(systemFiles(), 4);
    const QueueExtension extension(systemFiles(), open, options.root + "/consumequeue_ext/FeE1/0", 65'536);
    const std::string units = contentOf(options.root + "/consumequeue/FeE1/0/" + fileName(0));
    std::size_t addresses = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::int64_t code = loadUnit(units.data() + i * 20).tagsCode;
        if (!QueueExtension::isAddress(code)) continue;
        ++addresses;
        const auto found = extension.tagsCodeAt(code);
        ASSERT_TRUE(found) << found.error().toString();
        EXPECT_EQ(*found, protocol::tagsCode(protocol::findProperty(all[i].properties, protocol::kPropertyTags)));
    }
    EXPECT_GT(addresses, 20U);
}

INSTANTIATE_TEST_SUITE_P(Java, MmapGoldenDispatch, testing::Values("e-extended"));

INSTANTIATE_TEST_SUITE_P(Java, MmapGolden,
                         testing::Values("a-simple", "b-killed", "b2-torn", "b3-cut", "c-complex", "d-names", "e-extended"));

}  // namespace

}  // namespace patchbay::mmapstore

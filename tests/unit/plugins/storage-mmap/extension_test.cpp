// Proved: with its key on, units point into a consume queue extension of RocketMQ's form, filters use it, and nothing is lost with it.
// How: a disk in memory, small files, entries that are changed or removed on purpose.
// Left to others: extensions of a Java broker (golden_test.cpp), a Java broker on ours (interoperation).
#include "Fixture.h"

#include "patchbay/protocol/util/BigEndian.h"
#include "patchbay/protocol/util/Hash.h"

namespace patchbay::mmapstore {

namespace {

class MmapExtension : public MmapStoreTest {
protected:
    static constexpr std::int64_t kFileBytes = 110;  // five entries of 20, and 4 bytes that stay free

    MmapExtension() {
        options.extendQueues = true;
        options.extensionFileBytes = kFileBytes;
    }
    static std::string path(std::int64_t start) { return "/store/consumequeue_ext/TopicTest/0/" + fileName(start); }
    std::int64_t codeOf(std::int64_t offset) {
        const std::string units = file("/store/consumequeue/TopicTest/0/" + fileName(offset / 20 * 400));
        return loadUnit(units.data() + offset % 20 * 20).tagsCode;
    }
    void send(int count) {
        for (int i = 0; i < count; ++i) sent.push_back(testkit::appendOne(store(), {.body = std::to_string(sent.size()), .tags = "T" + std::to_string(sent.size() % 3)}));
    }
    struct Tags final : service::ReadFilter {
        explicit Tags(std::string_view tag) : wanted(protocol::tagsCode(tag)) {}
        [[nodiscard]] bool matchesTags(std::int64_t tagsCode) const noexcept override { return tagsCode == wanted; }
        const std::int64_t wanted;
    };
    std::vector<std::string> tagged(std::string_view tag) {
        const Tags filter(tag);
        std::vector<std::string> all;
        service::ReadResult result;
        for (std::int64_t offset = 0; offset < store().range("TopicTest", 0).max; offset = result.nextOffset) {
            store().read("TopicTest", 0, offset, {}, &filter, result);
            for (const auto& message : testkit::messagesOf(result)) all.push_back(message.body);
        }
        return all;
    }

    std::vector<service::AppendItem> sent;
};

TEST_F(MmapExtension, EntriesAreWhatRocketMqWouldHaveWritten) {
    open();
    send(12);
    close();
    for (std::int64_t i = 0; i < 12; ++i) {
        const std::int64_t real = codeOf(i) - INT64_MIN;
        EXPECT_EQ(real, i / 5 * kFileBytes + i % 5 * 20);
        const std::string bytes = file(path(i / 5 * kFileBytes));
        ASSERT_EQ(bytes.size(), static_cast<std::size_t>(kFileBytes));
        const char* const entry = bytes.data() + i % 5 * 20;
        EXPECT_EQ(protocol::loadI16(entry), 20);
        EXPECT_EQ(protocol::loadI64(entry + 2), protocol::tagsCode("T" + std::to_string(i % 3)));
        EXPECT_EQ(protocol::loadI64(entry + 10), sent[static_cast<std::size_t>(i)].storeTimestamp);
        EXPECT_EQ(protocol::loadI16(entry + 18), 0);
    }
    EXPECT_EQ(protocol::loadI16(file(path(0)).data() + 100), -1) << "how a full file ends";
    EXPECT_EQ(file(path(2 * kFileBytes)).substr(40), std::string(static_cast<std::size_t>(kFileBytes) - 40, '\0'));
}

TEST_F(MmapExtension, FiltersBelieveTheExtensionAndWithoutItTheMessage) {
    open();
    send(9);
    EXPECT_EQ(tagged("T1"), (std::vector<std::string>{"1", "4", "7"}));
    close();
    std::string code(8, '\0');
    protocol::storeI64(code.data(), protocol::tagsCode("T0"));
    overwrite(path(0), 4 * 20 + 2, code);  // of message 4
    open();
    EXPECT_EQ(tagged("T1"), (std::vector<std::string>{"1", "7"}));
    close();
    ASSERT_TRUE(removeTree(*disk, "/store/consumequeue_ext"));
    open();
    EXPECT_EQ(tagged("T1"), (std::vector<std::string>{"1", "4", "7"}));
    options.extendQueues = false;
    open();
    EXPECT_EQ(tagged("T1"), (std::vector<std::string>{"1", "4", "7"}));
}

TEST_F(MmapExtension, AddressesGoOnAfterStopsKillsAndWithoutTheKey) {
    open();
    send(3);
    for (int round = 0; round < 3; ++round) {
        if (round == 1) kill();
        open();
        send(2);
    }
    close();
    EXPECT_EQ(codeOf(8) - INT64_MIN, kFileBytes + 3 * 20);
    options.extendQueues = false;
    open();
    send(1);
    options.extendQueues = true;
    open();
    send(1);
    close();
    EXPECT_EQ(codeOf(9), protocol::tagsCode("T0"));
    EXPECT_EQ(codeOf(10) - INT64_MIN, kFileBytes + 4 * 20) << "behind what is there, found by looking through the last file";
    open();
    EXPECT_EQ(tagged("T1"), (std::vector<std::string>{"1", "4", "7", "10"}));
}

TEST_F(MmapExtension, AFullDiskLeavesTheTagsInTheUnits) {
    open();
    send(4);
    ASSERT_TRUE(store().settle());
    send(3);
    disk->failWrite(1, Status(StatusCode::Full, "full"));  // the extension is written before the queue
    ASSERT_TRUE(store().settle());
    EXPECT_EQ(codeOf(5), protocol::tagsCode("T2"));
    EXPECT_TRUE(log.contains("its units keep their tags codes"));
    EXPECT_EQ(tagged("T2"), (std::vector<std::string>{"2", "5"}));
    send(1);
    ASSERT_TRUE(store().settle());
    EXPECT_EQ(codeOf(7) - INT64_MIN, 4 * 20);
}

TEST_F(MmapExtension, ItsFilesGoWithMessagesAndTopics) {
    open();
    for (int i = 0; i < 60; ++i) append(std::string(1000, 'x'));
    ASSERT_TRUE(store().settle());
    EXPECT_TRUE(disk->exists(path(0)));
    ASSERT_TRUE(store().trim(2 * 16'384 + 1));
    EXPECT_FALSE(disk->exists(path(0)));
    EXPECT_TRUE(disk->exists(path(11 * kFileBytes)));
    ASSERT_TRUE(store().deleteTopic("TopicTest"));
    EXPECT_FALSE(disk->exists("/store/consumequeue_ext/TopicTest"));
    EXPECT_EQ(append("new").queueOffset, 0);
    close();
    EXPECT_EQ(codeOf(0), INT64_MIN);
}

TEST_F(MmapExtension, AQueueThatIsRebuiltGetsANewOne) {
    open();
    send(7);
    close();
    overwrite("/store/consumequeue/TopicTest/0/" + fileName(0), 6 * 20, std::string(20, 'x'));
    open();
    EXPECT_TRUE(log.contains("not as the last stop left them"));
    EXPECT_EQ(tagged("T0"), (std::vector<std::string>{"0", "3", "6"}));
    close();
    EXPECT_EQ(codeOf(6) - INT64_MIN, kFileBytes + 20);
}

}  // namespace

}  // namespace patchbay::mmapstore

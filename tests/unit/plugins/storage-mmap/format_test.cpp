// Proved: what the store writes has RocketMQ's layout, byte for byte, across ends of files.
// How: code that knows only the format (and not the store's) takes the files apart.
// Left to others: that a Java broker opens them (interoperation tests), records themselves (tests of the codec).
#include "Fixture.h"

#include <zlib.h>

namespace patchbay::mmapstore {

namespace {

std::int64_t number(const std::string& bytes, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8U | static_cast<unsigned char>(bytes.at(at + i));
    if (size == 4) return static_cast<std::int32_t>(value);
    if (size == 2) return static_cast<std::int16_t>(value);
    return static_cast<std::int64_t>(value);
}

struct Parsed {
    std::int64_t position;
    std::int64_t size;
    std::int64_t queueId;
    std::int64_t queueOffset;
    std::string body;
    std::string topic;
    std::string properties;
};

/// A record with IPv4 hosts at `at` of a file that starts at `start` in the log.
Parsed parse(const std::string& file, std::size_t at, std::int64_t start) {
    Parsed record;
    record.position = number(file, at + 28, 8);
    EXPECT_EQ(record.position, start + static_cast<std::int64_t>(at));
    record.size = number(file, at, 4);
    EXPECT_EQ(static_cast<std::uint32_t>(number(file, at + 4, 4)), 0xDAA320A7U);
    record.queueId = number(file, at + 12, 4);
    record.queueOffset = number(file, at + 20, 8);
    const auto bodyBytes = static_cast<std::size_t>(number(file, at + 84, 4));
    record.body = file.substr(at + 88, bodyBytes);
    const auto* const raw = reinterpret_cast<const Bytef*>(record.body.data());
    EXPECT_EQ(number(file, at + 8, 4), static_cast<std::int64_t>(crc32(0, raw, static_cast<uInt>(bodyBytes)) & 0x7FFFFFFFU));
    std::size_t next = at + 88 + bodyBytes;
    const auto topicBytes = static_cast<std::size_t>(static_cast<unsigned char>(file.at(next)));
    record.topic = file.substr(next + 1, topicBytes);
    next += 1 + topicBytes;
    const auto propertyBytes = static_cast<std::size_t>(number(file, next, 2));
    record.properties = file.substr(next + 2, propertyBytes);
    EXPECT_EQ(record.size, static_cast<std::int64_t>(next + 2 + propertyBytes - at));
    return record;
}

class MmapFormat : public MmapStoreTest {};

TEST_F(MmapFormat, AnEmptyStoreHasTheFilesOfARunningBroker) {
    open();
    EXPECT_EQ(file("/store/abort"), std::to_string(getpid()));
    EXPECT_EQ(file("/store/commitlog/00000000000000000000"), std::string(16'384, '\0'));
    close();
    EXPECT_FALSE(disk->exists("/store/abort"));
}

TEST_F(MmapFormat, LogAndQueuesAreWhatRocketMqWouldHaveWritten) {
    open();
    std::vector<service::AppendItem> sent;
    for (int i = 0; i < 120; ++i) {
        sent.push_back(testkit::appendOne(store(), {.topic = i % 3 == 0 ? "B" : "A", .queueId = i % 2,
                                                    .body = std::string(static_cast<std::size_t>(i * 5), static_cast<char>('a' + i % 26)),
                                                    .tags = "T" + std::to_string(i % 4)}));
    }
    close();
    // The log: records follow each other; a blank ends each file but the last.
    std::size_t index = 0;
    std::int64_t start = 0;
    for (; index < sent.size(); start += 16'384) {
        const std::string bytes = file("/store/commitlog/" + fileName(start));
        ASSERT_EQ(bytes.size(), 16'384U);
        std::size_t at = 0;
        while (index < sent.size()) {
            if (static_cast<std::uint32_t>(number(bytes, at + 4, 4)) == 0xCBD43194U) {
                EXPECT_EQ(number(bytes, at, 4), static_cast<std::int64_t>(16'384 - at));
                break;
            }
            const Parsed record = parse(bytes, at, start);
            EXPECT_EQ(record.position, sent[index].physicalOffset);
            EXPECT_EQ(record.size, sent[index].recordBytes);
            EXPECT_EQ(record.queueOffset, sent[index].queueOffset);
            EXPECT_EQ(record.queueId, static_cast<std::int64_t>(index % 2));
            EXPECT_EQ(record.topic, index % 3 == 0 ? "B" : "A");
            EXPECT_EQ(record.body.size(), index * 5);
            EXPECT_NE(record.properties.find("TAGS\x01T" + std::to_string(index % 4) + "\x02"), std::string::npos);
            at += static_cast<std::size_t>(record.size);
            ++index;
        }
    }
    EXPECT_GT(start, 16'384);
    // The queues: a unit a message, in files of 20 units, zeros behind the last.
    std::map<std::string, std::vector<const service::AppendItem*>> queues;
    for (std::size_t i = 0; i < sent.size(); ++i) {
        queues["/store/consumequeue/" + std::string(i % 3 == 0 ? "B" : "A") + "/" + std::to_string(i % 2)].push_back(&sent[i]);
    }
    for (const auto& [directory, items] : queues) {
        for (std::size_t i = 0; i < items.size(); ++i) {
            const std::string bytes = file(directory + "/" + fileName(static_cast<std::int64_t>(i / 20 * 400)));
            ASSERT_EQ(bytes.size(), 400U);
            const std::size_t at = i % 20 * 20;
            EXPECT_EQ(number(bytes, at, 8), items[i]->physicalOffset);
            EXPECT_EQ(number(bytes, at + 8, 4), items[i]->recordBytes);
            EXPECT_EQ(number(bytes, at + 12, 8), items[i]->tagsCode);
        }
        const std::string last = file(directory + "/" + fileName(static_cast<std::int64_t>((items.size() - 1) / 20 * 400)));
        const std::size_t used = ((items.size() - 1) % 20 + 1) * 20;
        EXPECT_EQ(last.substr(used), std::string(400 - used, '\0'));
    }
    const std::string checkpoint = file("/store/checkpoint");
    ASSERT_EQ(checkpoint.size(), 4096U);
    EXPECT_EQ(number(checkpoint, 0, 8), clock.wallMs());
    EXPECT_EQ(number(checkpoint, 8, 8), clock.wallMs());
    EXPECT_EQ(number(checkpoint, 32, 8), sent.back().physicalOffset);
}

TEST_F(MmapFormat, QueuesOfTheScheduleSayWhenRocketMqDelivers) {
    options.delayLevels = *protocol::DelayLevels::parse("10s 20s");
    open();
    clock.setWallMs(clock.wallMs() + 60'000);  // asked for a minute ago: the message waited for its turn
    testkit::TestBatch batch;
    const std::string text = "TAGS\x01T\x02" "DELAY\x01" "2\x02REAL_TOPIC\x01T\x02";
    auto& item = batch.add({.topic = "SCHEDULE_TOPIC_XXXX", .queueId = 1});
    item.properties = text;
    item.tagsCode = clock.wallMs() - 40'000;
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    const std::int64_t stored = batch.items[0].storeTimestamp;
    clock.advance(std::chrono::seconds(5));
    close();
    const std::string queue = "/store/consumequeue/SCHEDULE_TOPIC_XXXX/1/" + fileName(0);
    EXPECT_EQ(number(file(queue), 12, 8), stored + 20'000) << "the time of the level counts from the store time";
    ASSERT_TRUE(disk->remove(queue));
    open();
    close();
    EXPECT_EQ(number(file(queue), 12, 8), stored + 20'000) << "and a queue that is made anew says the same";
}

TEST_F(MmapFormat, WhatIsFoundByPositionIsNotOfADeletedTopicOfTheSameName) {
    open();
    const auto deleted = append("deleted");
    const auto other = append("other", "Other");
    ASSERT_TRUE(store().at(deleted.physicalOffset));
    ASSERT_TRUE(store().deleteTopic("TopicTest"));
    EXPECT_FALSE(store().at(deleted.physicalOffset));
    for (int i = 0; i < 3; ++i) {
        const auto again = append("again");
        EXPECT_TRUE(store().at(again.physicalOffset));
        EXPECT_FALSE(store().at(deleted.physicalOffset)) << "though its number is one of the new queue";
    }
    EXPECT_TRUE(store().at(other.physicalOffset));
    close();
    open();
    EXPECT_FALSE(store().at(deleted.physicalOffset));
    EXPECT_TRUE(store().at(other.physicalOffset)) << "read from the disk";
}

TEST_F(MmapFormat, AGroupThatDoesNotFitMovesWholeToTheNextFile) {
    open();
    append(std::string(12'000, 'x'));
    testkit::TestBatch batch;
    for (int i = 0; i < 3; ++i) batch.add({.body = std::string(1800, 'g'), .groupSize = static_cast<std::uint16_t>(i == 0 ? 3 : 1)});
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    EXPECT_EQ(batch.items[0].physicalOffset, 16'384);
    EXPECT_EQ(batch.items[1].physicalOffset, 16'384 + batch.items[0].recordBytes);
    EXPECT_EQ(bodies().size(), 4U);
}

TEST_F(MmapFormat, WhatFillsAFileButForTheBlankFitsAndOneByteMoreDoesNot) {
    open();
    const std::int32_t empty = append("").recordBytes;
    const auto exact = static_cast<std::size_t>(16'384 - empty - empty - 8);
    EXPECT_EQ(append(std::string(exact, 'x')).physicalOffset, empty);
    EXPECT_EQ(append("next").physicalOffset, 16'384);
    const std::int32_t next = append("").recordBytes;
    EXPECT_EQ(next, empty);
    const auto used = static_cast<std::size_t>(empty + 4 + empty);
    EXPECT_EQ(append(std::string(16'384 - used - static_cast<std::size_t>(empty) - 7, 'y')).physicalOffset, 2 * 16'384);
    EXPECT_EQ(append(std::string(16'384 - static_cast<std::size_t>(empty) - 7, 'z')).status, service::AppendStatus::MessageIllegal);
    EXPECT_EQ(bodies().size(), 5U);
}

TEST_F(MmapFormat, HalfMessagesLieInTheLogAndInNoQueue) {
    open();
    testkit::TestBatch batch;
    batch.add({.body = "half"}).sysFlag = 4;
    batch.add({.body = "rolled back"}).sysFlag = 12;
    batch.add({.body = "committed"}).sysFlag = 8;
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    EXPECT_EQ(batch.items[0].queueOffset, 0);
    EXPECT_EQ(batch.items[2].queueOffset, 0);
    EXPECT_EQ(bodies(), std::vector<std::string>{"committed"});
    EXPECT_TRUE(store().at(batch.items[1].physicalOffset));
}

}  // namespace

}  // namespace patchbay::mmapstore

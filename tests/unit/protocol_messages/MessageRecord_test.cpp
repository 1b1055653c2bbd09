// Proves the layout of records, the parse states for every kind of damage, and the changes in place.
// How: records made here are cut, bent and patched; each state of RecordStatus is produced once.
// Left to others: records that Java wrote (GoldenRecords_test), arbitrary bytes (tests/fuzz/record_fuzz.cpp).
#include "patchbay/protocol/message/MessageRecord.h"

#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/util/Crc32.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace patchbay::protocol {
namespace {

RecordFields sample() {
    RecordFields fields;
    fields.topic = "Orders";
    fields.body = "hello";
    fields.properties =
        "TAGS\x01"
        "a\x02";
    fields.brokerProperties =
        "CLUSTER\x01"
        "c\x02";
    fields.queueId = 3;
    fields.flag = 7;
    fields.sysFlag = kSysFlagMultiTags;
    fields.reconsumeTimes = 2;
    fields.queueOffset = 100;
    fields.physicalOffset = 200;
    fields.bornTimestamp = 1111;
    fields.storeTimestamp = 2222;
    fields.preparedTransactionOffset = 99;
    fields.bornHost = SocketAddress::v4({10, 0, 0, 1}, 4321);
    fields.storeHost = SocketAddress::v4({127, 0, 0, 1}, 10911);
    return fields;
}

SocketAddress v6Host() {
    return SocketAddress::v6({0x20, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}, 65535);
}

std::string encode(const RecordFields& fields) {
    std::string out(recordSize(fields), '\xEE');
    EXPECT_EQ(encodeRecord(out.data(), fields), out.size());
    return out;
}

RecordStatus statusOf(std::string_view bytes, RecordCheck check = RecordCheck::BodyCrc) {
    RecordView view;
    return RecordView::parse(bytes, view, check);
}

TEST(MessageRecord, HasTheBytesOfTheDocumentedLayout) {
    RecordFields fields;
    fields.topic = "T";
    fields.body = "b";
    fields.properties = "k\x01v\x02";
    fields.queueId = 1;
    fields.bornHost = SocketAddress::v4({1, 2, 3, 4}, 5);
    fields.storeHost = SocketAddress::v4({6, 7, 8, 9}, 10);
    const std::string bytes = encode(fields);
    ASSERT_EQ(bytes.size(), 91u + 1 + 1 + 4);
    EXPECT_EQ(loadI32(bytes.data()), 97);
    EXPECT_EQ(loadI32(bytes.data() + 4), static_cast<std::int32_t>(0xDAA320A7));
    EXPECT_EQ(loadI32(bytes.data() + 8), 0x71BEEFF9) << "CRC-32 of b, below 2^31";
    EXPECT_EQ(bytes.substr(48, 8), std::string("\x01\x02\x03\x04\x00\x00\x00\x05", 8));
    EXPECT_EQ(bytes.substr(64, 8), std::string("\x06\x07\x08\x09\x00\x00\x00\x0A", 8));
    EXPECT_EQ(bytes.substr(84), std::string("\x00\x00\x00\x01"
                                            "b"
                                            "\x01"
                                            "T"
                                            "\x00\x04"
                                            "k\x01v\x02",
                                            13));
}

TEST(MessageRecord, GivesBackEveryFieldThatWasWritten) {
    for (const bool bornV6 : {false, true}) {
        for (const bool storeV6 : {false, true}) {
            RecordFields fields = sample();
            if (bornV6) fields.bornHost = v6Host();
            if (storeV6) fields.storeHost = v6Host();
            const std::string bytes = encode(fields);
            RecordView view;
            ASSERT_EQ(RecordView::parse(bytes, view), RecordStatus::Message);
            EXPECT_EQ(view.bytes, bytes);
            EXPECT_EQ(view.topic, "Orders");
            EXPECT_EQ(view.body, "hello");
            EXPECT_EQ(view.properties,
                      "TAGS\x01"
                      "a\x02"
                      "CLUSTER\x01"
                      "c\x02");
            EXPECT_EQ(view.queueId, 3);
            EXPECT_EQ(view.flag, 7);
            EXPECT_EQ(view.reconsumeTimes, 2);
            EXPECT_EQ(view.queueOffset, 100);
            EXPECT_EQ(view.physicalOffset, 200);
            EXPECT_EQ(view.bornTimestamp, 1111);
            EXPECT_EQ(view.storeTimestamp, 2222);
            EXPECT_EQ(view.preparedTransactionOffset, 99);
            EXPECT_EQ(view.bornHost(), fields.bornHost);
            EXPECT_EQ(view.storeHost(), fields.storeHost);
            EXPECT_EQ(view.sysFlag, sysFlagWithHosts(kSysFlagMultiTags, bornV6, storeV6));
            EXPECT_EQ(encode(view.fields()), bytes);
        }
    }
}

TEST(MessageRecord, HostBitsComeFromTheHostsAndNotFromTheSender) {
    RecordFields fields = sample();
    fields.sysFlag = kSysFlagBornHostV6 | kSysFlagStoreHostV6 | kSysFlagCompressed;
    RecordView view;
    const std::string bytes = encode(fields);
    ASSERT_EQ(RecordView::parse(bytes, view), RecordStatus::Message);
    EXPECT_EQ(view.sysFlag, kSysFlagCompressed);
}

TEST(MessageRecord, TopicsBeyond127BytesMakeTheSecondVersion) {
    RecordFields fields = sample();
    const std::string longest(127, 't');
    fields.topic = longest;
    RecordView view;
    const std::string first = encode(fields);
    ASSERT_EQ(RecordView::parse(first, view), RecordStatus::Message);
    EXPECT_FALSE(view.isV2());
    const std::string longer(128, 't');
    fields.topic = longer;
    const std::string second = encode(fields);
    ASSERT_EQ(RecordView::parse(second, view), RecordStatus::Message);
    EXPECT_TRUE(view.isV2());
    EXPECT_EQ(view.topic, longer);
    EXPECT_EQ(second.size(), first.size() + 2) << "one byte of topic, one of its length";
}

TEST(MessageRecord, EmptyBodyAndNoPropertiesAreARecord) {
    RecordFields fields;
    fields.topic = "T";
    const std::string bytes = encode(fields);
    EXPECT_EQ(bytes.size(), 92u);
    RecordView view;
    ASSERT_EQ(RecordView::parse(bytes, view), RecordStatus::Message);
    EXPECT_EQ(view.bodyCrc, 0);
    EXPECT_TRUE(view.body.empty());
}

TEST(MessageRecord, EveryCutIsTooShort) {
    const std::string bytes = encode(sample());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_EQ(statusOf(std::string_view(bytes).substr(0, size)), RecordStatus::TooShort) << size;
    }
}

TEST(MessageRecord, WhatFollowsIsNotLookedAt) {
    const std::string bytes = encode(sample());
    RecordView view;
    const std::string two = bytes + "rest";
    ASSERT_EQ(RecordView::parse(two, view), RecordStatus::Message);
    EXPECT_EQ(view.bytes.size(), bytes.size());
}

TEST(MessageRecord, ZerosAndOtherMagicsAreNoRecord) {
    EXPECT_EQ(statusOf(std::string(200, '\0')), RecordStatus::NotARecord);
    std::string bytes = encode(sample());
    storeI32(bytes.data() + kRecordMagicAt, kRecordMagicV1 + 1);
    EXPECT_EQ(statusOf(bytes), RecordStatus::NotARecord);
}

TEST(MessageRecord, BlankRecordTellsTheBytesLeft) {
    char blank[kBlankRecordBytes];
    encodeBlankRecord(blank, 4711);
    RecordView view;
    EXPECT_EQ(RecordView::parse({blank, sizeof blank}, view), RecordStatus::Blank);
    EXPECT_EQ(view.size, 4711);
}

TEST(MessageRecord, ChangedBodyIsFoundUnlessOnlyTheLayoutIsAskedFor) {
    std::string bytes = encode(sample());
    bytes[88] = 'H';
    EXPECT_EQ(statusOf(bytes), RecordStatus::BadCrc);
    EXPECT_EQ(statusOf(bytes, RecordCheck::Layout), RecordStatus::Message);
}

TEST(MessageRecord, SizeThatItsPartsContradictIsToldAsItStands) {
    std::string bytes = encode(sample()) + std::string(50, 'x');
    const std::int32_t size = loadI32(bytes.data());
    for (const std::int32_t wrong : {size + 1, size - 1, 1, 0, -5}) {
        storeI32(bytes.data(), wrong);
        RecordView view;
        EXPECT_EQ(RecordView::parse(bytes, view), RecordStatus::BadSize) << wrong;
        EXPECT_EQ(view.size, wrong);
    }
}

TEST(MessageRecord, LengthsBeyondTheBytesOrBelowZeroAreBadLayout) {
    const std::string good = encode(sample());
    for (const std::int32_t length : {-1, std::numeric_limits<std::int32_t>::max(), 1000}) {
        std::string bytes = good;
        storeI32(bytes.data() + 84, length);
        EXPECT_EQ(statusOf(bytes, RecordCheck::Layout), RecordStatus::BadLayout) << length;
    }
    std::string topic = good;
    topic[84 + 4 + 5] = '\xFF';
    EXPECT_EQ(statusOf(topic), RecordStatus::BadLayout) << "Java reads the length of a topic as a signed byte";
    std::string properties = good;
    storeI16(properties.data() + 84 + 4 + 5 + 1 + 6, -1);
    EXPECT_EQ(statusOf(properties), RecordStatus::BadLayout);
}

TEST(MessageRecord, OffsetsAndStoreTimeCanBeChangedInPlace) {
    for (const bool bornV6 : {false, true}) {
        RecordFields fields = sample();
        if (bornV6) fields.bornHost = v6Host();
        std::string bytes = encode(fields);
        patchQueueOffset(bytes.data(), 5);
        patchPhysicalOffset(bytes.data(), 6);
        patchStoreTimestamp(bytes.data(), 7);
        fields.queueOffset = 5;
        fields.physicalOffset = 6;
        fields.storeTimestamp = 7;
        EXPECT_EQ(bytes, encode(fields));
    }
}

TEST(MessageRecord, PropertyCrcCoversTheWholeRecord) {
    RecordFields fields = sample();
    fields.brokerProperties = std::string_view("01234567890123456789");
    std::string bytes = encode(fields);
    EXPECT_EQ(statusOf(bytes, RecordCheck::PropertyCrc), RecordStatus::BadCrc) << "not written yet";
    writePropertyCrc(bytes.data(), bytes.size());
    EXPECT_EQ(statusOf(bytes, RecordCheck::PropertyCrc), RecordStatus::Message);
    std::string digits;
    auto crc = static_cast<std::uint32_t>(maskedCrc32(std::string_view(bytes).substr(0, bytes.size() - 20)));
    for (int i = 0; i < 10; ++i, crc /= 10)
        digits.push_back(static_cast<char>('0' + crc % 10));
    EXPECT_EQ(bytes.substr(bytes.size() - 20), "__CRC32#\x01" + digits + "\x02");
    for (std::size_t i = 8; i < bytes.size(); ++i) {
        std::string bent = bytes;
        bent[i] = static_cast<char>(bent[i] ^ 0x40);
        EXPECT_NE(statusOf(bent, RecordCheck::PropertyCrc), RecordStatus::Message) << i;
    }
}

TEST(MessageRecordDeathTest, PropertiesThatDoNotFitTheirLengthAreTheCallersError) {
    RecordFields fields = sample();
    const std::string tooLong(32768, 'p');
    fields.properties = tooLong;
    fields.brokerProperties = {};
    std::string out(recordSize(fields), '\0');
    EXPECT_DEATH(encodeRecord(out.data(), fields), "");
}

}  // namespace
}  // namespace patchbay::protocol

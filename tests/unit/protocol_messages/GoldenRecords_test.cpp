// Proves that records from Java's commit logs and pull answers are read field by field and written again byte for byte.
// How: logs of four recorded stores against what a Java broker said about them; bodies of answers to 11, 361, 12, 33.
// Left to others: files around the records (storage plugins), damaged records (MessageRecord_test, the fuzz targets).
#include "Golden.h"

#include "patchbay/protocol/message/Batch.h"
#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/Properties.h"

#include <set>

namespace patchbay::protocol {
namespace {

std::string encode(const RecordFields& fields) {
    std::string out(recordSize(fields), '\xEE');
    EXPECT_EQ(encodeRecord(out.data(), fields), out.size());
    return out;
}

/// "/127.0.0.1:44438" and "/[0:0:0:0:0:0:0:1]:42982".
std::string hostText(const SocketAddress& host) {
    if (!host.isV6()) return "/" + host.toString();
    std::string text = "/[";
    const std::string_view ip = host.ipBytes();
    for (std::size_t i = 0; i < 16; i += 2) {
        char group[8];
        std::snprintf(group, sizeof group, "%x",
                      static_cast<unsigned>(static_cast<std::uint16_t>(loadI16(ip.data() + i))));
        text += (i == 0 ? "" : ":") + std::string(group);
    }
    return text + "]:" + std::to_string(host.port());
}

void expectAsTold(const RecordView& record, json::Value truth) {
    EXPECT_EQ(record.topic, truth["topic"].string());
    EXPECT_EQ(record.queueId, truth["queueId"].integer());
    EXPECT_EQ(record.queueOffset, truth["queueOffset"].integer());
    EXPECT_EQ(record.physicalOffset, truth["physicalOffset"].integer());
    EXPECT_EQ(record.size, truth["size"].integer());
    EXPECT_EQ(record.isV2() ? "V2" : "V1", truth["magic"].string());
    EXPECT_EQ(record.flag, truth["flag"].integer());
    EXPECT_EQ(record.sysFlag, truth["sysFlag"].integer());
    EXPECT_EQ(record.bornTimestamp, truth["bornTimestamp"].integer());
    EXPECT_EQ(record.storeTimestamp, truth["storeTimestamp"].integer());
    EXPECT_EQ(hostText(record.bornHost()), truth["bornHost"].string());
    EXPECT_EQ(hostText(record.storeHost()), truth["storeHost"].string());
    EXPECT_EQ(record.reconsumeTimes, truth["reconsumeTimes"].integer());
    EXPECT_EQ(record.preparedTransactionOffset, truth["preparedTransactionOffset"].integer());
    EXPECT_EQ(record.bodyCrc, truth["bodyCRC"].integer());
    EXPECT_EQ(static_cast<std::int64_t>(record.body.size()), truth["bodySize"].integer());
    EXPECT_EQ((MessageId{record.storeHost(), record.physicalOffset}.toString()), truth["msgId"].string());

    std::map<std::string, std::string> expected;
    for (const auto [name, value] : truth["properties"])
        expected.emplace(name, value.text().value_or(""));
    const Properties properties(record.properties);
    const std::map<std::string, std::string> found(properties.entries().begin(), properties.entries().end());
    EXPECT_EQ(found, expected);
    EXPECT_EQ(findProperty(record.properties, kPropertyTags), truth["tags"].text().value_or(""));
    EXPECT_EQ(findProperty(record.properties, kPropertyKeys), truth["keys"].text().value_or(""));
}

struct LogFacts {
    std::size_t records = 0;
    std::size_t told = 0;
    std::size_t v2 = 0;
    std::size_t bornV6 = 0;
    std::size_t withPropertyCrc = 0;
    bool blank = false;
};

LogFacts readLog(const std::string& name) {
    const std::string log = golden::readPacked(name + ".commitlog.zz");
    const std::string text = golden::readPacked(name + ".truth.json.zz");
    const auto document = json::Document::parse(text);
    EXPECT_TRUE(document.has_value());
    const json::Value truth = document->root();
    std::map<std::int64_t, json::Value> told;
    for (const auto [key, message] : truth["messages"])
        told.emplace(message["physicalOffset"].integer().value(), message);
    const std::int64_t from = truth["from"].integer().value();

    LogFacts facts;
    for (std::string_view rest = log; !rest.empty();) {
        RecordView record;
        const RecordStatus status = RecordView::parse(rest, record);
        if (status == RecordStatus::Blank) {
            EXPECT_EQ(static_cast<std::size_t>(record.size), rest.size());
            facts.blank = true;
            break;
        }
        if (status != RecordStatus::Message) {
            ADD_FAILURE() << name << " at " << log.size() - rest.size() << ": status " << static_cast<int>(status);
            break;
        }
        EXPECT_EQ(encode(record.fields()), record.bytes);
        const std::int64_t offset = from + static_cast<std::int64_t>(log.size() - rest.size());
        EXPECT_EQ(record.physicalOffset, offset);
        if (const auto found = told.find(offset); found != told.end()) {
            SCOPED_TRACE(name + " at " + std::to_string(offset));
            expectAsTold(record, found->second);
            ++facts.told;
        }
        ++facts.records;
        facts.v2 += record.isV2() ? 1u : 0u;
        facts.bornV6 += record.bornHost().isV6() ? 1u : 0u;
        facts.withPropertyCrc += findProperty(record.properties, kPropertyCrc32).empty() ? 0u : 1u;
        rest.remove_prefix(record.bytes.size());
    }
    EXPECT_EQ(static_cast<std::int64_t>(facts.records), truth["records"].integer());
    EXPECT_EQ(facts.told, told.size());
    return facts;
}

TEST(GoldenRecords, SimpleStoreIsReadAndWrittenAgain) {
    EXPECT_EQ(readLog("a-simple").records, 363u);
}

TEST(GoldenRecords, StoreWithTransactionsTimersAndRetriesIsReadAndWrittenAgain) {
    EXPECT_GE(readLog("c-complex").told, 160u);
}

TEST(GoldenRecords, FileEndsWithABlankRecordThatCountsTheBytesLeft) {
    EXPECT_TRUE(readLog("c-complex-end").blank);
}

TEST(GoldenRecords, LongNamesAndIpv6ProducersAreReadAndWrittenAgain) {
    const LogFacts facts = readLog("d-names");
    EXPECT_GE(facts.v2, 1u);
    EXPECT_GE(facts.bornV6, 1u);
}

TEST(GoldenRecords, PropertyCrcOfEveryRecordIsCheckedAndWrittenAgain) {
    EXPECT_GE(readLog("e-extended").withPropertyCrc, 100u);
    const std::string log = golden::readPacked("e-extended.commitlog.zz");
    std::size_t checked = 0;
    std::size_t unreadable = 0;
    for (std::string_view rest = log; !rest.empty();) {
        RecordView record;
        ASSERT_EQ(RecordView::parse(rest, record, RecordCheck::Layout), RecordStatus::Message);
        ASSERT_TRUE(propertyCrcMatches(record.bytes));
        RecordView again;
        EXPECT_EQ(RecordView::parse(rest, again, RecordCheck::PropertyCrc), RecordStatus::Message);
        std::string copy(record.bytes);
        copy.replace(copy.size() - kPropertyCrcBytes, kPropertyCrcBytes, kPropertyCrcBytes, '?');
        writePropertyCrc(copy.data(), copy.size());
        EXPECT_EQ(copy, record.bytes);
        // Sub-messages of a batch whose properties lack the separator hide the property from readers.
        unreadable += findProperty(record.properties, kPropertyCrc32).empty() ? 1u : 0u;
        ++checked;
        rest.remove_prefix(record.bytes.size());
    }
    EXPECT_EQ(checked, 121u);
    EXPECT_LT(unreadable, 20u);
}

TEST(GoldenRecords, EveryPulledMessageIsReadAndWrittenAgain) {
    std::map<int, std::size_t> perCode;
    for (const int code : {11, 361, 12, 33, 200050}) {
        for (const golden::Body& side : golden::bodies(code, false)) {
            for (std::string_view rest = side.body; !rest.empty();) {
                RecordView record;
                ASSERT_EQ(RecordView::parse(rest, record), RecordStatus::Message) << side.where;
                EXPECT_EQ(encode(record.fields()), record.bytes) << side.where;
                EXPECT_FALSE(record.topic.empty());
                rest.remove_prefix(record.bytes.size());
                ++perCode[code];
            }
        }
    }
    for (const int code : {11, 361, 12, 33, 200050})
        EXPECT_GE(perCode[code], 1u) << code;
}

TEST(GoldenRecords, BatchBodiesOf320AreTakenApartAndPutTogether) {
    std::size_t batches = 0;
    for (const golden::Body& side : golden::bodies(320, true)) {
        BatchReader reader(side.body);
        BatchEntry entry;
        std::string again;
        while (reader.next(entry))
            appendBatchEntry(again, entry);
        if (reader.failed()) {
            EXPECT_NE(side.responseCode, 0) << side.where;
            continue;
        }
        EXPECT_EQ(again, side.body) << side.where;
        ++batches;
    }
    EXPECT_GE(batches, 4u);
}

}  // namespace
}  // namespace patchbay::protocol

// Proved: records get RocketMQ's checksum over the whole of them when its key is on, and a start after a crash believes none that
// does not fit. How: a disk in memory, bytes that are changed on purpose; zlib for the sum.
// Left to others: the form of the property (tests of the codec), that a Java broker checks it (interoperation).
#include "Fixture.h"

#include "patchbay/protocol/message/Properties.h"

#include <algorithm>
#include <zlib.h>

namespace patchbay::mmapstore {

namespace {

class MmapCrc : public MmapStoreTest {
protected:
    static constexpr const char* kSegment = "/store/commitlog/00000000000000000000";

    /// The ten digits that RocketMQ would have written into these bytes.
    static std::string digitsOf(std::string_view record) {
        const std::string_view summed = record.substr(0, record.size() - 20);
        std::string digits = std::to_string(crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size())) & 0x7FFFFFFFU);
        std::reverse(digits.begin(), digits.end());
        return digits + std::string(10 - digits.size(), '0');
    }
    std::string record(const service::AppendItem& item) {
        return file(kSegment).substr(static_cast<std::size_t>(item.physicalOffset), static_cast<std::size_t>(item.recordBytes));
    }
    void expectSum(const service::AppendItem& item) {
        const std::string bytes = record(item);
        EXPECT_EQ(bytes.substr(bytes.size() - 20), "__CRC32#\x01" + digitsOf(bytes) + "\x02");
    }
};

TEST_F(MmapCrc, EveryRecordEndsWithItsChecksum) {
    options.appendCrc = true;
    open();
    testkit::TestBatch batch;
    batch.add({.body = "one"});
    batch.add({.body = "two", .groupSize = 2}).properties = "a\x01" "b";  // no separator at its end
    batch.add({.body = "three"}).brokerProperties = "";
    batch.add({.body = "half"}).sysFlag = 4;
    const std::string old = "name\x01value\x02__CRC32#\x01" "0000000000\x02";
    batch.add({.body = "stored before"}).properties = old;
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    for (const service::AppendItem& item : batch.items) {
        ASSERT_TRUE(isStored(item.status)) << batch.failure.toString();
        expectSum(item);
    }
    const auto messages = testkit::readAll(store(), "TopicTest", 0);
    ASSERT_EQ(messages.size(), 4U);
    EXPECT_EQ(protocol::findProperty(messages[1].properties, "a"), "b");
    EXPECT_EQ(messages[3].properties.find("__CRC32#"), messages[3].properties.rfind("__CRC32#"));
}

TEST_F(MmapCrc, WithoutItsKeyThereIsNone) {
    open();
    const auto item = append("body");
    EXPECT_EQ(record(item).find("__CRC32#"), std::string::npos);
}

TEST_F(MmapCrc, PropertiesAreAsLongAsTheyFitWithIt) {
    options.appendCrc = true;
    options.segmentBytes = 1 << 20;
    open();
    const std::string longest = "n\x01" + std::string(32'767 - 20 - 3, 'v') + "\x02";
    const std::string longer = "n\x01" + std::string(32'767 - 20 - 2, 'v') + "\x02";
    testkit::TestBatch batch;
    batch.add({.body = "fits"}).properties = longest;
    batch.add({.body = "does not"}).properties = longer;
    batch.items[0].brokerProperties = batch.items[1].brokerProperties = "";
    batch.appendTo(store());
    ASSERT_TRUE(batch.wait());
    EXPECT_EQ(batch.items[1].status, service::AppendStatus::PropertiesSizeExceeded);
    EXPECT_EQ(bodies().size(), batch.items[0].status == service::AppendStatus::PutOk ? 1U : 0U);
}

TEST_F(MmapCrc, AChangeOutsideTheBodyIsFoundAfterACrash) {
    for (const bool on : {false, true}) {
        options.root = on ? "/with" : "/without";
        options.appendCrc = true;
        open();
        append("first");
        const auto second = append("second");
        kill();
        options.appendCrc = on;
        const std::string segment = options.root + "/commitlog/00000000000000000000";
        overwrite(segment, static_cast<std::uint64_t>(second.physicalOffset + 16), "\x7f");  // the flag of the producer
        open();
        EXPECT_EQ(bodies().size(), on ? 1U : 2U);
        close();
    }
}

TEST_F(MmapCrc, RecordsWithoutAChecksumAreBelievedUnlessItIsDemanded) {
    open();
    append("without");
    kill();
    options.appendCrc = true;
    open();
    append("with");
    kill();
    open();
    EXPECT_EQ(bodies(), (std::vector<std::string>{"without", "with"}));
    kill();
    options.demandCrc = true;
    open();
    EXPECT_TRUE(bodies().empty());
    EXPECT_TRUE(log.contains("saved=/store/commitlog/aside/"));
}

}  // namespace

}  // namespace patchbay::mmapstore

// Proves: requests that are well formed as frames and wrong inside are refused with a reason, change nothing and leave the broker as it was.
// How: a real process with all plugins; what was stored is read back after each refusal.
// Left to others: bytes that are no request (attack_wire_test.cpp), each plugin's own rules (unit/plugins).
#include "e2e/AttackFixture.h"

#include "patchbay/protocol/message/Batch.h"
#include "patchbay/protocol/message/MessageRecord.h"

#include <csignal>

namespace patchbay::test {
namespace {

class AttackSend : public AttackFixture {
protected:
    static std::string entry(std::string_view body, std::string_view properties = {}) {
        std::string out;
        protocol::appendBatchEntry(out, {0, body, properties});
        return out;
    }
    [[nodiscard]] Result<RemotingCommand> sendBatch(std::string_view topic, std::string body, std::string_view properties = {}) const {
        return call(sendCommand(topic, std::move(body), {.properties = properties, .batch = true}));
    }
    /// Bodies and properties from offset 0.
    struct Stored { std::string body, properties; };
    [[nodiscard]] std::vector<Stored> stored(std::string_view topic) const {
        std::vector<Stored> all;
        for (;;) {
            const auto answer = call(pullCommand(topic, static_cast<std::int64_t>(all.size())));
            if (!answer || answer->code != 0) return all;
            for (std::string_view rest = answer->body; !rest.empty();) {
                protocol::RecordView record;
                if (protocol::RecordView::parse(rest, record) != protocol::RecordStatus::Message) {
                    ADD_FAILURE() << "not a record";
                    return all;
                }
                EXPECT_EQ(record.queueOffset, static_cast<std::int64_t>(all.size()));
                all.push_back({std::string(record.body), std::string(record.properties)});
                rest.remove_prefix(static_cast<std::size_t>(record.size));
            }
        }
    }
    void expectRefused(const Result<RemotingCommand>& answer, std::string_view what) const {
        ASSERT_TRUE(answer) << what << ": " << answer.error().toString() << "\n" << broker_.output();
        EXPECT_NE(answer->code, 0) << what;
        EXPECT_FALSE(answer->remark.value_or("").empty()) << what;
    }
};

TEST_P(AttackSend, AnEmptyListOfTopicsIsRefused) { expectRefused(call(command(18)), "18 without a body"); }

TEST_P(AttackSend, RequiredFieldsAreRequiredAndNumbersAreNumbers) {
    const std::vector<std::pair<RemotingCommand, std::vector<std::string>>> requests = {
        {pullCommand("Attacked"), {"queueId", "queueOffset", "maxMsgNums", "sysFlag", "commitOffset", "suspendTimeoutMillis", "subVersion"}},
        {command(30, {{"topic", "Attacked"}, {"queueId", "0"}}), {"queueId"}},
        {command(31, {{"topic", "Attacked"}, {"queueId", "0"}}), {"queueId"}},
        {command(17, {{"topic", "Made"}, {"defaultTopic", "TBW102"}, {"readQueueNums", "1"}, {"writeQueueNums", "1"}, {"perm", "6"},
                      {"topicFilterType", "SINGLE_TAG"}, {"topicSysFlag", "0"}, {"order", "false"}}),
         {"readQueueNums", "writeQueueNums", "perm"}}};
    for (const auto& [good, numbers] : requests) {
        ASSERT_TRUE(call(good));
        for (const auto& name : numbers) {
            for (const char* value : {"abc", "1e3", "", "9223372036854775808", "-", "0x1", " 1"}) {
                auto bad = good;
                bad.set(name, value);
                const auto answer = call(bad);
                ASSERT_TRUE(answer);
                const auto remark = answer->remark.value_or("");
                EXPECT_EQ(answer->code, 1) << good.code << " " << name << "=" << value << ": " << remark;
                EXPECT_NE(remark.find(name), std::string::npos) << good.code << " " << name << "=" << value << ": " << remark;
            }
            auto without = good;
            std::erase_if(without.fields, [&](const auto& field) { return field.first == name; });
            const auto answer = call(without);
            ASSERT_TRUE(answer);
            const auto remark = answer->remark.value_or("");
            EXPECT_EQ(answer->code, 1) << good.code << " without " << name;
            EXPECT_NE(remark.find(name), std::string::npos) << good.code << " without " << name << ": " << remark;
        }
    }
    for (const int code : {11, 30, 31, 17, 215}) expectRefused(call(command(code)), "code " + std::to_string(code) + " without fields");
}

TEST_P(AttackSend, NegativeAndHugeNumbersAreAnswered) {
    for (const char* number : {"-1", "-2147483648", "2147483647"}) {
        for (const int code : {30, 31, 29, 14, 15, 32}) {
            const auto question = command(code, {{"topic", "Attacked"}, {"consumerGroup", "g"}, {"queueId", number}, {"timestamp", number},
                                                 {"commitOffset", number}});
            ASSERT_TRUE(call(question)) << code << " " << number;
        }
        for (const char* field : {"queueId", "queueOffset", "maxMsgNums", "sysFlag", "commitOffset", "suspendTimeoutMillis"}) {
            auto pull = pullCommand("Attacked");
            pull.set("sysFlag", "4");
            pull.set(field, number);
            RawClient client(broker_.brokerPort(), 1s);  // some wait for messages, and are allowed to
            (void)client.call(pull);
            expectServed();
        }
        auto sent = sendCommand("Attacked", "x");
        for (const char* field : {"d", "e", "f", "g", "h", "j", "l"}) {
            auto bad = sent;
            bad.set(field, number);
            ASSERT_TRUE(call(bad)) << field << " " << number;
        }
    }
}

TEST_P(AttackSend, SendsToARetryTopicWithoutOrWithOddLimitsAreAnswered) {
    for (const char* limit : {"", "-5", "2147483647"}) {
        auto retry = sendCommand("%RETRY%g", "again");
        if (*limit != '\0') retry.set("l", limit);
        ASSERT_TRUE(call(retry)) << limit;
        retry.set("j", "17");
        ASSERT_TRUE(call(retry)) << limit;
    }
}

TEST_P(AttackSend, PropertiesAreStoredToTheLastByteOrRefusedWithBothSizes) {
    // RocketMQ 5.3.3 counts what the broker adds, too: MSG_REGION, TRACE_ON and CLUSTER take 62 bytes with the names of this test, so that a
    // message with a UNIQ_KEY has 32705 of 32767 for itself.
    constexpr std::size_t kOwn = 62;
    const std::string key = "UNIQ_KEY\x01" + std::string(32, 'U') + "\x02";
    std::vector<std::string> kept;
    for (const std::size_t size : {32'000U, 32'650U, 32'700U, 32'705U, 32'706U, 32'766U, 32'767U, 32'768U, 65'535U, 65'536U}) {
        const std::string properties = key + "k\x01" + std::string(size - key.size() - 3, 'v') + "\x02";
        const auto answer = send("Props", "b" + std::to_string(size), properties);
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->code, size + kOwn > 32'767 ? 13 : 0) << size;
        if (answer->code == 0) {
            kept.push_back(properties);
        } else {
            EXPECT_NE(answer->remark.value_or("").find("32767"), std::string::npos) << answer->remark.value_or("");
        }
    }
    ASSERT_EQ(kept.size(), 4U);
    ASSERT_EQ(send("Props", "after")->code, 0);
    const auto all = stored("Props");
    ASSERT_EQ(all.size(), kept.size() + 1);
    for (std::size_t i = 0; i < kept.size(); ++i) {
        EXPECT_TRUE(all[i].properties.starts_with(kept[i])) << kept[i].size();
        EXPECT_EQ(all[i].properties.size(), kept[i].size() + kOwn);
    }
    EXPECT_EQ(all.back().body, "after");
}

TEST_P(AttackSend, BatchesWithPropertiesThatAreTooLongStoreNothing) {
    for (const std::size_t size : {32'760U, 32'767U}) {
        // The batch's own properties come on top of each message's.
        const auto answer = sendBatch("Batched", entry("one") + entry("two", "k\x01" + std::string(size - 3, 'v') + "\x02"), "X\x01y\x02");
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->code, 13) << answer->code;
        EXPECT_NE(answer->remark.value_or("").find("allowed are 32767"), std::string::npos) << answer->remark.value_or("");
        EXPECT_EQ(std::max<std::int64_t>(maxOffset("Batched"), 0) % 2, 0);
    }
    const auto count = static_cast<std::size_t>(std::max<std::int64_t>(maxOffset("Batched"), 0));
    ASSERT_EQ(send("Batched", "after")->code, 0);
    EXPECT_EQ(stored("Batched").size(), count + 1);
}

TEST_P(AttackSend, RefusedMessagesLeaveNoHole) {
    const std::string tooMuch((4U << 20) + 1, 'x');
    for (int i = 0; i < 3; ++i) {
        const auto answer = send("Holes", "good" + std::to_string(i));
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->find("queueOffset").value_or(""), std::to_string(i));
        if (i < 2) expectRefused(send("Holes", tooMuch), "a body over the limit");
        expectRefused(send("Holes", "x", "k\x01" + std::string(70'000, 'p') + "\x02"), "properties over the limit");
    }
    EXPECT_EQ(maxOffset("Holes"), 3);
    EXPECT_EQ(stored("Holes").size(), 3U);
}

TEST_P(AttackSend, NamesThatAreTooLongOrMadeOfOtherCharactersAreRefusedEverywhereAndMakeNoFolders) {
    const auto create = [&](std::string_view topic) {
        return call(command(17, {{"topic", topic}, {"defaultTopic", "TBW102"}, {"readQueueNums", "1"}, {"writeQueueNums", "1"}, {"perm", "6"},
                                 {"topicFilterType", "SINGLE_TAG"}, {"topicSysFlag", "0"}, {"order", "false"}}));
    };
    for (const std::size_t length : {126U, 127U}) EXPECT_EQ(send(std::string(length, 'n'), "x")->code, 0) << length;
    std::vector<std::string> bad = {std::string(128, 'n'), std::string(255, 'n'), std::string(256, 'n'), std::string(126, 'n') + "\xE2\x89\x88",
                                    "44334\xE2\x89\x88", "a.b", "a/b", "../x", "/etc/x", "a b", "a%2Fb/..", "", std::string("\0", 1), "a\nb", ".", ".."};
    for (const auto& name : bad) {
        expectRefused(create(name), "create '" + name + "'");
        expectRefused(send(name, "x"), "send '" + name + "'");
        expectRefused(call(pullCommand(name)), "pull '" + name + "'");
        expectRefused(sendBatch(name, entry("x")), "batch '" + name + "'");
    }
    for (const auto& made : std::filesystem::directory_iterator(broker_.folder().path())) {
        const auto name = made.path().filename().string();
        EXPECT_TRUE(name == "store" || name == "main.conf" || name == "out" || name == "err") << name;
    }
}

TEST_P(AttackSend, TheLimitOfABodyIsExactAndNamed) {
    constexpr std::size_t kLimit = 4U << 20;
    for (const std::size_t bytes : {kLimit - 1, kLimit}) EXPECT_EQ(send("Limit", std::string(bytes, 'b'))->code, 0) << bytes;
    const auto refused = send("Limit", std::string(kLimit + 1, 'b'));
    expectRefused(refused, "one byte too many");
    EXPECT_NE(refused->remark.value_or("").find(std::to_string(kLimit)), std::string::npos) << refused->remark.value_or("");
    EXPECT_EQ(maxOffset("Limit"), 2);
}

TEST_P(AttackSend, InnerAndOuterPropertiesOfABatchStayWhole) {
    const auto answer = sendBatch("Glued", entry("one", "KEYS\x01" "k1") + entry("two", "KEYS\x01" "k2\x02") + entry("three"), "OUTER\x01" "o\x02");
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->code, 0) << answer->remark.value_or("");
    const auto all = stored("Glued");
    ASSERT_EQ(all.size(), 3U);  // once, not twice
    EXPECT_NE(("\x02" + all[0].properties + "\x02").find("\x02KEYS\x01" "k1\x02"), std::string::npos);
    EXPECT_NE(("\x02" + all[1].properties + "\x02").find("\x02KEYS\x01" "k2\x02"), std::string::npos);
}

TEST_P(AttackSend, BatchesThatBreakTheRulesAreRefusedWhole) {
    expectRefused(sendBatch("%RETRY%g", entry("x")), "a batch to a retry topic");
    ASSERT_EQ(send("Rules", "first")->code, 0);
    for (const char* properties : {"DELAY\x01" "3\x02", "TRAN_MSG\x01" "true\x02", "TIMER_DELAY_SEC\x01" "3\x02"}) {
        expectRefused(sendBatch("Rules", entry("one") + entry("two", properties)), properties);
    }
    expectRefused(sendBatch("Rules", entry("one", "WAIT\x01" "false\x02") + entry("two", "WAIT\x01" "true\x02")), "two wishes to wait");
    expectRefused(sendBatch("Rules", {}), "an empty batch");
    EXPECT_EQ(maxOffset("Rules"), 1);
    const std::string good = entry("one") + entry("two");
    std::vector<std::string> lies = {good.substr(0, good.size() - 1), good + "x", "x", std::string(1'000'000, '\xFF'), std::string(21, '\0')};
    for (const std::size_t at : {12U, 16U}) {  // the first body's length, as it should be and as it may be claimed
        for (const std::uint32_t claimed : {0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU, 0x00FFFFFFU}) {
            auto lie = good;
            lie.replace(at, 4, number(claimed));
            lies.push_back(lie);
        }
    }
    for (std::size_t i = 0; i < lies.size(); ++i) {
        const auto answer = sendBatch("Lies", lies[i]);
        ASSERT_TRUE(answer) << i << ": " << answer.error().toString() << broker_.output();
    }
    const auto before = std::max<std::int64_t>(maxOffset("Lies"), 0);
    ASSERT_EQ(sendBatch("Lies", good)->code, 0);
    EXPECT_EQ(maxOffset("Lies"), before + 2);
    EXPECT_EQ(stored("Lies").size(), static_cast<std::size_t>(before) + 2);
}

PATCHBAY_ON_EACH_STORE(AttackSend);

}  // namespace
}  // namespace patchbay::test

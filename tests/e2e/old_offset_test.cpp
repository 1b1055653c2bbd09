// Proves: a consumer that asks for messages whose commit-log files are gone, while their queue still has its file, is sent on once, to the
// oldest message that is there, gets it, and leaves no line in the log however often it asks; also after a restart, and where a file
// was taken away from a broker that was not running.
// How: a real process with small commit-log files, of which it may keep a few.
// One store: only the commit-log store has files that go while their queue stays.
// Left to others: which files go and when (retention_test), all answers to pulls (unit tests of pull).
#include "support/BrokerProcess.h"
#include "support/RawClient.h"
#include "support/Stores.h"

#include "patchbay/protocol/headers/PullMessage.h"
#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <system_error>

namespace patchbay::test {
namespace {

using namespace std::chrono_literals;
using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;

constexpr const char* kTopic = "OldOffset";
constexpr std::size_t kFilesKept = 3;
constexpr int kMessages = 600;
constexpr int kPulls = 20;

class OldOffset : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_TRUE(broker_.start()) << broker_.output(); }

    void fill() {
        RawClient client(broker_.brokerPort());
        for (int i = 0; i < kMessages; ++i) {
            protocol::SendMessageRequest header;
            header.producerGroup = "p";
            header.topic = kTopic;
            header.defaultTopic = "TBW102";
            header.defaultTopicQueueNums = 1;
            auto command = RemotingCommand::request(RequestCode::SendMessageV2);
            command.setHeader(header);
            command.body = std::string(1000, 'x');
            const auto answer = client.call(command);
            ASSERT_TRUE(answer) << answer.error().message();
            ASSERT_EQ(answer->code, 0) << answer->remark.value_or("");
        }
    }
    [[nodiscard]] std::set<std::string> files(const std::string& below) const {
        std::set<std::string> found;
        std::error_code none;  // a directory comes with its first file, and that a moment after the message
        for (const auto& file : std::filesystem::directory_iterator(broker_.folder() / ("store/" + below), none)) {
            if (file.path().filename().string().size() == 20) found.insert(file.path().string());
        }
        return found;
    }
    /// Without waiting for one that comes.
    RemotingCommand pull(RawClient& client, std::int64_t offset) {
        protocol::PullMessageRequest header;
        header.consumerGroup = "g";
        header.topic = kTopic;
        header.queueOffset = offset;
        header.maxMsgNums = 1;
        header.sysFlag = protocol::kPullFlagSubscription;
        header.subscription = "*";
        auto command = RemotingCommand::request(RequestCode::PullMessage);
        command.setHeader(header);
        auto answer = client.call(command);
        EXPECT_TRUE(answer) << answer.error().message();
        return answer ? std::move(*answer) : RemotingCommand();
    }
    [[nodiscard]] std::ptrdiff_t lines() const { return std::ranges::count(broker_.output(), '\n'); }
    static std::int64_t next(const RemotingCommand& answer) {
        const auto text = answer.find("nextBeginOffset");
        return text ? std::stoll(std::string(*text)) : -1;
    }
    /// Where a consumer that was at 0 goes on.
    std::int64_t isSentOn() {
        RawClient client(broker_.brokerPort());
        pull(client, 0);
        const auto before = lines();
        std::int64_t oldest = -1;
        for (int i = 0; i < kPulls; ++i) {
            const auto moved = pull(client, 0);
            EXPECT_EQ(moved.code, static_cast<int>(ResponseCode::PullOffsetMoved)) << moved.remark.value_or("");
            EXPECT_EQ(moved.remark.value_or(""), "OFFSET_TOO_SMALL");
            oldest = next(moved);
        }
        EXPECT_GT(oldest, 0);
        EXPECT_LT(oldest, kMessages);
        const auto found = pull(client, oldest);
        EXPECT_EQ(found.code, 0) << found.remark.value_or("");
        EXPECT_EQ(next(found), oldest + 1);
        EXPECT_LT(lines() - before, kPulls) << "no line for each pull, though other lines may come meanwhile";
        return oldest;
    }

    BrokerProcess broker_{"mappedFileSizeCommitLog = 65536\ncommitLogBytesMax = 196608\ncleanResourceInterval = 100\n" + onStore("storage-mmap")};
};

TEST_F(OldOffset, IsMovedToTheOldestMessageThatIsThere) {
    fill();
    const auto end = std::chrono::steady_clock::now() + 20s;
    RawClient client(broker_.brokerPort());
    const std::set<std::string> queue{broker_.folder() / "store/consumequeue/OldOffset/0/00000000000000000000"};
    while (files("commitlog").size() > kFilesKept + 1 || next(pull(client, 0)) <= 0 || files("consumequeue/OldOffset/0") != queue) {
        ASSERT_LT(std::chrono::steady_clock::now(), end) << broker_.output();
    }
    const std::int64_t oldest = isSentOn();

    EXPECT_EQ(broker_.stop(SIGTERM), 0) << broker_.output();
    ASSERT_TRUE(broker_.start()) << broker_.output();
    EXPECT_GE(isSentOn(), oldest);

    EXPECT_EQ(broker_.stop(SIGTERM), 0) << broker_.output();
    std::filesystem::remove(*files("commitlog").begin());
    ASSERT_TRUE(broker_.start()) << broker_.output();
    EXPECT_GT(isSentOn(), oldest);
    EXPECT_EQ(broker_.stop(SIGTERM), 0) << broker_.output();
}

}  // namespace
}  // namespace patchbay::test

// Proves: whatever a killed broker had acknowledged is there after a restart, once, at its offset, and offsets are dense.
// How: a real process under pipelined sends from two connections is killed at a point that chance picks, started again and read
//      back, again and again on the same store; SQLite also checks its file. PATCHBAY_KILL_ROUNDS says how often (5 by default),
//      PATCHBAY_KILL_SEED after how many messages each time.
// Left to others: power cuts and failing disks (storage-mmap tests), clients of other languages (interop).
#include "support/BrokerProcess.h"
#include "support/Commands.h"
#include "support/RawClient.h"

#include "patchbay/protocol/headers/Admin.h"
#include "patchbay/protocol/headers/ConsumerOffset.h"
#include "patchbay/protocol/headers/PullMessage.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <random>
#include <sqlite3.h>
#include <thread>
#include <vector>

namespace patchbay::test {
namespace {

using namespace std::chrono_literals;
using protocol::RemotingCommand;
using protocol::RequestCode;
using protocol::ResponseCode;

constexpr std::int32_t kQueues = 4;  // as many as a send makes
constexpr std::size_t kWindow = 32;
constexpr std::string_view kTopic = "Killed";

int roundsWanted() {
    const char* text = std::getenv("PATCHBAY_KILL_ROUNDS");
    return text == nullptr ? 5 : std::max(1, std::atoi(text));
}

unsigned seedWanted() {
    const char* text = std::getenv("PATCHBAY_KILL_SEED");
    return text == nullptr ? 20'261'129 : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

/// What has been acknowledged and not yet been read back, and what has ever been read.
class Ledger {
public:
    std::int64_t newId() {
        const std::lock_guard lock(mutex_);
        return nextId_++;
    }
    void acknowledged(std::int32_t queue, std::int64_t offset, std::int64_t id) {
        const std::lock_guard lock(mutex_);
        EXPECT_TRUE(expected_[queue].emplace(offset, id).second) << "offset " << offset << " of queue " << queue << " was given twice";
        ++count_;
        changed_.notify_all();
    }
    void awaitCount(std::size_t count) {
        std::unique_lock lock(mutex_);
        EXPECT_TRUE(changed_.wait_for(lock, 30s, [&] { return count_ >= count; })) << "only " << count_ << " of " << count;
    }
    [[nodiscard]] std::size_t count() {
        const std::lock_guard lock(mutex_);
        return count_;
    }
    /// A message that was read at its place.
    void read(std::int32_t queue, std::int64_t offset, std::int64_t id) {
        const std::lock_guard lock(mutex_);
        EXPECT_EQ(offset, next_[static_cast<std::size_t>(queue)]) << "a hole or a repetition in queue " << queue;
        next_[static_cast<std::size_t>(queue)] = offset + 1;
        if (seen_.size() <= static_cast<std::size_t>(id)) seen_.resize(static_cast<std::size_t>(id) + 1);
        EXPECT_FALSE(seen_[static_cast<std::size_t>(id)]) << "message " << id << " is there twice";
        seen_[static_cast<std::size_t>(id)] = true;
        auto& expected = expected_[queue];
        if (const auto at = expected.find(offset); at != expected.end()) {
            EXPECT_EQ(at->second, id) << "another message at offset " << offset << " of queue " << queue;
            expected.erase(at);
        }
    }
    void expectNothingMissing(int round) {
        const std::lock_guard lock(mutex_);
        for (const auto& [queue, missing] : expected_) {
            EXPECT_TRUE(missing.empty()) << "round " << round << ": " << missing.size() << " acknowledged messages of queue " << queue
                                         << " are lost, the first at offset " << missing.begin()->first;
        }
        expected_.clear();
    }
    [[nodiscard]] std::int64_t next(std::int32_t queue) const { return next_[static_cast<std::size_t>(queue)]; }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::int64_t nextId_ = 0;
    std::size_t count_ = 0;
    std::map<std::int32_t, std::map<std::int64_t, std::int64_t>> expected_;  // queue → offset → id
    std::array<std::int64_t, kQueues> next_{};
    std::vector<bool> seen_;
};

/// Message number `id`.
RemotingCommand numbered(std::int64_t id, std::int32_t opaque) {
    auto command = sendCommand(kTopic, std::to_string(id) + ";" + std::string(static_cast<std::size_t>(id * 37 % 900), 'x'),
                               {.queue = static_cast<std::int32_t>(id % kQueues)});
    command.opaque = opaque;
    return command;
}

/// Sends windows of messages until the connection breaks.
void sendUntilKilled(std::uint16_t port, Ledger& ledger) {
    RawClient client(port, 5s);
    for (;;) {
        std::string frames;
        std::array<std::int64_t, kWindow> ids{};
        for (std::size_t i = 0; i < kWindow; ++i) {
            ids[i] = ledger.newId();
            frames += *numbered(ids[i], static_cast<std::int32_t>(i)).encode(protocol::SerializeType::Json);
        }
        if (!client.send(frames)) return;
        for (std::size_t i = 0; i < kWindow; ++i) {
            const auto answer = client.receive();
            if (!answer) return;
            ASSERT_EQ(static_cast<ResponseCode>(answer->code), ResponseCode::Success) << answer->remark.value_or("");
            std::int64_t offset = -1;
            const auto text = answer->find("queueOffset").value_or("");
            std::from_chars(text.data(), text.data() + text.size(), offset);
            const std::int64_t id = ids[static_cast<std::size_t>(answer->opaque)];
            ledger.acknowledged(static_cast<std::int32_t>(id % kQueues), offset, id);
        }
    }
}

void readBack(std::uint16_t port, std::int32_t queue, Ledger& ledger) {
    RawClient client(port, 10s);
    for (;;) {
        protocol::PullMessageRequest header;
        header.consumerGroup = "g";
        header.topic = kTopic;
        header.queueId = queue;
        header.queueOffset = ledger.next(queue);
        header.maxMsgNums = 32;
        header.sysFlag = protocol::kPullFlagSubscription;
        header.subscription = "*";
        auto command = RemotingCommand::request(RequestCode::PullMessage);
        command.setHeader(header);
        const auto answer = client.call(command);
        ASSERT_TRUE(answer) << answer.error().message();
        if (static_cast<ResponseCode>(answer->code) == ResponseCode::PullNotFound) return;
        ASSERT_EQ(static_cast<ResponseCode>(answer->code), ResponseCode::Success) << answer->remark.value_or("");
        std::string_view rest = answer->body;
        while (!rest.empty()) {
            protocol::RecordView record;
            ASSERT_EQ(protocol::RecordView::parse(rest, record), protocol::RecordStatus::Message);
            std::int64_t id = -1;
            std::from_chars(record.body.data(), record.body.data() + record.body.size(), id);
            ASSERT_EQ(record.body, numbered(id, 0).body);
            ledger.read(queue, record.queueOffset, id);
            rest.remove_prefix(static_cast<std::size_t>(record.size));
        }
    }
}

/// SQLite's own verdict on the database, while the broker runs on it.
void expectSound(const std::string& database) {
    sqlite3* handle = nullptr;
    ASSERT_EQ(sqlite3_open_v2(database.c_str(), &handle, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    sqlite3_busy_timeout(handle, 10'000);
    std::string verdict;
    const auto take = [](void* to, int, char** values, char**) { *static_cast<std::string*>(to) += values[0]; return 0; };
    EXPECT_EQ(sqlite3_exec(handle, "PRAGMA integrity_check(1)", take, &verdict, nullptr), SQLITE_OK) << sqlite3_errmsg(handle);
    EXPECT_EQ(verdict, "ok");
    sqlite3_close(handle);
}

class KillRounds : public ::testing::TestWithParam<const char*> {};

TEST_P(KillRounds, NothingAcknowledgedIsMissingDoubledOrOutOfPlace) {
    BrokerProcess broker(GetParam());
    ASSERT_TRUE(broker.start()) << broker.output();
    Ledger ledger;
    const unsigned seed = seedWanted();  // the moments differ from run to run all the same
    std::mt19937 chance(seed);
    const int rounds = roundsWanted();
    for (int round = 1; round <= rounds && !::testing::Test::HasFailure(); ++round) {
        std::vector<std::thread> senders;
        for (int i = 0; i < 2; ++i) senders.emplace_back([&, port = broker.brokerPort()] { sendUntilKilled(port, ledger); });
        ledger.awaitCount(ledger.count() + 50 + chance() % 3000);
        broker.stop(SIGKILL);
        for (auto& sender : senders) sender.join();

        ASSERT_TRUE(broker.start()) << "round " << round << "\n" << broker.output();
        if (std::string_view(GetParam()).find("storage-sqlite") != std::string_view::npos) expectSound(broker.folder() / "store/sqlite/messages.db");
        for (std::int32_t queue = 0; queue < kQueues; ++queue) readBack(broker.brokerPort(), queue, ledger);
        ledger.expectNothingMissing(round);
    }
    std::printf("%d rounds, seed %u, %zu messages acknowledged, %s\n", rounds, seed, ledger.count(),
                HasFailure() ? "NOT as they should be" : "none missing, doubled or out of place");
    EXPECT_EQ(broker.stop(SIGTERM), 0) << broker.output();
}

constexpr std::array kSettings{"flushDiskType = ASYNC_FLUSH\nservice.patchbay.MessageStore = storage-mmap\n",
                               "flushDiskType = SYNC_FLUSH\nservice.patchbay.MessageStore = storage-mmap\n",
                               "flushDiskType = SYNC_FLUSH\nsqliteBytesMax = 32M\nservice.patchbay.MessageStore = storage-sqlite\n",
                               "flushDiskType = ASYNC_FLUSH\nsqliteBytesMax = 32M\nservice.patchbay.MessageStore = storage-sqlite\n"};

std::string settingsName(const ::testing::TestParamInfo<const char*>& param) {
    return std::vector<std::string>{"MmapAsync", "MmapSync", "SqliteSync", "SqliteAsync"}.at(param.index);
}

INSTANTIATE_TEST_SUITE_P(Stores, KillRounds, ::testing::ValuesIn(kSettings), settingsName);

}  // namespace
}  // namespace patchbay::test

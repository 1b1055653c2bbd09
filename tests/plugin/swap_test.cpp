// Proves: send, pull and admin are exchanged under traffic, and the store through hold and switch, without a failed request, a lost long
// poll or a send that takes longer than a client waits; descriptors do not grow with the number of exchanges.
// How: the built broker with its real plugins, raw clients and private requests; PATCHBAY_SWAP_ROUNDS says how often. Left to others:
// bad new libraries (reload_test), clients of other languages (interop).
#include "support/BrokerProcess.h"
#include "support/RawClient.h"
#include "support/Traffic.h"

#include "patchbay/protocol/PrivateCode.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace patchbay::test {
namespace {

using protocol::PrivateCode;
using protocol::RemotingCommand;

int rounds(int otherwise) {
    const char* text = std::getenv("PATCHBAY_SWAP_ROUNDS");
    return text == nullptr ? otherwise : std::max(1, std::atoi(text));
}

RemotingCommand request(PrivateCode code, const std::string& name = {}) {
    auto command = RemotingCommand::request(static_cast<protocol::RequestCode>(code));
    if (!name.empty()) command.set("name", name);
    return command;
}

class SwapTest : public ::testing::TestWithParam<std::string> {
protected:
    SwapTest() : broker_("service.patchbay.MessageStore = " + GetParam() + "\nmappedFileSizeCommitLog = 16777216\n") {}
    void SetUp() override { ASSERT_TRUE(broker_.start()) << broker_.output(); }

    void reload(RawClient& client, const std::string& plugin) {
        const auto answer = client.call(request(PrivateCode::ReloadPlugin, plugin));
        ASSERT_TRUE(answer) << plugin << " " << answer.error().toString();
        ASSERT_EQ(answer->code, 0) << plugin << ": " << answer->remark.value_or("") << "\n" << broker_.output();
    }
    /// Open ones, but for files of the store, which grows with its messages.
    [[nodiscard]] std::size_t descriptors() const {
        std::size_t count = 0;
        std::error_code ignored;
        for (const auto& one : std::filesystem::directory_iterator("/proc/" + std::to_string(broker_.pid()) + "/fd")) {
            const auto path = std::filesystem::read_symlink(one.path(), ignored).string();
            if (path.find("/store/") == std::string::npos || path.find("/store/run/") != std::string::npos) ++count;
        }
        return count;
    }
    /// Waits, by asking, until no older generation is left.
    void awaitRetired(RawClient& client) {
        for (int i = 0; i < 100'000; ++i) {
            const auto answer = client.call(request(PrivateCode::ListPlugins));
            ASSERT_TRUE(answer) << answer.error().toString();
            if (answer->body.find("\"state\":\"retiring\"") == std::string::npos) return;
        }
        FAIL() << "generations are still retiring";
    }

    BrokerProcess broker_;
};

TEST_P(SwapTest, ServicesThatServeRequestsAreExchangedUnderTraffic) {
    const int count = rounds(3);
    RawClient control(broker_.brokerPort());
    Traffic traffic(broker_.brokerPort());
    traffic.start(2, 2, 1);
    for (const auto* plugin : {"send", "pull", "admin", "control"}) reload(control, plugin);
    awaitRetired(control);
    const auto before = descriptors();
    for (int round = 0; round < count && !HasFatalFailure(); ++round) {
        for (const auto* plugin : {"send", "pull", "admin"}) reload(control, plugin);
    }
    awaitRetired(control);
    EXPECT_EQ(descriptors(), before);
    EXPECT_EQ(traffic.stop(), "") << broker_.output();
    EXPECT_GT(traffic.sent(), 0U);
    EXPECT_GT(traffic.pulled(), 0U);
    EXPECT_GT(traffic.asked(), 0U);
    std::printf("%d rounds: %llu sent, %llu pulled, %llu asked\n", count, static_cast<unsigned long long>(traffic.sent()),
                static_cast<unsigned long long>(traffic.pulled()), static_cast<unsigned long long>(traffic.asked()));
    EXPECT_EQ(broker_.stop(SIGTERM), 0) << broker_.output();
    EXPECT_EQ(broker_.output().find("still "), std::string::npos) << broker_.output();
}

TEST_P(SwapTest, TheStoreIsExchangedWhileSendsWait) {
    const int count = std::min(20, rounds(3));
    RawClient control(broker_.brokerPort());
    Traffic traffic(broker_.brokerPort());
    traffic.start(2, 2, 1);
    for (int round = 0; round < count && !HasFatalFailure(); ++round) reload(control, GetParam());
    EXPECT_EQ(traffic.stop(), "") << broker_.output();
    EXPECT_GT(traffic.sent(), 0U);
    std::printf("%d exchanges of %s: %llu sent, the slowest took %lld ms\n", count, GetParam().c_str(),
                static_cast<unsigned long long>(traffic.sent()), static_cast<long long>(traffic.slowestSend().count()));
    EXPECT_EQ(broker_.stop(SIGTERM), 0) << broker_.output();
    EXPECT_EQ(broker_.output().find("still "), std::string::npos) << broker_.output();
}

std::string storeName(const ::testing::TestParamInfo<std::string>& param) {
    return param.param == "storage-mmap" ? "Mmap" : "Sqlite";
}

INSTANTIATE_TEST_SUITE_P(Stores, SwapTest, ::testing::Values("storage-mmap", "storage-sqlite"), storeName);

}  // namespace
}  // namespace patchbay::test

// Proves: a plugin whose library was replaced is swapped under load without losing a request, held ones included; a bad library
// changes nothing. How: two builds of one plugin, moved over each other, and SIGHUP. Left to others: what plugins do when they drain.
// One store: no broker here has any.
#include "support/BrokerProcess.h"
#include "support/RawClient.h"

#include "patchbay/protocol/PrivateCode.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace patchbay::test {
namespace {

using protocol::RemotingCommand;

RemotingCommand request(int code) {
    return RemotingCommand::request(static_cast<protocol::RequestCode>(code));
}

class ReloadTest : public ::testing::Test {
protected:
    ReloadTest() : broker_("roles = broker\n", {{"a.conf", "plugin = echo\n"}, {"b.conf", "plugin = bell\n"}}) {
        install("echo-1", "echo");
        install("bell", "bell");
        broker_.setPluginDirectory(libraries_.path());
    }
    void SetUp() override { ASSERT_TRUE(broker_.start()) << broker_.output(); }

    /// As a package does it: a new file under another name, then a rename.
    void install(const std::string& from, const std::string& to) {
        const std::filesystem::path built(PATCHBAY_FIXTURE_DIR);
        const auto fresh = libraries_ / "fresh";
        std::filesystem::copy_file(built / ("patchbay-" + from + ".so"), fresh);
        std::filesystem::rename(fresh, libraries_ / ("patchbay-" + to + ".so"));
    }

    /// Asks until the version answers; every answer must be a good one.
    bool reaches(RawClient& client, const std::string& version) {
        for (int i = 0; i < 500'000; ++i) {
            const auto answer = client.call(request(30'010));
            if (!answer || answer->code != 0) {
                ADD_FAILURE() << "code " << (answer ? answer->code : -1) << " " << answer.error().toString();
                return false;
            }
            if (answer->remark == version) return true;
        }
        return false;
    }

    TempFolder libraries_;
    BrokerProcess broker_;
};

TEST_F(ReloadTest, SwapsManyTimesWithoutLosingARequest) {
    RawClient client(broker_.brokerPort());
    RawClient waiting(broker_.brokerPort());
    for (int round = 0; round < 10; ++round) {
        auto held = request(30'011);
        held.opaque = 1000 + round;
        ASSERT_TRUE(waiting.send(*held.encode(protocol::SerializeType::Json)));
        ASSERT_TRUE(waiting.call(request(30'010)));   // the held one is there by now
        const std::string version = round % 2 == 0 ? "two" : "one";
        install(round % 2 == 0 ? "echo-2" : "echo-1", "echo");
        broker_.signal(SIGHUP);
        ASSERT_TRUE(reaches(client, version)) << round << broker_.output();
        const auto answer = waiting.receive();
        ASSERT_TRUE(answer) << answer.error().toString();
        EXPECT_EQ(answer->opaque, 1000 + round);
        EXPECT_EQ(answer->remark, version);
    }
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
    EXPECT_EQ(broker_.output().find("still referred to"), std::string::npos) << broker_.output();
}

TEST_F(ReloadTest, KeepsServingWhenTheNewLibraryIsRefused) {
    RawClient client(broker_.brokerPort());
    install("wrong-api", "echo");
    install("gong", "bell");
    broker_.signal(SIGHUP);
    ASSERT_TRUE(reaches(client, "one"));
    install("bell", "bell");
    install("echo-2", "echo");
    broker_.signal(SIGHUP);
    ASSERT_TRUE(reaches(client, "two"));
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
}

TEST_F(ReloadTest, SaysWhenOnlyARestartTakesTheNewLibrary) {
    install("echo-2", "bell");   // another plugin altogether
    broker_.signal(SIGHUP);
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
    EXPECT_NE(broker_.output().find("PB-1106"), std::string::npos) << broker_.output();
}

/// A service and a plugin that uses it.
class ServiceReloadTest : public ReloadTest {
protected:
    ServiceReloadTest() {
        install("ringer", "ringer");
        broker_.folder().write("plugins.d/c.conf", "plugin = ringer\n");
        broker_.folder().write("plugins.d/e.conf", "plugin = control\n");
        std::filesystem::copy_file(PATCHBAY_BUILD_DIR "/plugins/patchbay-control.so", libraries_ / "patchbay-control.so");
        broker_.folder().write("main.conf", broker_.folder().read("main.conf") + "reload.holdMs = 400\n");
    }
    static std::string takeBack(RawClient& client) {
        auto command = request(static_cast<int>(protocol::PrivateCode::UnsetConfiguration));
        command.set("key", "noSuchKey");
        const auto answer = client.call(command);
        return answer ? answer->remark.value_or("") : answer.error().toString();
    }
    std::string ring(RawClient& client) {
        const auto answer = client.call(request(30'020));
        return answer && answer->code == 0 ? answer->remark.value_or("") : "code " + std::to_string(answer ? answer->code : -1);
    }
};

TEST_F(ServiceReloadTest, ExchangesAServiceWithThoseThatUseItWhileRequestsWait) {
    RawClient client(broker_.brokerPort());
    EXPECT_EQ(ring(client), "1");
    EXPECT_EQ(ring(client), "2");
    broker_.folder().write("plugins.d/b.conf", "plugin = bell\nenabled = false\n");
    broker_.folder().write("plugins.d/d.conf", "plugin = gong\n");
    install("gong", "gong");
    broker_.signal(SIGHUP);
    std::string rung;
    for (int i = 0; i < 100'000 && rung != "1"; ++i) {
        rung = ring(client);
        ASSERT_EQ(rung.find("code"), std::string::npos) << rung << broker_.output();
    }
    EXPECT_EQ(rung, "1") << "another bell";
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
    const auto log = broker_.output();
    EXPECT_NE(log.find("plugins were exchanged while requests were held"), std::string::npos) << log;
    EXPECT_NE(log.find("plugin stopped plugin=bell generation=1"), std::string::npos) << log;
}

TEST_F(ServiceReloadTest, StartsTheOldServiceAgainWhenTheNewOneDoesNotStart) {
    RawClient client(broker_.brokerPort());
    EXPECT_EQ(ring(client), "1");
    install("bell-broken", "bell");
    broker_.signal(SIGHUP);
    std::string rung = "2";
    for (int i = 0; i < 100'000 && rung != "1"; ++i) {
        rung = ring(client);
        ASSERT_EQ(rung.find("code"), std::string::npos) << rung << broker_.output();
    }
    EXPECT_EQ(rung, "1") << "a new object of the old library";
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
    EXPECT_NE(broker_.output().find("PB-1123 plugin bell: it is cracked"), std::string::npos) << broker_.output();
}

TEST_F(ServiceReloadTest, LeavesEverythingAsItIsWhenARequestDoesNotEnd) {
    // The plugin that keeps the request for ever is left in memory on purpose.
    ::setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    RawClient client(broker_.brokerPort());
    RawClient waiting(broker_.brokerPort());
    ASSERT_TRUE(waiting.send(*request(30'021).encode(protocol::SerializeType::Json)));
    ASSERT_TRUE(waiting.call(request(30'010)));   // it is there by now
    EXPECT_EQ(ring(client), "2");
    broker_.folder().write("plugins.d/b.conf", "plugin = bell\nenabled = false\n");
    broker_.folder().write("plugins.d/d.conf", "plugin = gong\n");
    install("gong", "gong");
    broker_.signal(SIGHUP);
    // What begins would not hear of a change. Nothing else is asked meanwhile: whoever rings is held until the exchange is over.
    std::string unset;
    for (int i = 0; i < 1'000'000 && unset != "plugins are being exchanged; try again"; ++i) {
        ASSERT_EQ(broker_.output().find("the configuration stays as it was"), std::string::npos) << unset;
        unset = takeBack(client);
    }
    EXPECT_EQ(unset, "plugins are being exchanged; try again");
    int next = 3;
    for (; next < 1'000'000 && broker_.output().find("the configuration stays as it was") == std::string::npos; ++next) {
        ASSERT_EQ(ring(client), std::to_string(next));
    }
    EXPECT_EQ(takeBack(client), "unknown key 'noSuchKey'") << "it is over";
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
    const auto log = broker_.output();
    EXPECT_NE(log.find("PB-1115 plugin ringer: has requests that do not end within 200 ms"), std::string::npos) << log;
    EXPECT_NE(log.find("a plugin still serves requests after its time; it is left running and in memory plugin=ringer"), std::string::npos) << log;
    EXPECT_EQ(log.find("bell stops"), std::string::npos) << "somebody may still ring it" << log;
    ::unsetenv("ASAN_OPTIONS");
}

}  // namespace
}  // namespace patchbay::test

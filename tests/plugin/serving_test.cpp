// Proves: a plugin that loses requests or throws harms only its own requests, a stop waits for and hands back what is held, and the
// process does what its signals say. How: the built executable with a plugin that misbehaves by request code.
// Left to others: plugins that cannot start (loader_test).
// One store: no broker here has any.
#include "support/BrokerProcess.h"
#include "support/RawClient.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

namespace patchbay::test {
namespace {

using protocol::RemotingCommand;
using protocol::ResponseCode;

RemotingCommand request(int offset) {
    return RemotingCommand::request(static_cast<protocol::RequestCode>(30'000 + offset));
}

class ServingTest : public ::testing::Test {
protected:
    explicit ServingTest(const std::string& main = {})
        : broker_("brokerName = b1\n" + main, {{"a.conf", "plugin = misbehaves\n"}, {"b.conf", "plugin = bell\n"}}) {
        broker_.setPluginDirectory(PATCHBAY_FIXTURE_DIR);
    }
    void SetUp() override { ASSERT_TRUE(broker_.start()) << broker_.output(); }

    int codeOf(RawClient& client, int offset) {
        const auto answer = client.call(request(offset));
        return answer ? answer->code : -static_cast<int>(answer.error().code());
    }

    BrokerProcess broker_;
};

TEST_F(ServingTest, SaysInOneLineWhereItListensAndWhatItAdvertises) {
    const auto& line = broker_.readyLine();
    EXPECT_EQ(line.rfind("patchbay ", 0), 0U) << line;
    EXPECT_NE(line.find(" ms: namesrv 127.0.0.1:"), std::string::npos) << line;
    EXPECT_NE(line.find("; b1 advertises 127.0.0.1:" + std::to_string(broker_.brokerPort()) + " (bindAddress is this one)"), std::string::npos) << line;
}

TEST_F(ServingTest, SaysInSomeLinesWhatAnOperatorWantsToKnow) {
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
    const auto log = broker_.output();
    for (const char* begin : {" this is: patchbay ", " listens on: namesrv 127.0.0.1:", " clients are told: 127.0.0.1:", " name servers: 127.0.0.1:",
                              " memory at most: ", " plugins: bell misbehaves", " limits: "}) {
        EXPECT_NE(log.find(begin), std::string::npos) << begin << "\n" << log;
    }
}

TEST_F(ServingTest, AnswersForPluginsThatDropOrThrow) {
    RawClient client(broker_.brokerPort());
    ASSERT_TRUE(client.connected());
    for (const int offset : {1, 2, 3, 4, 5}) {
        EXPECT_EQ(codeOf(client, offset), static_cast<int>(ResponseCode::SystemError)) << offset;
        EXPECT_EQ(codeOf(client, 0), static_cast<int>(ResponseCode::Success)) << "after " << offset;
    }
}

TEST_F(ServingTest, NamesPluginsThatAnswerTwiceTooMuchTooLateOrTooSlowly) {
    RawClient client(broker_.brokerPort());
    EXPECT_EQ(codeOf(client, 7), static_cast<int>(ResponseCode::Success));
    EXPECT_EQ(codeOf(client, 8), static_cast<int>(ResponseCode::SystemError));
    EXPECT_EQ(codeOf(client, 9), static_cast<int>(ResponseCode::Success));
    {
        RawClient gone(broker_.brokerPort());
        ASSERT_TRUE(gone.send(*request(12).encode(protocol::SerializeType::Json)));
        EXPECT_EQ(codeOf(gone, 0), static_cast<int>(ResponseCode::Success));
    }
    EXPECT_EQ(codeOf(client, 13), static_cast<int>(ResponseCode::Success));
    EXPECT_EQ(codeOf(client, 0), static_cast<int>(ResponseCode::Success));
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
    const auto log = broker_.output();
    EXPECT_NE(log.find("plugin used a request that it had given away plugin=misbehaves"), std::string::npos) << log;
    EXPECT_NE(log.find("answer is too large for a frame plugin=misbehaves"), std::string::npos) << log;
    EXPECT_NE(log.find("plugin held up an I/O loop"), std::string::npos) << log;
}

TEST(PluginThatKeepsFailing, IsSwitchedOffWhenItsFileSaysSo) {
    BrokerProcess broker("roles = broker\n", {{"a.conf", "plugin = misbehaves\ndisableAfterFaults = 3\n"}, {"b.conf", "plugin = bell\n"}});
    broker.setPluginDirectory(PATCHBAY_FIXTURE_DIR);
    ASSERT_TRUE(broker.start()) << broker.output();
    RawClient client(broker.brokerPort());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(client.call(request(2)).value().code, static_cast<int>(ResponseCode::SystemError));
    int code = 0;
    for (int i = 0; i < 100'000 && code == 0; ++i) code = client.call(request(0)).value().code;
    EXPECT_EQ(code, static_cast<int>(ResponseCode::RequestCodeNotSupported));
    EXPECT_EQ(broker.stop(SIGTERM), 0);
    EXPECT_NE(broker.output().find("a plugin that keeps failing was switched off plugin=misbehaves"), std::string::npos) << broker.output();
}

TEST_F(ServingTest, KeepsListenersApart) {
    RawClient client(broker_.namesrvPort());
    EXPECT_EQ(codeOf(client, 0), static_cast<int>(ResponseCode::RequestCodeNotSupported));
}

TEST_F(ServingTest, AnswersHeldRequestsWhenItStops) {
    RawClient client(broker_.brokerPort());
    auto held = request(6);
    held.opaque = 77;
    ASSERT_TRUE(client.send(*held.encode(protocol::SerializeType::Json)));
    EXPECT_EQ(codeOf(client, 0), static_cast<int>(ResponseCode::Success));   // the held one is there by now
    broker_.signal(SIGTERM);
    const auto answer = client.receive();
    ASSERT_TRUE(answer) << answer.error().toString();
    EXPECT_EQ(answer->opaque, 77);
    EXPECT_NE(answer->code, 0);
    EXPECT_TRUE(client.closedByPeer());
    EXPECT_EQ(broker_.wait(), 0) << broker_.output();
    const auto log = broker_.output();
    EXPECT_NE(log.find("misbehaves stops held=0"), std::string::npos) << log;
    EXPECT_LT(log.find("bell drains"), log.find("bell stops")) << log;
}

TEST_F(ServingTest, EndsAtTheSecondSignalWhateverItDoes) {
    broker_.signal(SIGTERM);
    // The first is being served when the listener is closed.
    while (RawClient(broker_.brokerPort()).connected()) {
    }
    const int code = broker_.stop(SIGTERM);
    EXPECT_TRUE(code == 128 + SIGTERM || code == 0) << code;
}

TEST_F(ServingTest, EndsAtOnceWithItsConnectionsIdle) {
    RawClient client(broker_.brokerPort());
    ASSERT_TRUE(client.connected());
    EXPECT_EQ(broker_.stop(SIGINT), 0) << broker_.output();
    EXPECT_TRUE(client.closedByPeer());
}

TEST_F(ServingTest, TakesOverChangedKeysAtHangup) {
    broker_.folder().write("plugins.d/b.conf", "plugin = bell\nbellSound = dang\nbellCount = 3\n");
    broker_.signal(SIGHUP);
    // The stop comes after the hang-up in the same queue.
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
    const auto log = broker_.output();
    EXPECT_NE(log.find("sound changed sound=dang"), std::string::npos) << log;
    EXPECT_NE(log.find("a changed key needs a restart of its plugin: patchctl plugin reload key=bellCount"), std::string::npos) << log;
}

TEST_F(ServingTest, KeepsItsConfigurationWhenTheNewOneIsWrong) {
    broker_.folder().write("plugins.d/b.conf", "plugin = bell\nbellSound = dang # loud\n");
    broker_.signal(SIGHUP);
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
    EXPECT_NE(broker_.output().find("PB-1202"), std::string::npos) << broker_.output();
    EXPECT_EQ(broker_.output().find("sound changed"), std::string::npos) << broker_.output();
}

TEST_F(ServingTest, SaysAtHangupWhichKeysNobodyKnows) {
    broker_.folder().write("plugins.d/b.conf", "plugin = bell\nbellSound = dang\nbellSond = dong\n");
    broker_.signal(SIGHUP);
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
    EXPECT_NE(broker_.output().find("unknown key 'bellSond'; did you mean bellSound?"), std::string::npos) << broker_.output();
    EXPECT_EQ(broker_.output().find("sound changed"), std::string::npos) << broker_.output();
}

TEST_F(ServingTest, StartsAndEndsPluginsAtHangup) {
    RawClient client(broker_.brokerPort());
    broker_.folder().write("plugins.d/a.conf", "plugin = misbehaves\nenabled = false\n");
    broker_.signal(SIGHUP);
    int code = 0;
    for (int i = 0; i < 100'000 && code != 3; ++i) code = codeOf(client, 0);
    EXPECT_EQ(code, 3);
    broker_.folder().write("plugins.d/a.conf", "plugin = misbehaves\n");
    broker_.signal(SIGHUP);
    for (int i = 0; i < 100'000 && code != 0; ++i) code = codeOf(client, 0);
    EXPECT_EQ(code, 0);
    EXPECT_EQ(broker_.stop(SIGTERM), 0);
}

TEST(StandardError, IsNotWaitedForWhenNobodyReadsIt) {
    BrokerProcess broker("roles = broker\n", {{"b.conf", "plugin = bell\n"}});
    broker.setPluginDirectory(PATCHBAY_FIXTURE_DIR);
    broker.stuffStandardError();
    ASSERT_TRUE(broker.start()) << broker.output();
    EXPECT_EQ(broker.stop(SIGTERM, std::chrono::seconds(10)), 0);
}

TEST(ExecutorKeys, ThatNobodyHasAreNamed) {
    BrokerProcess broker("roles = broker\nexecutor.od.threads = 2\n", {{"a.conf", "plugin = misbehaves\n"}});
    broker.setPluginDirectory(PATCHBAY_FIXTURE_DIR);
    ASSERT_TRUE(broker.start()) << broker.output();
    EXPECT_EQ(broker.stop(SIGTERM), 0);
    EXPECT_NE(broker.output().find("no plugin that runs has such an executor key=executor.od.threads"), std::string::npos) << broker.output();
    EXPECT_NE(broker.output().find("nearest=odd"), std::string::npos) << broker.output();
}

TEST_F(ServingTest, RefusesAPortThatIsTaken) {
    BrokerProcess second("roles = broker\n", {{"b.conf", "plugin = bell\n"}});
    second.setPluginDirectory(PATCHBAY_FIXTURE_DIR);
    const auto result = second.run({"-D", "listenPort=" + std::to_string(broker_.brokerPort())});
    EXPECT_EQ(result.exitCode, 1);
    EXPECT_NE(result.err.find("PB-1301 broker: 127.0.0.1:" + std::to_string(broker_.brokerPort())), std::string::npos) << result.err;
}

TEST_F(ServingTest, RunsTwiceOnOneMachineWithPortsOfTheSystemsChoice) {
    BrokerProcess second("", {{"b.conf", "plugin = bell\n"}});
    second.setPluginDirectory(PATCHBAY_FIXTURE_DIR);
    ASSERT_TRUE(second.start()) << second.output();
    EXPECT_NE(second.brokerPort(), broker_.brokerPort());
    EXPECT_EQ(second.stop(SIGTERM), 0);
}

TEST(PidFile, HoldsTheNumberWhileTheProcessRuns) {
    BrokerProcess broker("pidFile = run.pid\n", {{"b.conf", "plugin = bell\n"}});
    broker.setPluginDirectory(PATCHBAY_FIXTURE_DIR);
    ASSERT_TRUE(broker.start()) << broker.output();
    EXPECT_EQ(broker.folder().read("run.pid"), std::to_string(broker.pid()) + "\n");
    EXPECT_EQ(broker.stop(SIGTERM), 0);
    EXPECT_FALSE(std::filesystem::exists(broker.folder() / "run.pid"));
}

}  // namespace
}  // namespace patchbay::test

// Proves: each private code answers what the services say, in the shape of docs/protocol.md, and what changes something is for peers of
// this machine. How: services of the test's own on the test kit's kernel. Left to others: what the services do (tests/plugin/swap_test).
#include "ControlPlugin.h"

#include "patchbay/protocol/PrivateCode.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"
#include "support/FakeObservation.h"

#include <gtest/gtest.h>

namespace patchbay::plugins::control {
namespace {

using protocol::PrivateCode;
using protocol::ResponseCode;

class FakeControl final : public service::PluginControl {
public:
    void list(std::function<void(Result<std::vector<service::PluginInfo>>)> done) override {
        service::PluginInfo info;
        info.name = "pull";
        info.state = "serving";
        info.codes = {{"broker", 11}};
        done(std::vector{info});
    }
    [[nodiscard]] Result<service::PluginInspection> inspect(const std::string& name) override {
        if (name != "pull") return Status(StatusCode::NotFound, "no file of plugins.d is of plugin " + name);
        return service::PluginInspection{"/x/patchbay-pull.so", "name pull\n", {"PB-1104 other"}};
    }
    void reload(const std::string& name, Done done) override { note("reload " + name, std::move(done)); }
    void enable(const std::string& name, bool enabled, Done done) override { note((enabled ? "enable " : "disable ") + name, std::move(done)); }
    void reloadConfiguration(Done done) override { note("files", std::move(done)); }

    std::string asked;
    Status outcome;

private:
    void note(const std::string& what, Done done) {
        asked += what + ";";
        done(outcome);
    }
};

class FakeReport final : public service::ConfigReport {
public:
    [[nodiscard]] Result<std::vector<service::ConfigFact>> compare() const override {
        service::ConfigFact fact;
        fact.owner = "pull";
        fact.key = "heldPullsMax";
        fact.value = "1";
        fact.fileValue = "2";
        fact.differs = true;
        return std::vector{fact};
    }
    [[nodiscard]] Status check(const std::string& listener, const std::string& key, const std::string& value) const override {
        if (key == "library") return {StatusCode::Denied, "not that"};
        return {StatusCode::OutOfRange, listener + " " + key + " " + value};
    }
    Status unset(const std::string& key, bool dryRun) override {
        if (key == "fixed") return {StatusCode::Denied, "configBlackList names it"};
        if (key == "nothing") return {StatusCode::NotFound, "nothing was not changed at run time"};
        asked += key + (dryRun ? "?" : "!");
        return Status::ok();
    }

    std::string asked;
};

class ControlTest : public ::testing::Test {
protected:
    ControlTest() {
        context.provide<service::PluginControl>(control);
        context.provide<service::ConfigReport>(report);
        context.provide<service::Observation>(observation);
        runner.add<ControlPlugin>();
    }
    void SetUp() override { ASSERT_TRUE(runner.start()); }

    testkit::CallResult ask(PrivateCode code, const testkit::Fields& fields = {}, const testkit::CallOptions& options = {}) {
        auto result = context.call(static_cast<protocol::RequestCode>(code), fields, {}, options);
        EXPECT_TRUE(result.await());
        return result;
    }

    testkit::FakeContext context;
    FakeControl control;
    FakeReport report;
    test::FakeObservation observation;
    testkit::PluginRunner runner{context};
};

TEST_F(ControlTest, ListsPluginsWithTheirCodes) {
    const auto body = ask(PrivateCode::ListPlugins).body();
    EXPECT_NE(body.find("\"name\":\"pull\""), std::string::npos) << body;
    EXPECT_NE(body.find("\"codes\":[{\"listener\":\"broker\",\"code\":11}]"), std::string::npos) << body;
}

TEST_F(ControlTest, InspectsALibraryByThePluginsName) {
    EXPECT_EQ(ask(PrivateCode::InspectPlugin, {{"name", "pull"}}).body(),
              "{\"path\":\"/x/patchbay-pull.so\",\"manifest\":\"name pull\\n\",\"problems\":[\"PB-1104 other\"]}");
    EXPECT_EQ(ask(PrivateCode::InspectPlugin, {{"name", "drum"}}).code(), ResponseCode::SystemError);
    EXPECT_EQ(ask(PrivateCode::InspectPlugin).code(), ResponseCode::SystemError) << "no name";
}

TEST_F(ControlTest, ChangesWhatItIsAskedToAndTellsTheOutcome) {
    EXPECT_EQ(ask(PrivateCode::ReloadPlugin, {{"name", "pull"}}).code(), ResponseCode::Success);
    EXPECT_EQ(ask(PrivateCode::EnablePlugin, {{"name", "delay"}}).code(), ResponseCode::Success);
    EXPECT_EQ(ask(PrivateCode::DisablePlugin, {{"name", "delay"}}).code(), ResponseCode::Success);
    EXPECT_EQ(ask(PrivateCode::ReloadConfiguration).code(), ResponseCode::Success);
    EXPECT_EQ(control.asked, "reload pull;enable delay;disable delay;files;");
    control.outcome = {StatusCode::InvalidArgument, "PB-1104 other ABI"};
    const auto refused = ask(PrivateCode::ReloadPlugin, {{"name", "pull"}});
    EXPECT_EQ(refused.code(), ResponseCode::SystemError);
    EXPECT_EQ(refused.remark(), "PB-1104 other ABI");
}

TEST_F(ControlTest, OnlyPeersOfThisMachineMayChangeSomething) {
    testkit::CallOptions afar;
    afar.peer = context.peer("192.0.2.7:4711");
    EXPECT_EQ(ask(PrivateCode::ReloadPlugin, {{"name", "pull"}}, afar).code(), ResponseCode::NoPermission);
    EXPECT_EQ(control.asked, "");
    EXPECT_EQ(ask(PrivateCode::GetMetrics, {}, afar).code(), ResponseCode::Success);
}

TEST_F(ControlTest, TellsCountsAndConfiguration) {
    observation.requestStats.resize(1);
    observation.requestStats[0].plugin = "pull";
    observation.requestStats[0].calls = 5;
    const auto counts = ask(PrivateCode::GetMetrics).body();
    EXPECT_NE(counts.find("\"plugin\":\"pull\",\"code\":0,\"calls\":5,"), std::string::npos) << counts;
    EXPECT_NE(counts.find("\"boundsUs\":[50,"), std::string::npos) << counts;
    const auto keys = ask(PrivateCode::CompareConfiguration).body();
    EXPECT_NE(keys.find("\"key\":\"heldPullsMax\""), std::string::npos) << keys;
    EXPECT_NE(keys.find("\"fileValue\":\"2\",\"fileWhere\":\"\",\"live\":false,\"differs\":true"), std::string::npos) << keys;
}

TEST_F(ControlTest, TellsWhatAChangeWouldMeetAndTakesChangesBack) {
    const auto wrong = ask(PrivateCode::CheckConfiguration, {{"key", "heldPullsMax"}, {"value", "-1"}, {"listener", "namesrv"}});
    EXPECT_EQ(wrong.code(), ResponseCode::SystemError);
    EXPECT_EQ(wrong.remark(), "namesrv heldPullsMax -1");
    EXPECT_EQ(ask(PrivateCode::CheckConfiguration, {{"key", "k"}, {"value", "v"}}).remark(), "broker k v");
    EXPECT_EQ(ask(PrivateCode::CheckConfiguration, {{"key", "library"}}).code(), ResponseCode::NoPermission);
    EXPECT_EQ(ask(PrivateCode::CheckConfiguration).code(), ResponseCode::SystemError) << "no key";
    EXPECT_EQ(ask(PrivateCode::UnsetConfiguration, {{"key", "a"}, {"dryRun", "true"}}).code(), ResponseCode::Success);
    EXPECT_EQ(ask(PrivateCode::UnsetConfiguration, {{"key", "b"}}).code(), ResponseCode::Success);
    EXPECT_EQ(report.asked, "a?b!");
    EXPECT_EQ(ask(PrivateCode::UnsetConfiguration, {{"key", "nothing"}}).code(), ResponseCode::QueryNotFound);
    EXPECT_EQ(ask(PrivateCode::UnsetConfiguration, {{"key", "fixed"}}).code(), ResponseCode::NoPermission);
    testkit::CallOptions afar;
    afar.peer = context.peer("192.0.2.7:4711");
    EXPECT_EQ(ask(PrivateCode::UnsetConfiguration, {{"key", "c"}}, afar).code(), ResponseCode::NoPermission);
    EXPECT_EQ(report.asked, "a?b!");
}

}  // namespace
}  // namespace patchbay::plugins::control

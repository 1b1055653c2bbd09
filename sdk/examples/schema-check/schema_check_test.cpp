// Proves: a body that breaks the schema of its topic is refused with the place and the rule, others pass; what cannot be checked is refused.
// How: a directory with one schema, and the interceptor called as the kernel calls it. Left to others: what RapidJSON checks.
#include "SchemaCheck.h"

#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/testkit/FakeContext.h"
#include "patchbay/testkit/PluginRunner.h"
#include "patchbay/testkit/TempDir.h"

#include <fstream>
#include <gtest/gtest.h>

namespace schema_check {
namespace {

using namespace patchbay;

/// A request that nobody serves.
struct Core final : plugin::RequestCore {
    void answer(plugin::Response&) noexcept override {}
    void abandon() noexcept override {}
    void redispatch() noexcept override {}
    void defer() noexcept override {}
    plugin::RequestCore* detach() noexcept override { return this; }
};

class SchemaCheckTest : public ::testing::Test {
protected:
    void begin() {
        std::ofstream(directory.path() + "/Orders.json")
            << R"({"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"amount":{"type":"number","minimum":0}}})";
        runner.add<SchemaCheck>({{"schemaDirectory", directory.path()}, {"schemaBytesMax", "100"}});
        ASSERT_TRUE(runner.start());
    }
    /// The remark of the refusal; empty when the send passes.
    std::string send(const std::string& body, const std::string& topic = "Orders", bool batch = false, std::int32_t sysFlag = 0) {
        protocol::SendMessageRequest header;
        header.producerGroup = "p";
        header.topic = topic;
        header.defaultTopic = "TBW102";
        header.batch = batch;
        header.sysFlag = sysFlag;
        auto request = protocol::RemotingCommand::request(protocol::RequestCode::SendMessageV2);
        request.setHeader(header);
        request.body = body;
        auto frame = *request.encode(protocol::SerializeType::Json);
        Core core;
        protocol::CommandView view;
        EXPECT_TRUE(protocol::CommandView::decode({frame.data() + 4, frame.size() - 4}, view));
        core.command = &view;
        core.peer = context.peer();
        const auto verdict = context.addedInterceptors().at(0).interceptor->intercept({plugin::Phase::Limit, core, nullptr});
        if (verdict.kind == plugin::Verdict::Kind::NoOpinion) return {};
        EXPECT_EQ(verdict.answer->code, protocol::ResponseCode::MessageIllegal);
        return verdict.answer->remark;
    }

    testkit::TempDir directory;
    testkit::FakeContext context{systemFiles()};
    testkit::PluginRunner runner{context};
};

TEST_F(SchemaCheckTest, RefusesWhatDoesNotFitWithThePlaceAndTheRule) {
    begin();
    EXPECT_EQ(send(R"({"id":1,"amount":2.5})"), "");
    EXPECT_EQ(send(R"({"amount":1})"), "the message does not fit the schema of topic Orders: 'required' does not hold at #");
    EXPECT_EQ(send(R"({"id":1,"amount":-1})"), "the message does not fit the schema of topic Orders: 'minimum' does not hold at #/amount");
    EXPECT_NE(send("{\"id\":1").find("not JSON at byte"), std::string::npos);
    EXPECT_EQ(send("anything", "Other"), "");
}

TEST_F(SchemaCheckTest, RefusesWhatItCannotCheck) {
    begin();
    EXPECT_NE(send(R"({"id":1})", "Orders", true), "");
    EXPECT_NE(send(R"({"id":1})", "Orders", false, 1), "");
    EXPECT_NE(send(R"({"id":1,"x":")" + std::string(200, 'x') + "\"}"), "");
}

TEST_F(SchemaCheckTest, DoesNotStartWithASchemaThatIsNoJson) {
    std::ofstream(directory.path() + "/Orders.json") << "{";
    runner.add<SchemaCheck>({{"schemaDirectory", directory.path()}});
    const auto status = runner.start();
    EXPECT_FALSE(status);
    EXPECT_NE(status.message().find("Orders.json: not JSON at byte"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace schema_check

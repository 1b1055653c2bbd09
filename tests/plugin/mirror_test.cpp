// Proves: a broker with the mirror of sdk/examples forwards its topics to another one, also after the mirror was exchanged and after both were
// killed; two mirrors in opposite directions come to rest. How: two built brokers with their real plugins and each store. Left to others: failures and
// refusals (sdk/examples/mirror/mirror_test).
#include "support/BrokerProcess.h"
#include "support/Commands.h"
#include "support/OwnPlugins.h"
#include "support/RawClient.h"
#include "support/Stores.h"

#include "patchbay/protocol/PrivateCode.h"
#include "patchbay/protocol/message/MessageRecord.h"

#include <gtest/gtest.h>

#include <csignal>
#include <set>

namespace patchbay::test {
namespace {

using protocol::RemotingCommand;
using protocol::RequestCode;

constexpr const char* kTopic = "Orders";
constexpr std::int32_t kQueues = 4;

class MirrorTest : public OnEachStore {
protected:
    static void mirror(BrokerProcess& from, BrokerProcess& to) {
        from.folder().write("plugins.d/90-mirror.conf",
                            "plugin = mirror\nlibrary = " PATCHBAY_BUILD_DIR "/examples/patchbay-mirror.so\nroles = broker\nmirrorTopics = Orders\n"
                            "mirrorNamesrvAddr = 127.0.0.1:" + std::to_string(to.namesrvPort()) + "\nmirrorRetryDelay = 50ms\nmirrorPollInterval = 5ms\n"
                            "mirrorLookInterval = 10ms\n");
        RawClient client(from.brokerPort());
        const auto answer = client.call(RemotingCommand::request(static_cast<RequestCode>(protocol::PrivateCode::ReloadConfiguration)));
        ASSERT_TRUE(answer && answer->code == 0) << (answer ? answer->remark.value_or("") : answer.error().toString()) << from.output();
    }
    void SetUp() override {
        ASSERT_TRUE(here_.start()) << here_.output();
        ASSERT_TRUE(there_.start()) << there_.output();
        send(there_, "made by this send");   // the mirror creates no topics
        // It takes a moment until the name server knows it.
        auto route = RemotingCommand::request(RequestCode::GetRouteinfoByTopic);
        route.set("topic", kTopic);
        RawClient names(there_.namesrvPort());
        int code = -1;
        for (int i = 0; i < 100'000 && code != 0; ++i) code = names.call(route)->code;
        ASSERT_EQ(code, 0) << there_.output();
        mirror(here_, there_);
    }
    static void send(BrokerProcess& broker, const std::string& body, std::int32_t queue = 0) {
        const auto answer = RawClient(broker.brokerPort()).call(sendCommand(kTopic, body, {.queue = queue}));
        ASSERT_TRUE(answer && answer->code == 0) << (answer ? answer->remark.value_or("") : answer.error().toString());
    }
    /// Bodies of a queue from its beginning, once there are `count`; long polls wait for what is not there yet.
    static std::vector<std::string> receive(BrokerProcess& broker, std::size_t count, std::int32_t queue = 0) {
        std::vector<std::string> bodies;
        RawClient client(broker.brokerPort(), std::chrono::seconds(30));
        for (int i = 0; i < 30 && bodies.size() < count; ++i) {
            const auto answer = client.call(pullCommand(kTopic, queue, static_cast<std::int64_t>(bodies.size())));
            if (!answer) break;
            std::string_view rest = answer->body;
            for (protocol::RecordView record; protocol::RecordView::parse(rest, record) == protocol::RecordStatus::Message;) {
                bodies.emplace_back(record.body);
                rest.remove_prefix(static_cast<std::size_t>(record.size));
            }
        }
        return bodies;
    }

    BrokerProcess here_{"brokerName = here\nbrokerClusterName = c1\n" + onStore(GetParam()), ownPlugins()};
    BrokerProcess there_{"brokerName = there\nbrokerClusterName = c2\n" + onStore(GetParam()), ownPlugins()};
};

TEST_P(MirrorTest, ForwardsAlsoAfterItWasExchanged) {
    for (int i = 0; i < 20; ++i) send(here_, "a" + std::to_string(i), i % kQueues);
    EXPECT_EQ(receive(there_, 6).size(), 6U) << here_.output();   // the one that made the topic, and five
    for (const auto& plugin : {std::string("mirror"), GetParam()}) {
        auto reload = RemotingCommand::request(static_cast<RequestCode>(protocol::PrivateCode::ReloadPlugin));
        reload.set("name", plugin);
        const auto answer = RawClient(here_.brokerPort()).call(reload);
        ASSERT_TRUE(answer && answer->code == 0) << here_.output();
        for (int i = 0; i < 20; ++i) send(here_, plugin + std::to_string(i), i % kQueues);
    }
    std::multiset<std::string> all;
    for (int queue = 0; queue < kQueues; ++queue) {
        for (auto& body : receive(there_, queue == 0 ? 16 : 15, queue)) all.insert(std::move(body));
    }
    EXPECT_EQ(all.size(), 61U);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(all.count("a" + std::to_string(i)), 1U) << i;
    EXPECT_EQ(here_.stop(SIGTERM), 0) << here_.output();
}

TEST_P(MirrorTest, LosesNothingWhenItIsKilled) {
    for (int i = 0; i < 50; ++i) send(here_, "b" + std::to_string(i));
    here_.stop(SIGKILL);
    ASSERT_TRUE(here_.start()) << here_.output();
    send(here_, "last");
    // Some may have come twice.
    std::vector<std::string> all;
    for (int i = 0; i < 60 && (all.empty() || all.back() != "last"); ++i) all = receive(there_, all.size() + 1);
    EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 52U) << here_.output();
}

TEST_P(MirrorTest, ComesToRestWithAMirrorInTheOtherDirection) {
    mirror(there_, here_);
    send(here_, "from here");
    send(there_, "from there");
    EXPECT_EQ(receive(there_, 3).size(), 3U) << here_.output();
    EXPECT_EQ(receive(here_, 2).size(), 2U) << there_.output();
    send(here_, "end");
    EXPECT_EQ(receive(there_, 4).back(), "end");
    EXPECT_EQ(receive(there_, 4).size(), 4U);
    EXPECT_EQ(receive(here_, 3).size(), 3U);
}

PATCHBAY_ON_EACH_STORE(MirrorTest);

}  // namespace
}  // namespace patchbay::test

// Proved: the example that relays a topic hands on body, tags, keys and the sender's properties, and nothing of the protocol's own.
// How: the built program between two topics of a broker with each store, or of a cluster named by the environment.
// Left to others: the quick starts (unit_client compares them, client_out_of_tree builds one), the vending machines.
#include "ConsumerFixture.h"

#include "patchbay/client/Producer.h"
#include "patchbay/client/PullConsumer.h"

#include <cstdio>
#include <sys/wait.h>

namespace patchbay::test {
namespace {

using namespace std::chrono_literals;

class Examples : public ConsumerFixture {};

TEST_P(Examples, TheRelayHandsOnWhatTheSenderChose) {
    const auto from = fresh("RelayFrom");
    const auto to = fresh("RelayTo");
    createTopic(from, 1);
    createTopic(to, 1);
    auto producer = client::Producer::create({.client = options(), .group = fresh("relay-sender")});
    ASSERT_TRUE(producer);
    const auto sent = producer->send({.topic = from, .body = "one coffee", .tags = "hot", .keys = {"k1", "k2"}, .properties = {{"cup", "large"}}, .flag = 7});
    ASSERT_TRUE(sent) << sent.error().toString();

    const auto command = PATCHBAY_BUILD_DIR "/bin/example_relay " + options().nameServers + " " + from + " " + to + " 2>&1";
    std::FILE* relay = ::popen(command.c_str(), "w");
    ASSERT_NE(relay, nullptr);
    client::PullOptions made;
    made.consumer = consumerOptions();
    auto reader = client::PullConsumer::create(made);
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->subscribe(to));
    std::vector<client::ReceivedMessage> arrived;
    EXPECT_TRUE(soon([&] {
        const auto more = reader->poll(200ms);
        if (more) arrived.insert(arrived.end(), more->begin(), more->end());
        return !arrived.empty();
    }, 30s));
    std::fputs("\n", relay);
    EXPECT_EQ(WEXITSTATUS(::pclose(relay)), 0);
    ASSERT_EQ(arrived.size(), 1U);
    const auto& copy = arrived.front();
    EXPECT_EQ(copy.body(), "one coffee");
    EXPECT_EQ(copy.tags(), "hot");
    EXPECT_EQ(copy.keys(), "k1 k2");
    EXPECT_EQ(copy.flag(), 7);
    EXPECT_EQ(copy.userProperties(), (std::map<std::string, std::string, std::less<>>{{"cup", "large"}}));
    EXPECT_NE(copy.id(), sent->messageId);
}

PATCHBAY_ON_EACH_STORE(Examples);

}  // namespace
}  // namespace patchbay::test

#include "ClientFixture.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <unistd.h>

namespace patchbay::test {

void ClientFixture::SetUp() {
    if (const char* running = std::getenv("PATCHBAY_TEST_NAMESRV")) {
        nameServers_ = running;
        return;
    }
    broker_ = std::make_unique<BrokerProcess>("brokerName = broker-t\n" + onStore(GetParam()));
    ASSERT_TRUE(broker_->start()) << broker_->output();
    nameServers_ = "127.0.0.1:" + std::to_string(broker_->namesrvPort());
    // The broker registers itself a moment after it is ready.
    auto tool = admin();
    ASSERT_TRUE(soon([&] { return !tool.masters().value_or({}).empty(); }));
}

std::string ClientFixture::fresh(const std::string& stem) {
    static std::atomic<int> count{0};
    const auto now = std::chrono::system_clock::now().time_since_epoch() / std::chrono::milliseconds(1);
    return stem + "_" + std::to_string(now % 100'000'000) + "_" + std::to_string(++count);
}

client::ClientOptions ClientFixture::options() const {
    client::ClientOptions options;
    options.nameServers = nameServers_;
    return options;
}

client::AdminClient ClientFixture::admin() const {
    auto made = client::AdminClient::create(options());
    EXPECT_TRUE(made) << made.error().toString();
    return std::move(*made);
}

void ClientFixture::createTopic(const std::string& topic, std::int32_t queues, bool order) {
    auto tool = admin();
    const auto masters = tool.masters();
    ASSERT_TRUE(masters) << masters.error().toString();
    ASSERT_FALSE(masters->empty());
    protocol::TopicConfig config;
    config.topicName = topic;
    config.readQueueNums = config.writeQueueNums = queues;
    config.order = order;
    for (const auto& address : *masters) {
        const auto status = tool.createTopic(address, config);
        ASSERT_TRUE(status) << status.toString();
    }
    ASSERT_TRUE(soon([&] { return tool.route(topic).has_value(); }));
}

bool ClientFixture::soon(const std::function<bool()>& condition, std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        ::usleep(2000);
    }
    return true;
}

}  // namespace patchbay::test

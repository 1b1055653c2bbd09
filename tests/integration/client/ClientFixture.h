// ClientFixture: a cluster for the tests of the client library, ours with either store, or one that is running already.
#pragma once

#include "patchbay/client/AdminClient.h"
#include "support/BrokerProcess.h"
#include "support/Stores.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace patchbay::test {

/// Parameter: the plugin that stores messages. With PATCHBAY_TEST_NAMESRV=host:port in the environment both runs use that cluster instead, whatever
/// broker it is: Apache's answers are judged by the same tests.
class ClientFixture : public OnEachStore {
protected:
    void SetUp() override;
    /// A name that no other test and no earlier run has used.
    [[nodiscard]] static std::string fresh(const std::string& stem);
    [[nodiscard]] client::ClientOptions options() const;
    [[nodiscard]] client::AdminClient admin() const;
    /// Created on every master, and known to the name server.
    void createTopic(const std::string& topic, std::int32_t queues = 4, bool order = false);
    /// Asks again and again until it is so; false when the time has passed.
    [[nodiscard]] static bool soon(const std::function<bool()>& condition, std::chrono::milliseconds limit = std::chrono::seconds(10));
    [[nodiscard]] bool isOurs() const noexcept { return broker_ != nullptr; }
    [[nodiscard]] BrokerProcess& broker() noexcept { return *broker_; }

private:
    std::unique_ptr<BrokerProcess> broker_;
    std::string nameServers_;
};

}  // namespace patchbay::test

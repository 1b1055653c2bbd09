// StatsAdmin: how far consumers are, and who produces (43, 208, 303, 317, 328, 345).
#pragma once

#include "AdminProcessor.h"

#include "patchbay/base/Clock.h"
#include "patchbay/protocol/route/AdminBodies.h"

namespace patchbay::plugins::admin {

class StatsAdmin final : public AdminProcessor {
public:
    StatsAdmin(const AdminServices& services, const plugin::BrokerIdentity& identity, const Clock& clock)
        : AdminProcessor(services), identity_(identity), clock_(clock) {}

protected:
    [[nodiscard]] plugin::Response answer(const plugin::Request& request) override;

private:
    [[nodiscard]] plugin::Response consumeStats(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response brokerConsumeStats(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response timeSpan(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response allProducers() const;
    [[nodiscard]] plugin::Response subscription(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response allOffsets() const;

    /// Topics with offsets of the group, without those that an online group no longer subscribes.
    [[nodiscard]] std::vector<std::string> topicsOf(std::string_view group) const;
    void dropUnsubscribed(std::string_view group, std::vector<std::string>& topics) const;
    void addQueues(protocol::ConsumeStats& stats, std::string_view group, const std::string& topic, std::int32_t queues) const;

    const plugin::BrokerIdentity& identity_;
    const Clock& clock_;
};

}  // namespace patchbay::plugins::admin

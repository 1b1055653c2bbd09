// GroupAdmin: consumer groups, and who is connected (200, 201, 203, 204, 207, 225, 300, 343, 352).
#pragma once

#include "AdminProcessor.h"

#include "patchbay/protocol/route/SubscriptionGroupConfig.h"

namespace patchbay::plugins::admin {

class GroupAdmin final : public AdminProcessor {
public:
    GroupAdmin(const AdminServices& services, const plugin::BrokerIdentity& identity) : AdminProcessor(services), identity_(identity) {}

protected:
    [[nodiscard]] plugin::Response answer(const plugin::Request& request) override;

private:
    [[nodiscard]] plugin::Response update(const plugin::Request& request);
    [[nodiscard]] plugin::Response updateList(const plugin::Request& request);
    [[nodiscard]] plugin::Response remove(const plugin::Request& request);
    [[nodiscard]] plugin::Response get(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response consumers(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response producers(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response groupsOfTopic(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response topicsOfGroup(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response put(const protocol::SubscriptionGroupConfig& config);

    const plugin::BrokerIdentity& identity_;
};

}  // namespace patchbay::plugins::admin

// GroupAdmin: consumer groups, who is connected, how far they are (200, 201, 203, 204, 207, 208, 225, 300, 343, 352).
#pragma once

#include "AdminProcessor.h"

#include "patchbay/protocol/route/AdminBodies.h"

namespace patchbay::plugins::admin {

class GroupAdmin final : public AdminProcessor {
public:
    GroupAdmin(const AdminServices& services, const plugin::BrokerIdentity& identity) : services_(services), identity_(identity) {}

protected:
    [[nodiscard]] plugin::Response answer(const plugin::Request& request) override;

private:
    [[nodiscard]] plugin::Response update(const plugin::Request& request);
    [[nodiscard]] plugin::Response updateList(const plugin::Request& request);
    [[nodiscard]] plugin::Response remove(const plugin::Request& request);
    [[nodiscard]] plugin::Response get(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response consumers(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response producers(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response consumeStats(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response groupsOfTopic(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response topicsOfGroup(const plugin::Request& request) const;
    [[nodiscard]] std::vector<std::string> wantedTopics(std::string_view group, std::string_view topic,
                                                        std::string_view list) const;
    void addQueues(protocol::ConsumeStats& stats, std::string_view group, const std::string& topic) const;

    const AdminServices& services_;
    const plugin::BrokerIdentity& identity_;
};

}  // namespace patchbay::plugins::admin

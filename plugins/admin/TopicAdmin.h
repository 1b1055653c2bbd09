// TopicAdmin: creating, changing, listing and deleting topics (17, 18, 21, 202, 215, 305, 351).
#pragma once

#include "AdminConfig.h"
#include "AdminProcessor.h"

#include "patchbay/protocol/route/TopicConfig.h"

#include <optional>

namespace patchbay::plugins::admin {

class TopicAdmin final : public AdminProcessor {
public:
    TopicAdmin(const AdminServices& services, const plugin::BrokerIdentity& identity, const AdminConfig& config)
        : AdminProcessor(services), identity_(identity), config_(config) {}

protected:
    [[nodiscard]] plugin::Response answer(const plugin::Request& request) override;

private:
    [[nodiscard]] plugin::Response update(const plugin::Request& request);
    [[nodiscard]] plugin::Response updateList(const plugin::Request& request);
    [[nodiscard]] plugin::Response remove(const plugin::Request& request);
    [[nodiscard]] plugin::Response get(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response stats(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response all() const;
    [[nodiscard]] plugin::Response systemTopics() const;
    /// Why the topic may not be created or changed so.
    [[nodiscard]] std::optional<plugin::Response> refuse(const protocol::TopicConfig& config) const;

    const plugin::BrokerIdentity& identity_;
    const AdminConfig& config_;
};

}  // namespace patchbay::plugins::admin

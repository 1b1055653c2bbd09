// StoreAdmin: looking into queues, and clean-ups (306, 316, 321).
#pragma once

#include "AdminConfig.h"
#include "AdminProcessor.h"

namespace patchbay::plugins::admin {

class StoreAdmin final : public AdminProcessor {
public:
    StoreAdmin(const AdminServices& services, const AdminConfig& config) : AdminProcessor(services), config_(config) {}

protected:
    [[nodiscard]] plugin::Response answer(const plugin::Request& request) override;

private:
    [[nodiscard]] plugin::Response queue(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response cleanQueues();
    [[nodiscard]] plugin::Response cleanUnusedTopics();

    const AdminConfig& config_;
};

}  // namespace patchbay::plugins::admin

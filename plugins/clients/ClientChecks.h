// ClientChecks: how much a client may say of itself. Whatever it says is kept, so each part of it has a limit.
#pragma once

#include "ClientsConfig.h"

#include "patchbay/base/Status.h"
#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/protocol/route/Heartbeat.h"
#include "patchbay/protocol/route/SubscriptionData.h"

#include <string_view>

namespace patchbay::plugins::clients {

/// InvalidArgument with a text that names the limit where something is too long or too much. Stateless; any thread.
class ClientChecks {
public:
    explicit ClientChecks(const ClientsConfig& config) : config_(config) {}

    [[nodiscard]] Status heartbeat(const protocol::HeartbeatData& data) const;
    [[nodiscard]] Status lock(const protocol::LockBatchRequest& request) const;
    [[nodiscard]] Status clientId(std::string_view id) const;
    [[nodiscard]] Status group(std::string_view name) const;
    [[nodiscard]] Status subscription(const protocol::SubscriptionData& data) const;

private:
    const ClientsConfig config_;
};

}  // namespace patchbay::plugins::clients

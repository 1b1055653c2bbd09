// Registration: this broker's entry at the name servers.
#pragma once

#include "patchbay/plugin/Services.h"

namespace patchbay::service {

/// Thread-safe. Offered by the registration plugin; brokers without name servers run without it.
class Registration {
public:
    static constexpr plugin::ServiceId kId{"patchbay.Registration", 1};
    virtual ~Registration();
    /// Registers everything soon with all name servers (permission or configuration changed).
    virtual void registerSoon() noexcept = 0;
    /// Takes this broker's addresses out of the routes of all name servers and waits a bounded time for it.
    virtual void unregister() noexcept = 0;
};

}  // namespace patchbay::service

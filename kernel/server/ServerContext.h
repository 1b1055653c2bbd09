// ServerContext: what the server borrows from the application.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Runtime.h"
#include "server/PendingCalls.h"

namespace patchbay::kernel {

/// Everything outlives the server.
struct ServerContext {
    const Clock& clock;
    plugin::Logger& log;
    plugin::Metrics& metrics;
    PostTask post;
};

}  // namespace patchbay::kernel

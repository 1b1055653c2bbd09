// PocoErrorBridge: exceptions that Poco's own threads would drop silently go to the log.
#pragma once

#include "patchbay/plugin/Logger.h"

namespace patchbay::kernel {

/// To be called first thing in main, and again with null before the logger goes. With null, lines go to standard error.
void bridgePocoErrors(plugin::Logger* log) noexcept;

}  // namespace patchbay::kernel

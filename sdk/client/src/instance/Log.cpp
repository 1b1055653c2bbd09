#include "instance/Log.h"

#include <cstdio>

namespace patchbay::client {

void Log::write(LogLevel level, std::string_view text) const {
    const std::lock_guard lock(mutex_);
    if (sink_) return sink_(level, text);
    if (level < LogLevel::Warn) return;
    std::fprintf(stderr, "patchbay client: %.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace patchbay::client

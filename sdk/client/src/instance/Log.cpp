#include "instance/Log.h"

#include "runtime/Guarded.h"

#include <cstdio>

namespace patchbay::client {

void Log::write(LogLevel level, std::string_view text) const {
    const std::lock_guard lock(mutex_);
    std::string thrown;
    if (sink_ && guarded([&] { return sink_(level, text), true; }, false, thrown)) return;
    if (thrown.empty() && level < LogLevel::Warn) return;
    if (!thrown.empty()) std::fprintf(stderr, "patchbay client: the log sink threw: %s\n", thrown.c_str());
    std::fprintf(stderr, "patchbay client: %.*s\n", static_cast<int>(text.size()), text.data());
}

}  // namespace patchbay::client

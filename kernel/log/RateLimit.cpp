#include "log/RateLimit.h"

#include <functional>

namespace patchbay::kernel {

bool RateLimit::admit(std::string_view text, MonotonicTime now, std::uint64_t& hidden) noexcept {
    const auto hash = std::hash<std::string_view>()(text);
    const std::lock_guard lock(mutex_);
    Slot* oldest = &slots_[0];
    for (auto& slot : slots_) {
        if (slot.used && slot.hash == hash) {
            if (now - slot.written < kInterval) {
                ++slot.hidden;
                return false;
            }
            hidden = slot.hidden;
            slot.hidden = 0;
            slot.written = now;
            return true;
        }
        if (oldest->used && (!slot.used || slot.written < oldest->written)) oldest = &slot;
    }
    *oldest = {hash, true, now, 0};
    hidden = 0;
    return true;
}

}  // namespace patchbay::kernel

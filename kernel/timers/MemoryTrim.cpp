#include "timers/MemoryTrim.h"

#include <algorithm>
#include <cstdio>
#include <malloc.h>
#include <unistd.h>
#include <utility>

namespace patchbay::kernel {

namespace {

/// Resident memory that is no file's.
std::size_t anonymousBytes() {
    auto* const file = std::fopen("/proc/self/statm", "re");
    if (file == nullptr) return 0;
    unsigned long resident = 0;
    unsigned long shared = 0;
    const int found = std::fscanf(file, "%*u %lu %lu", &resident, &shared);
    (void)std::fclose(file);
    return found == 2 && resident > shared ? (resident - shared) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

/// Resident memory that nobody uses. What the allocator calls free would not do: it stays that after it was given back.
std::size_t idleBytes() {
    const auto resident = anonymousBytes();
    if (resident < MemoryTrim::kWorth) return 0;
    const auto state = ::mallinfo2();
    const auto used = state.uordblks + state.hblkhd;
    return resident > used ? std::min(resident - used, state.fordblks) : 0;
}

}  // namespace

MemoryTrim::MemoryTrim() : MemoryTrim(idleBytes, [] { ::malloc_trim(0); }) {}

bool MemoryTrim::look() {
    const bool much = idle_() >= kWorth;
    if (!std::exchange(seen_, much) || !much) return false;
    trim_();
    seen_ = false;
    return true;
}

}  // namespace patchbay::kernel

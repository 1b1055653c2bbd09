// Counts the allocations of a whole test program that links Allocations.cpp.
#pragma once

#include <atomic>
#include <cstddef>

namespace patchbay::recorded {
extern std::atomic<std::size_t> allocations;
}  // namespace patchbay::recorded

// In a file of its own: where the compiler sees these bodies it warns of free() for what it takes for a plain new.
#include "Allocations.h"

#include <cstdlib>
#include <new>

namespace patchbay::recorded {
std::atomic<std::size_t> allocations{0};
}  // namespace patchbay::recorded

void* operator new(std::size_t size) {
    patchbay::recorded::allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

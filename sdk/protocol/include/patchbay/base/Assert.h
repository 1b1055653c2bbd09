// PATCHBAY_ASSERT: states what only a programmer's error can make false. Always compiled in.
#pragma once

namespace patchbay {

/// Prints "file:line: assertion failed: text" to standard error and aborts.
[[noreturn]] void assertFailed(const char* text, const char* file, int line) noexcept;

}  // namespace patchbay

#define PATCHBAY_ASSERT(condition) \
    (static_cast<bool>(condition) ? static_cast<void>(0) : ::patchbay::assertFailed(#condition, __FILE__, __LINE__))

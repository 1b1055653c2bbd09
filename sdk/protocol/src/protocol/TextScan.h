// Scans over text sixteen bytes at a time.
#pragma once

#include <cstddef>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace patchbay::protocol {

/// The first of the characters `a` and `b` in [from, end), or end. Reads up to `readable` (>= end).
inline const char* findEither(const char* from, const char* end, const char* readable, char a, char b) noexcept {
#if defined(__SSE2__)
    const __m128i wantedA = _mm_set1_epi8(a);
    const __m128i wantedB = _mm_set1_epi8(b);
    while (readable - from >= 16 && from < end) {
        const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
        const int found =
            _mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(block, wantedA), _mm_cmpeq_epi8(block, wantedB)));
        if (found != 0) {
            from += __builtin_ctz(static_cast<unsigned>(found));
            return from < end ? from : end;
        }
        from += 16;
    }
    if (from >= end) return end;
#else
    static_cast<void>(readable);
#endif
    while (from < end && *from != a && *from != b) ++from;
    return from;
}

/// True when every byte is below 0x80.
inline bool isAscii(const char* from, const char* end) noexcept {
#if defined(__SSE2__)
    __m128i seen = _mm_setzero_si128();
    for (; end - from >= 16; from += 16) {
        seen = _mm_or_si128(seen, _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    }
    if (_mm_movemask_epi8(seen) != 0) return false;
#endif
    unsigned char rest = 0;
    for (; from < end; ++from) rest = static_cast<unsigned char>(rest | static_cast<unsigned char>(*from));
    return rest < 0x80;
}

/// The first byte in [from, end) that JSON as Java writes it may have to escape: controls, quote, backslash and everything
/// from 0x7F on (where only some characters are). Or end.
inline const char* findEscapable(const char* from, const char* end) noexcept {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(' ');
    const __m128i del = _mm_set1_epi8(0x7F);
    for (; end - from >= 16; from += 16) {
        const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
        // Signed: bytes from 0x80 on are negative and so below the space, too.
        const __m128i low = _mm_or_si128(_mm_cmplt_epi8(block, space), _mm_cmpeq_epi8(block, del));
        const __m128i marks = _mm_or_si128(_mm_cmpeq_epi8(block, quote), _mm_cmpeq_epi8(block, backslash));
        const int found = _mm_movemask_epi8(_mm_or_si128(low, marks));
        if (found != 0) return from + __builtin_ctz(static_cast<unsigned>(found));
    }
#endif
    for (; from < end; ++from) {
        const unsigned char c = static_cast<unsigned char>(*from);
        if (c < 0x20 || c >= 0x7F || c == '"' || c == '\\') return from;
    }
    return end;
}

/// True for well-formed UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF.
[[nodiscard]] bool isUtf8(std::string_view text) noexcept;

}  // namespace patchbay::protocol

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
    while (from < end && *from != a && *from != b)
        ++from;
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
    for (; from < end; ++from)
        rest = static_cast<unsigned char>(rest | static_cast<unsigned char>(*from));
    return rest < 0x80;
}

/// True for what JSON as Java writes it may have to escape: controls, quote, backslash and everything from 0x7F on
/// (where only some characters are).
inline bool isEscapable(char c) noexcept {
    return static_cast<signed char>(c) < 0x20 || c == 0x7F || c == '"' || c == '\\';
}

#if defined(__SSE2__)
/// One bit for each escapable byte. The comparison is signed: bytes from 0x80 on are negative and so below the space.
inline unsigned escapableIn(__m128i block) noexcept {
    const __m128i low =
        _mm_or_si128(_mm_cmplt_epi8(block, _mm_set1_epi8(' ')), _mm_cmpeq_epi8(block, _mm_set1_epi8(0x7F)));
    const __m128i marks =
        _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')), _mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(low, marks)));
}
#endif

/// Copies the text, unless some byte of it is escapable: then false, and text.size() bytes at `to` are unspecified.
/// What is not a multiple of the word is read and written by two overlapping words.
inline bool copyUnlessEscapable(char* to, std::string_view text) noexcept {
    const char* from = text.data();
    std::size_t size = text.size();
#if defined(__SSE2__)
    const auto wide = [](const char* at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at)); };
    const auto half = [](const char* at) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at)); };
    if (size >= 16) {
        const char* const last = from + size - 16;
        unsigned found = 0;
        for (; from < last; from += 16, to += 16) {
            found |= escapableIn(wide(from));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(to), wide(from));
        }
        found |= escapableIn(wide(last));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to - (from - last)), wide(last));
        return found == 0;
    }
    if (size >= 8) {
        const __m128i first = half(from);
        const __m128i last = half(from + size - 8);
        _mm_storel_epi64(reinterpret_cast<__m128i*>(to), first);
        _mm_storel_epi64(reinterpret_cast<__m128i*>(to + size - 8), last);
        return escapableIn(_mm_unpacklo_epi64(first, last)) == 0;
    }
#endif
    bool found = false;
    for (; size > 0; --size) {
        found |= isEscapable(*from);
        *to++ = *from++;
    }
    return !found;
}

/// The first escapable byte in [from, end), or end.
inline const char* findEscapable(const char* from, const char* end) noexcept {
    while (from < end && !isEscapable(*from))
        ++from;
    return from;
}

/// True for well-formed UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF.
[[nodiscard]] bool isUtf8(std::string_view text) noexcept;

}  // namespace patchbay::protocol

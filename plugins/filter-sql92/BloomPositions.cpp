#include "BloomPositions.h"

#include <bit>
#include <cstddef>

namespace patchbay::plugins::filter {

namespace {

constexpr std::uint64_t kFirst = 0x87C37B91114253D5ULL;
constexpr std::uint64_t kSecond = 0x4CF5AD432745937FULL;

/// Up to eight bytes, the first one lowest.
std::uint64_t littleEndian(std::string_view bytes) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size() && i < 8; ++i) value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return value;
}

std::uint64_t mixFirst(std::uint64_t k) noexcept { return std::rotl(k * kFirst, 31) * kSecond; }
std::uint64_t mixSecond(std::uint64_t k) noexcept { return std::rotl(k * kSecond, 33) * kFirst; }

std::uint64_t finish(std::uint64_t h) noexcept {
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCDULL;
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53ULL;
    return h ^ h >> 33;
}

/// The first half of MurmurHash3 for 64-bit machines, seed 0.
std::uint64_t murmur(std::string_view bytes) noexcept {
    const std::uint64_t size = bytes.size();
    std::uint64_t h1 = 0;
    std::uint64_t h2 = 0;
    for (; bytes.size() >= 16; bytes.remove_prefix(16)) {
        h1 ^= mixFirst(littleEndian(bytes.substr(0, 8)));
        h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52DCE729;
        h2 ^= mixSecond(littleEndian(bytes.substr(8, 8)));
        h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495AB5;
    }
    if (bytes.size() > 8) h2 ^= mixSecond(littleEndian(bytes.substr(8)));
    h1 ^= mixFirst(littleEndian(bytes.substr(0, 8)));
    h1 ^= size;
    h2 ^= size;
    h1 += h2;
    h2 += h1;
    return finish(h1) + finish(h2);
}

}  // namespace

BloomPositions bloomPositions(std::string_view name) noexcept {
    const std::uint64_t hash = murmur(name);
    const auto low = static_cast<std::uint32_t>(hash);
    const auto high = static_cast<std::uint32_t>(hash >> 32);
    BloomPositions positions{};
    for (std::uint32_t i = 0; i < positions.size(); ++i) {
        const auto combined = static_cast<std::int32_t>(low + (i + 1) * high);
        positions[i] = (combined < 0 ? ~combined : combined) % kBloomBits;
    }
    return positions;
}

}  // namespace patchbay::plugins::filter

#include "RecordCount.h"

#include <cstddef>

namespace patchbay::plugins::statistics {

std::int64_t countRecords(std::span<const std::string_view> pieces) noexcept {
    std::int64_t records = 0;
    std::size_t skip = 0;      // bytes of the current record that are still to come
    std::uint32_t size = 0;    // as far as it is read
    std::size_t sizeRead = 0;
    for (const std::string_view piece : pieces) {
        std::size_t at = 0;
        while (at < piece.size()) {
            if (skip > 0) {
                const std::size_t step = skip < piece.size() - at ? skip : piece.size() - at;
                skip -= step;
                at += step;
                continue;
            }
            size = (size << 8) | static_cast<std::uint8_t>(piece[at++]);
            if (++sizeRead < 4) continue;
            if (size <= 4 || size > INT32_MAX) return records;
            skip = size - 4;
            size = 0;
            sizeRead = 0;
            ++records;
        }
    }
    return records;
}

}  // namespace patchbay::plugins::statistics

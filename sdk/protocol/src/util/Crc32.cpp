#include "patchbay/protocol/util/Crc32.h"

#include <libdeflate.h>

namespace patchbay::protocol {

std::uint32_t crc32(std::string_view bytes, std::uint32_t soFar) noexcept {
    // libdeflate answers 0 for a null pointer instead of going on from the value so far.
    if (bytes.empty()) return soFar;
    return libdeflate_crc32(soFar, bytes.data(), bytes.size());
}

}  // namespace patchbay::protocol

// Arbitrary bytes as a frame behind its length word.
#include "WireFuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::protocol;
    fuzz::decodeFrame({reinterpret_cast<const char*>(data), size});
    return 0;
}

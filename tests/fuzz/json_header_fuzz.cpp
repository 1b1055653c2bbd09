// Arbitrary bytes as a JSON header.
#include "WireFuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::protocol;
    fuzz::decodeHeader(SerializeType::Json, {reinterpret_cast<const char*>(data), size});
    return 0;
}

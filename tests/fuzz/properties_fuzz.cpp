// Arbitrary text as properties: reading, changing and writing agree with each other. The first byte is a length that
// divides the rest into a name and the text.
#include "patchbay/protocol/message/Properties.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace patchbay::protocol;
    if (size == 0) return 0;
    std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::string_view name = text.substr(0, data[0] % 16);
    text.remove_prefix(name.size());

    const Properties properties(text);
    for (const auto& [key, value] : properties.entries()) {
        require(!key.empty() && !value.empty());
        require(findProperty(text, key) == value);
    }
    require(properties.get(name) == findProperty(text, name));
    require(Properties(properties.encode()).entries() == properties.entries());

    const std::string without = withoutProperty(text, name);
    require(findProperty(without, name).empty());
    require(without.size() <= text.size());

    std::string longer(text);
    appendProperty(longer, "KEYS", "k");
    require(findProperty(longer, "KEYS") == "k");
    return 0;
}

#include "FieldBinding.h"

namespace patchbay::protocol {

bool parseBool(std::string_view text) noexcept {
    if (text == "true") return true;
    if (text.size() != 4) return false;
    constexpr std::string_view kTrue = "true";
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((text[i] | 0x20) != kTrue[i]) return false;
    }
    return true;
}

Status missingField(std::string_view key) {
    return {StatusCode::InvalidArgument, "header field '" + std::string(key) + "' is missing"};
}

Status badNumber(std::string_view key, std::string_view value) {
    constexpr std::size_t kShown = 32;
    std::string shown(value.substr(0, kShown));
    if (value.size() > kShown) shown += "...";
    return {StatusCode::InvalidArgument,
            "header field '" + std::string(key) + "' is '" + shown + "', which is not a number in its range"};
}

}  // namespace patchbay::protocol

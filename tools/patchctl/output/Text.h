// Texts that come from elsewhere, made fit for JSON.
#pragma once

#include "patchbay/protocol/json/Value.h"

#include <string>
#include <string_view>

namespace patchbay::patchctl {

/// The value as RFC 8259 has it: keys that were numbers or objects are strings.
[[nodiscard]] std::string strictJson(const json::Value& value);
/// RFC 4648, with padding.
[[nodiscard]] std::string base64(std::string_view bytes);
/// Whether it is well-formed; surrogates, overlong forms and what is beyond U+10FFFF are not.
[[nodiscard]] bool isUtf8(std::string_view text) noexcept;

}  // namespace patchbay::patchctl

// Configuration as text: what 25, 26, 318 and 319 carry, in the format of Java's Properties.
#pragma once

#include "patchbay/base/Result.h"

#include <map>
#include <string>
#include <string_view>

namespace patchbay::protocol {

using ConfigTable = std::map<std::string, std::string, std::less<>>;

/// Reads as Java's Properties do: "k=v", "k:v" or "k v" a line, # and ! comments, backslash escapes and continued
/// lines; the last of equal keys counts. InvalidArgument for a broken \u escape.
[[nodiscard]] Result<ConfigTable> parseConfigText(std::string_view text);

/// "key=value\n" for each, sorted, without escapes, as RocketMQ answers it.
[[nodiscard]] std::string configText(const ConfigTable& table);

}  // namespace patchbay::protocol

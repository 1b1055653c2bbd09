// Namespaces: a prefix that separates the topics and groups of tenants.
#pragma once

#include <string>
#include <string_view>

namespace patchbay::client {

/// "<ns>%<name>", behind %RETRY% or %DLQ%. System names, an empty namespace and what has the prefix already stay as they are.
[[nodiscard]] std::string withNamespace(std::string_view nameSpace, std::string_view name);
/// The name without the prefix, if it has it.
[[nodiscard]] std::string withoutNamespace(std::string_view nameSpace, std::string_view name);

}  // namespace patchbay::client

// Language: in which language a peer says it is written.
#pragma once

#include <cstdint>
#include <string_view>

namespace patchbay::protocol {

enum class Language : std::uint8_t {
    Java, Cpp, Dotnet, Python, Delphi, Erlang, Ruby, Other, Http, Go, Php, Oms, Rust, NodeJs
};

/// The protocol's name, e.g. "NODE_JS".
[[nodiscard]] std::string_view toString(Language language) noexcept;

/// Other for a name or number nobody knows.
[[nodiscard]] Language languageOf(std::string_view name) noexcept;
[[nodiscard]] Language languageOf(std::int64_t number) noexcept;

}  // namespace patchbay::protocol

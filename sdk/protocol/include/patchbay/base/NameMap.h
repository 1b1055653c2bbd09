// NameMap: a hash table keyed by names, searched without making a string.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace patchbay {

struct NameHash {
    using is_transparent = void;
    // Not noexcept: only then libstdc++ keeps each entry's hash, and a look-up does not hash its neighbours again.
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
};

/// find() and contains() take a std::string_view.
template <typename Value>
using NameMap = std::unordered_map<std::string, Value, NameHash, std::equal_to<>>;

}  // namespace patchbay

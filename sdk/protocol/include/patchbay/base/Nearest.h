// Nearest: which known word somebody probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace patchbay {

/// The word of `known` that needs the fewest edits to become `word`, without regard to case; empty when none is near.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> known);
/// "; did you mean listenPort?", or nothing.
[[nodiscard]] std::string didYouMean(std::string_view word, std::span<const std::string> known);

}  // namespace patchbay

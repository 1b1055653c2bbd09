#include "patchbay/protocol/Language.h"

#include <array>

namespace patchbay::protocol {

namespace {

constexpr std::array<std::string_view, 14> kNames = {"JAVA",   "CPP",  "DOTNET", "PYTHON", "DELPHI",
                                                     "ERLANG", "RUBY", "OTHER",  "HTTP",   "GO",
                                                     "PHP",    "OMS",  "RUST",   "NODE_JS"};

}  // namespace

std::string_view toString(Language language) noexcept {
    const auto number = static_cast<std::size_t>(language);
    return number < kNames.size() ? kNames[number] : kNames[static_cast<std::size_t>(Language::Other)];
}

Language languageOf(std::string_view name) noexcept {
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        if (kNames[i] == name) return static_cast<Language>(i);
    }
    return Language::Other;
}

Language languageOf(std::int64_t number) noexcept {
    return number >= 0 && number < std::int64_t{kNames.size()} ? static_cast<Language>(number) : Language::Other;
}

}  // namespace patchbay::protocol

// Names of the enumerators that describe a consumer, by ordinal.
#pragma once

#include <array>
#include <string_view>

namespace patchbay::protocol {

inline constexpr std::array<std::string_view, 3> kConsumeTypes = {"CONSUME_ACTIVELY", "CONSUME_PASSIVELY",
                                                                  "CONSUME_POP"};
inline constexpr std::array<std::string_view, 2> kMessageModels = {"BROADCASTING", "CLUSTERING"};
inline constexpr std::array<std::string_view, 6> kConsumeFromWheres = {
    "CONSUME_FROM_LAST_OFFSET",  "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST",
    "CONSUME_FROM_MIN_OFFSET",   "CONSUME_FROM_MAX_OFFSET",
    "CONSUME_FROM_FIRST_OFFSET", "CONSUME_FROM_TIMESTAMP"};

}  // namespace patchbay::protocol

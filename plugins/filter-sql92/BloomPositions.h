// BloomPositions: what RocketMQ keeps in consumerFilter.json to find a group's bits in its bitmaps.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace patchbay::plugins::filter {

/// With RocketMQ's defaults (20 % error, 32 groups); a file with other numbers is ignored by RocketMQ as a whole.
inline constexpr std::int32_t kBloomBits = 112;
using BloomPositions = std::array<std::int32_t, 3>;

/// `name` is "group#topic", UTF-8. Patchbay itself keeps no bitmaps.
[[nodiscard]] BloomPositions bloomPositions(std::string_view name) noexcept;

}  // namespace patchbay::plugins::filter

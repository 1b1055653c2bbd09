// countRecords: how many message records a body of pieces holds.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace patchbay::plugins::statistics {

/// Walks from size to size; a size, like a record, may lie across pieces. Reads four bytes a record. Stops at a size that no record
/// can have, so that a body of another kind counts what fits.
[[nodiscard]] std::int64_t countRecords(std::span<const std::string_view> pieces) noexcept;

}  // namespace patchbay::plugins::statistics

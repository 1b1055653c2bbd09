// DataVersion: by which name servers and slaves see that a broker's tables have changed.
#pragma once

#include "patchbay/protocol/json/Body.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::protocol {

/// Two are the same only if all three members are. A value type.
struct DataVersion {
    std::int64_t counter = 0;
    std::int64_t stateVersion = 0;
    std::int64_t timestamp = 0;  ///< wall clock, ms

    /// One step on: the counter grows, the rest is set.
    void next(std::int64_t nowMs, std::int64_t newStateVersion = 0) noexcept {
        ++counter;
        stateVersion = newStateVersion;
        timestamp = nowMs;
    }

    friend bool operator==(const DataVersion&, const DataVersion&) noexcept = default;

    void write(json::Writer& out) const;
    static Result<DataVersion> read(json::Value value);
    [[nodiscard]] std::string toJson() const { return json::encode(*this); }
    static Result<DataVersion> fromJson(std::string_view text) { return json::decode<DataVersion>(text); }
};

}  // namespace patchbay::protocol

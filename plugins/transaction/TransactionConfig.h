// TransactionConfig: the keys of the transaction plugin and their values.
#pragma once

#include "patchbay/plugin/Config.h"

#include <atomic>
#include <cstdint>
#include <span>

namespace patchbay::plugins::transaction {

/// Owned by the plugin; the reloadable values may change under its readers. Any thread.
struct TransactionConfig {
    std::atomic<std::int64_t> timeoutMs{0};      ///< a younger message is not asked about
    std::atomic<std::int64_t> intervalMs{0};     ///< between rounds of questions
    std::atomic<std::int32_t> checksMax{0};      ///< questions before a message is given up
    std::atomic<std::int64_t> reservedMs{0};     ///< older ones are given up before the store drops them; 0 = never
    std::int32_t opBodyBytesMax = 0;

    static std::span<const plugin::ConfigKey> keys() noexcept;
    void load(const plugin::ConfigView& view);
};

}  // namespace patchbay::plugins::transaction

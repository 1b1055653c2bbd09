// StartSummary: the few lines that an operator wants to read when a broker has started.
#pragma once

#include "app/Preparation.h"
#include "patchbay/plugin/Runtime.h"

#include <cstddef>
#include <string>
#include <vector>

namespace patchbay::kernel {

struct SummaryFacts {
    const Preparation& prepared;
    const plugin::BrokerIdentity& identity;
    std::string listening;        ///< "namesrv 0.0.0.0:9876, broker 0.0.0.0:10911"
    std::string advertisedWhy;
    std::size_t openFilesLimit = 0;
    std::uint32_t executors = 0;  ///< how many there are
};

/// Who this is, where it listens, what clients are told, where messages are and how durable, memory, plugins, limits; a line each.
[[nodiscard]] std::vector<std::string> startSummary(const SummaryFacts& facts);

}  // namespace patchbay::kernel

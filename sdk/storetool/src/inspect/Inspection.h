// Inspection: the two halves of what is told about a store: what is wrong in it, and what the next start makes of that.
#pragma once

#include "OverlayFiles.h"
#include "StoreFiles.h"

#include "patchbay/storetool/StoreTool.h"

#include <cstdint>
#include <string_view>

namespace patchbay::storetool {

/// Reads everything and compares it: a line of this kind for each thing that is wrong, and notes. Counts them as `problems`.
Result<CheckReport> compare(const StoreFiles& store, const StoreToolOptions& options, std::string_view kind, const LineSink& out,
                            const ToolWatcher& watcher);

struct NextStart {
    Status refused;          ///< what the start itself would say; Ok: it would come up
    std::int64_t end = 0;    ///< of the log then
    std::int64_t queues = 0;
    std::int64_t mends = 0;  ///< lines about what it cuts, rebuilds or sets aside
};
/// Lets a store start and stop on the disk, over the files that were found.
Result<NextStart> startOn(OverlayFiles& disk, const StoreFiles& found, const StoreToolOptions& options, const LineSink& out);

}  // namespace patchbay::storetool

// EmptyQueues: consume queues without messages whose numbers have to go on.
#pragma once

#include "OrderedReader.h"

#include "patchbay/base/FileSystem.h"

namespace patchbay::storetool {

/// Writes a consume-queue file for each queue whose messages are all gone, so that its next offset stays what it was. The store
/// in `root` is closed and has no files for them.
Status writeEmptyQueues(FileSystem& files, const std::string& root, std::int64_t queueFileBytes,
                        const std::vector<OrderedReader::QueueRange>& queues);

}  // namespace patchbay::storetool

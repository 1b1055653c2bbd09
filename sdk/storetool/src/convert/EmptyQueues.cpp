#include "EmptyQueues.h"

#include "ConsumeQueueUnit.h"
#include "Layout.h"

namespace patchbay::storetool {

namespace {

Status writeQueue(FileSystem& files, const std::string& directory, std::int64_t queueFileBytes, std::int64_t next) {
    const std::int64_t end = next * mmapstore::kUnitBytes;
    const std::int64_t start = (end - mmapstore::kUnitBytes) / queueFileBytes * queueFileBytes;
    std::string units(static_cast<std::size_t>(end - start), '\0');
    for (std::size_t at = 0; at < units.size(); at += static_cast<std::size_t>(mmapstore::kUnitBytes)) {
        mmapstore::storeUnit(units.data() + at, {0, mmapstore::kFillerSize, 0});
    }
    if (Status made = files.makeDirectories(directory); !made) return made;
    auto file = files.open(directory + "/" + mmapstore::fileName(start), OpenMode::Create);
    if (!file) return file.error();
    if (Status sized = (*file)->truncate(static_cast<std::uint64_t>(queueFileBytes)); !sized) return sized;
    if (Status written = (*file)->writeAt(units, 0); !written) return written;
    return (*file)->sync();
}

}  // namespace

Status writeEmptyQueues(FileSystem& files, const std::string& root, std::int64_t queueFileBytes,
                        const std::vector<OrderedReader::QueueRange>& queues) {
    const mmapstore::Layout layout{root, {}};
    for (const auto& queue : queues) {
        if (queue.min != queue.max || queue.max == 0) continue;
        if (Status written = writeQueue(files, layout.queue(queue.topic, queue.queueId), queueFileBytes, queue.max); !written) return written;
    }
    return Status::ok();
}

}  // namespace patchbay::storetool

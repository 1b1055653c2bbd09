// storeInfo: what can be told from names, sizes and a few bytes.
#include "Line.h"
#include "RecordWalk.h"
#include "StoreFiles.h"

#include "Checkpoint.h"

#include "patchbay/base/Clock.h"

#include <set>

namespace patchbay::storetool {

Result<StoreInfo> storeInfo(const StoreToolOptions& options, const LineSink& out) {
    Result<StoreFiles> store = StoreFiles::open(systemFiles(), options);
    if (!store) return store.error();
    StoreInfo info;
    info.minOffset = store->logMin();
    info.logFiles = static_cast<std::int64_t>(store->log().size());
    info.logFileBytes = store->logFileBytes();
    if (!store->log().empty()) info.fileEnd = store->log().back().start + store->log().back().bytes;
    info.abortPresent = store->abortPresent();
    bool garbage = false;
    const auto checkpoint =
        mmapstore::Checkpoint::read(store->files(), store->root() + "/checkpoint", systemClock().wallMs(), garbage);
    if (!checkpoint) return checkpoint.error();
    info.checkpointLogMs = checkpoint->logTime;
    info.checkpointQueueMs = checkpoint->queueTime;
    info.checkpointIndexMs = checkpoint->indexTime;
    const Result<std::vector<QueueFolder>> queues = store->queues();
    if (!queues) return queues.error();
    std::set<std::string_view> topics;
    for (const QueueFolder& queue : *queues) topics.insert(queue.topic);
    info.topics = static_cast<std::int64_t>(topics.size());
    info.queues = static_cast<std::int64_t>(queues->size());
    const Result<std::vector<std::string>> indexes = store->indexFiles();
    if (!indexes) return indexes.error();
    info.indexFiles = static_cast<std::int64_t>(indexes->size());
    RecordWalk walk(*store, 0);
    const Result<RecordWalk::Step> first = walk.next();
    if (!first) return first.error();
    if (*first == RecordWalk::Step::Record) info.firstStoreMs = walk.record().storeTimestamp;
    Line line(options.json, "store");
    line.add("directory", options.directory).add("lastStop", info.abortPresent ? "crash" : "clean");
    line.add("minOffset", info.minOffset).add("fileEnd", info.fileEnd).add("logFiles", info.logFiles);
    line.add("logFileBytes", info.logFileBytes).add("firstMessage", timeText(info.firstStoreMs));
    line.add("topics", info.topics).add("queues", info.queues).add("indexFiles", info.indexFiles);
    line.add("checkpoint", garbage ? "garbage" : "read").add("checkpointLog", timeText(info.checkpointLogMs));
    line.add("checkpointQueues", timeText(info.checkpointQueueMs)).add("checkpointIndex", timeText(info.checkpointIndexMs));
    if (Status written = std::move(line).to(out); !written) return written;
    return info;
}

}  // namespace patchbay::storetool

// AppendWork: one batch on its way from append() to its readers.
#pragma once

#include "ConsumeQueue.h"

#include "patchbay/base/Clock.h"
#include "patchbay/service/MessageStore.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace patchbay::mmapstore {

/// Encoded records, where they go, and what has to be told to whom. Reused, so that a batch allocates nothing.
/// Needs nothing of the batch but done(): the views in `records` point into `bytes` and to the names of queues in `runs`.
struct AppendWork {
    /// A part of `bytes` that lies in one file.
    struct Chunk {
        std::int64_t position;
        std::size_t from;
        std::size_t to;
    };
    /// Neighbours in `records` that belong to one queue. A message in several queues has a record for each, one after the other.
    struct Run {
        Ref<ConsumeQueue> queue;
        std::size_t from;
        std::size_t to;
        std::int64_t end;  ///< offset behind the last message
    };

    service::AppendBatch* batch = nullptr;  ///< null once it was answered
    std::unique_ptr<char[]> bytes;
    std::size_t capacity = 0;
    std::size_t size = 0;
    std::vector<Chunk> chunks;
    std::vector<service::AppendedRecord> records;
    std::vector<Run> runs;
    std::int64_t end = 0;        ///< of the log behind this batch
    std::int64_t storeTime = 0;
    std::int64_t messages = 0;
    MonotonicTime deadline{};

    void clear() noexcept {
        batch = nullptr;
        size = 0;
        messages = 0;
        chunks.clear();
        records.clear();
        runs.clear();
    }
    /// Room for `needed` bytes; what was there is lost.
    void reserve(std::size_t needed) {
        if (needed <= capacity) return;
        bytes = std::make_unique_for_overwrite<char[]>(needed);
        capacity = needed;
    }
};

}  // namespace patchbay::mmapstore

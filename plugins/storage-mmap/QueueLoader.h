// QueueLoader: looks at the files of all queues after a start, before somebody has to wait for it.
#pragma once

#include "ConsumeQueueTable.h"

#include <atomic>
#include <thread>

namespace patchbay::mmapstore {

/// Purpose: reading and sending never wait for the files of a queue, but for those that come within the first moments.
/// Owned by the store. One thread, which ends when it is through; none when every queue is loaded.
/// Failure: a queue that cannot be loaded is left to whoever uses it first.
class QueueLoader {
public:
    explicit QueueLoader(const ConsumeQueueTable& queues) noexcept : queues_(queues) {}
    ~QueueLoader() { stop(); }

    void start();
    /// Not all of them need to be loaded then.
    void stop() noexcept;

private:
    const ConsumeQueueTable& queues_;
    std::atomic<bool> stopping_{false};
    std::thread thread_;
};

}  // namespace patchbay::mmapstore

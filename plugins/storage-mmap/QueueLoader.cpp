#include "QueueLoader.h"

#include <pthread.h>

namespace patchbay::mmapstore {

void QueueLoader::start() {
    stopping_ = false;
    if (!queues_.anyUnloaded()) return;
    thread_ = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "mmap-load");
        for (const Ref<ConsumeQueue>& queue : queues_.all()) {
            if (stopping_) return;
            (void)queue->load();
        }
    });
}

void QueueLoader::stop() noexcept {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
}

}  // namespace patchbay::mmapstore

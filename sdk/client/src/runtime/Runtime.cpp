#include "runtime/Runtime.h"

#include <pthread.h>

namespace patchbay::client {

namespace {

// Four chunks of this size at most are kept by a busy loop, one by an idle one.
constexpr std::size_t kChunkBytes = 128U << 10;

net::LoopOptions loopOptions() {
    net::LoopOptions options;
    options.chunkBytes = kChunkBytes;
    return options;
}

}  // namespace

Runtime& Runtime::process() {
    // Never destroyed: see the class.
    static auto* const runtime = new Runtime(systemClock(), true);
    return *runtime;
}

Runtime::Runtime(const Clock& clock, bool ownThread)
    : clock_(clock), loop_(0, clock, loopOptions(), net::makeEpollPoller()), callbacks_("pb-callback", 1),
      resolver_("pb-resolve", 1) {
    if (!ownThread) return;
    thread_ = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "pb-client");
        loop_.run();
    });
}

Runtime::~Runtime() {
    resolver_.stop(true);
    callbacks_.stop(true);
    if (!thread_.joinable()) return;
    loop_.stop();
    thread_.join();
}

}  // namespace patchbay::client

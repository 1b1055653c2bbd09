// SendBack: one message on its way back into the store.
#pragma once

#include "patchbay/plugin/Request.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/TrafficStats.h"

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>

namespace patchbay::plugins::retry {

/// Counts what is on its way. Owned by the processor, outlives all appends. Thread-safe.
class SendBacksInFlight {
public:
    void begin();
    void end() noexcept;
    /// Returns once nothing is on its way; nothing may begin meanwhile.
    void awaitNone() noexcept;

private:
    std::mutex mutex_;
    std::condition_variable none_;
    std::size_t count_ = 0;  // guarded by mutex_
};

/// A single append that answers its request. Made by the processor, which gives it to the store; destroys itself in done().
class SendBack final : public service::AppendBatch {
public:
    explicit SendBack(SendBacksInFlight& inFlight) : inFlight_(inFlight) {}
    void done() noexcept override;

    plugin::Request request;
    Slice record;            ///< the message that comes back; views of the item point into it
    std::string topic;
    std::string properties;
    service::TrafficStats* traffic = nullptr;   ///< may be null
    std::string statsKey;                       ///< topic@group of what came back

private:
    SendBacksInFlight& inFlight_;
};

}  // namespace patchbay::plugins::retry

// Processor: code that serves request codes; and how it is bound to them.
#pragma once

#include "patchbay/base/Status.h"
#include "patchbay/plugin/Request.h"
#include "patchbay/protocol/RequestCode.h"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace patchbay::plugin {

/// Serves the codes it is bound to. Owned by its plugin; outlives its bindings.
class Processor {
public:
    virtual ~Processor();
    /// Owns the request: respond now, keep it and respond later, or hand it on. Runs on the loop when bound loop-safe, else
    /// on the binding's executor; several lanes at once. An exception that leaves it is answered with SYSTEM_ERROR.
    virtual void process(Request request) = 0;
    /// After the last process() of one turn of a lane: the place to do once what a batch of requests shares (one write for
    /// many messages). Called on every lane that had calls of process() since.
    virtual void endOfBatch(Lane lane) noexcept;
    /// Asked on the loop before a request is queued or run. Busy is answered with [REJECTREQUEST]. Must be cheap.
    [[nodiscard]] virtual bool admits(const protocol::CommandView& command) noexcept;
};

/// A named pool of threads with a bounded queue. Two bindings that name the same executor share it (first spec wins, sizes
/// come from the plugin's configuration).
struct ExecutorSpec {
    std::string name;                                   ///< thread names are x-<name>-N
    std::uint32_t threads = 1;
    std::uint32_t queueCapacity = 10'000;               ///< beyond it: SYSTEM_BUSY [OVERLOAD]
    std::chrono::milliseconds maxQueueWait{0};          ///< longer in the queue: SYSTEM_BUSY [TIMEOUT_CLEAN_QUEUE]; 0 = never
};

struct BindOptions {
    std::string_view listener = "broker";
    /// process() never blocks for long: it runs on the I/O loop itself. The executor then serves only defer()red requests.
    bool loopSafe = false;
    ExecutorSpec executor;                              ///< may be empty for loop-safe processors that never defer
};

/// Where a plugin binds its processors, in init(). Offered by the kernel.
class Processors {
public:
    virtual ~Processors();
    /// AlreadyExists names both plugins when a code is bound twice on one listener.
    virtual Status bind(std::span<const protocol::RequestCode> codes, Processor& processor, const BindOptions& options) = 0;
};

}  // namespace patchbay::plugin

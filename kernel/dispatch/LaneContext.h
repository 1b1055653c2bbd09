// LaneContext: what one thread that runs processors remembers between and during calls.
#pragma once

#include "dispatch/RouteTable.h"
#include "dispatch/ServerRequest.h"
#include "patchbay/net/EventLoop.h"

#include <atomic>
#include <cstdint>
#include <vector>

namespace patchbay::kernel {

class Dispatcher;

/// One for each lane, used by its thread only. On a loop it also is the turn listener that ends batches and runs requests that
/// were handed back.
class LaneContext final : public net::TurnListener {
public:
    LaneContext(plugin::Lane number, Dispatcher* dispatcher) noexcept : lane(number), dispatcher_(dispatcher) {}

    /// The lane whose processor runs on this thread now, or null.
    [[nodiscard]] static LaneContext* current() noexcept;
    /// Sets current(); answers what it was.
    static LaneContext* exchangeCurrent(LaneContext* other) noexcept;

    /// Remembers that the processor was called since the last endBatch().
    void called(const Binding& binding);
    /// Calls endOfBatch() once for each processor that was called.
    void endBatch() noexcept;
    void handBack(ServerRequest& request) noexcept;
    bool endOfTurn() noexcept override;

    const plugin::Lane lane;
    Ref<RouteTable> table;         ///< loops only: what was current at `epoch`
    std::uint64_t epoch = 0;
    Generation* caller = nullptr;        ///< whose process() is on the stack; held by `called_`
    ServerRequest* running = nullptr;    ///< its process() is on the stack
    ServerRequest* thrown = nullptr;     ///< was dropped by an exception that is still on its way
    std::uint64_t entered = 0;           ///< requests of this turn, not yet in the counter
    std::atomic<std::size_t> active{0};  ///< loops only, written by the loop: entered and not finished

private:
    static constexpr int kRoundsMax = 16;  // of handed-back requests in one turn

    struct Called {
        plugin::Processor* processor;
        Ref<Generation> generation;      // endOfBatch() comes after the requests may have gone
    };
    Dispatcher* const dispatcher_;
    std::vector<Called> called_;
    std::vector<Called> ending_;
    ServerRequest* firstBack_ = nullptr;
    ServerRequest* lastBack_ = nullptr;
};

}  // namespace patchbay::kernel

// LaneContext: what one thread that runs processors remembers between and during calls.
#pragma once

#include "dispatch/RouteTable.h"
#include "dispatch/ServerRequest.h"
#include "patchbay/net/EventLoop.h"

#include <atomic>
#include <cstdint>
#include <utility>
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
    /// `other` stands for the request from now on: if it is the one that runs on this thread, the lane is to know it.
    static void replaceRunning(const plugin::RequestCore& one, const plugin::RequestCore& other) noexcept;

    /// Remembers that the processor was called since the last endBatch().
    void called(const Binding& binding);
    /// Calls endOfBatch() once for each processor that was called.
    void endBatch() noexcept;
    void handBack(ServerRequest& request) noexcept;
    /// Keeps a request until its code has a processor again; in the order of arrival.
    void hold(ServerRequest& request) noexcept;
    /// When the oldest of them came; `now` when there is none.
    [[nodiscard]] MonotonicTime heldSince(MonotonicTime now) const noexcept;
    /// The requests that were held, linked; none are left.
    [[nodiscard]] ServerRequest* takeHeld() noexcept;
    /// Of those, the ones that have waited since `since` or longer; the others stay.
    [[nodiscard]] ServerRequest* takeHeldBefore(MonotonicTime since) noexcept;
    /// A request that came in this turn has been answered; how long it took is known when the turn ends.
    void endedInTurn(RequestCell& cell);
    bool endOfTurn() noexcept override;

    const plugin::Lane lane;
    Ref<RouteTable> table;         ///< loops only: what was current at `epoch`
    std::uint64_t epoch = 0;
    Generation* caller = nullptr;        ///< whose process() is on the stack; held by `called_`
    const plugin::RequestCore* running = nullptr;   ///< its process() is on the stack
    ServerRequest* thrown = nullptr;     ///< was dropped by an exception that is still on its way
    std::uint64_t entered = 0;           ///< requests of this turn, not yet in the counter
    std::atomic<std::size_t> active{0};  ///< loops only, written by the loop: entered and not finished
    std::atomic<std::size_t> heldCount{0};   ///< the same: of those, held by hold()
    std::size_t heldBytes = 0;
    bool holdTimer = false;              ///< somebody looks after held requests
    int timedTurns = 0;                  ///< so many turns measure every call, because one held up the loop

private:
    static constexpr int kRoundsMax = 16;  // of handed-back requests in one turn

    void runBatch() noexcept;
    void endTurn() noexcept;

    struct Called {
        plugin::Processor* processor;
        Ref<Generation> generation;      // endOfBatch() comes after the requests may have gone
    };
    Dispatcher* const dispatcher_;
    std::vector<Called> called_;
    std::vector<Called> ending_;
    std::vector<std::pair<RequestCell*, std::uint64_t>> ended_;   // in this turn, with how many
    ServerRequest* firstBack_ = nullptr;
    ServerRequest* lastBack_ = nullptr;
    ServerRequest* firstHeld_ = nullptr;
    ServerRequest* lastHeld_ = nullptr;
};

}  // namespace patchbay::kernel

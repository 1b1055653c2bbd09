// Dispatcher: takes a decoded request to its processor and its answer back.
#pragma once

#include "dispatch/Executors.h"
#include "dispatch/LaneContext.h"
#include "dispatch/RouteTable.h"
#include "dispatch/ServerRequest.h"
#include "metrics/RequestMetrics.h"
#include "patchbay/net/EventLoopPool.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Runtime.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace patchbay::kernel {

/// How many requests wait, and for how long, while the plugins that serve them are exchanged. Of all loops together.
struct HoldLimits {
    std::size_t requests = 20'000;
    std::size_t bytes = 64U << 20;
    std::chrono::milliseconds wait{2'000};
};

/// How much may wait for connections that do not take their answers, all together.
struct HeldBackLimits {
    std::size_t requests = 20'000;
    std::size_t bytes = 64U << 20;
};

/// Requests enter on their connection's loop, take the current route table and a lease on the generation in one step, and run
/// on the loop or on the binding's executor. One object for the process; outlives loops and executors' work.
/// Nothing here fails: whatever goes wrong with a request is answered with RocketMQ's code and text, or closes its connection.
class Dispatcher final : private InterceptorFault {
public:
    Dispatcher(net::EventLoopPool& loops, Executors& executors, const Clock& clock, plugin::Logger& log,
               plugin::Metrics& metrics);
    ~Dispatcher();

    /// Before the loops start. A turn that takes longer than `slowCall` is a plugin's fault; 0 = never.
    void limit(const HoldLimits& hold, const HeldBackLimits& heldBack, std::chrono::milliseconds slowCall);
    /// Before the loops start, for the text of refusals. Kept as a reference.
    void nameListeners(const std::vector<std::string>& names) noexcept { listenerNames_ = &names; }
    /// Any thread. Requests that arrive from now on use `table`, and held ones go on by it; loops that are idle let go of the old one
    /// soon.
    void publish(Ref<RouteTable> table);
    /// From now on no request reaches a plugin, handed-back ones included: peers newer than 5.3.1 are told to go away (1500),
    /// the others that the broker is busy. Any thread.
    void refuse() noexcept { refusing_.store(true, std::memory_order_release); }
    /// Requests that have entered and not left; held ones count. Any thread; a snapshot.
    [[nodiscard]] std::size_t active() const noexcept;
    /// Of those, the ones that wait for a plugin to be exchanged.
    [[nodiscard]] std::size_t held() const noexcept;
    /// Whether a plugin serves the code, or will in a moment, because it is being exchanged. Any thread.
    [[nodiscard]] bool serves(ListenerIndex listener, std::int32_t code) const;
    [[nodiscard]] RequestMetrics& observed() noexcept { return observed_; }

    /// A fresh request for the connection on this loop thread; fill `command` and pass it to enter(), or drop() it.
    [[nodiscard]] ServerRequest& fresh(RequestOrigin& origin, net::ReceiveChunk& chunk);
    void drop(ServerRequest& request) noexcept;
    void enter(ServerRequest& request) noexcept;
    /// On its loop: a request that its origin had held back goes on in the next turn.
    void release(ServerRequest& request) noexcept;
    /// On its loop: nobody is left to answer a request that its origin had held back.
    void forget(ServerRequest& request) noexcept;

private:
    friend class ServerRequest;
    friend class LaneContext;
    friend class ParkedRequest;
    friend class BoundedExecutor;

    void interceptorFailed(const std::string& plugin, std::int32_t code, const std::string& error) const noexcept override;
    static void misused() noexcept;

    /// Interceptors, then route().
    void admit(ServerRequest& request) noexcept;
    void route(ServerRequest& request) noexcept;
    /// Of a request that was handed back or held.
    void again(ServerRequest& request) noexcept { request.admitted_ ? route(request) : admit(request); }
    void hold(ServerRequest& request) noexcept;
    void release(LaneContext& lane) noexcept;
    void holdTooLong(LaneContext& lane) noexcept;
    [[nodiscard]] std::int64_t turnTook(plugin::Lane lane) const noexcept;
    [[nodiscard]] bool isSlow(std::int64_t us) const noexcept { return slowUs_ > 0 && us >= slowUs_; }
    void turnWasSlow(LaneContext& lane, std::int64_t us, const std::vector<const Generation*>& callers) noexcept;
    void heldUp(const Generation& by, std::int32_t code, std::int64_t us) noexcept;
    void runProcessor(ServerRequest& request, LaneContext& lane) noexcept;
    void enqueue(ServerRequest& request) noexcept;
    /// On an executor: the answer would add to what its origin does not take, so the request waits at its origin.
    void holdBack(ServerRequest& request) noexcept;
    void heldBack(ServerRequest& request) noexcept;
    void noLongerHeldBack(const ServerRequest& request) noexcept;
    static void armExpiry(BoundedExecutor& executor, net::EventLoop& loop, std::chrono::milliseconds delay);
    /// Answers without a processor.
    void reject(ServerRequest& request, protocol::ResponseCode code, std::string remark) noexcept;
    void answerOnLoop(ServerRequest& request, plugin::Response& response) noexcept;
    void answerElsewhere(ServerRequest& request, plugin::Response& response) noexcept;
    void writeEncoded(ServerRequest& request) noexcept;
    /// Runs the interceptors of the phase and appends the head of the frame; replaces an answer that is too large.
    void encode(ServerRequest& request, plugin::Response& response, protocol::ByteWriter& to) noexcept;
    void finish(ServerRequest& request) noexcept;
    /// Forgets what the request was; back to the loop's pool, when this is its thread.
    void recycle(ServerRequest& request, const net::EventLoop& loop) noexcept;
    void dropped(ServerRequest& request) noexcept;
    [[nodiscard]] Ref<RouteTable> table() const;
    /// RocketMQ's text, and where else the code is served when this process has a port for administration.
    [[nodiscard]] std::string unsupported(const RouteTable& table, ListenerIndex listener, std::int32_t code) const;
    RouteTable& tableOf(LaneContext& lane) noexcept;

    net::EventLoopPool& loops_;
    const std::vector<std::string>* listenerNames_ = nullptr;
    Executors& executors_;
    const Clock& clock_;
    plugin::Logger& log_;
    plugin::Counter& requests_;
    plugin::Counter& overload_;
    plugin::Counter& bugs_;
    mutable RequestMetrics observed_;
    HoldLimits hold_;
    HeldBackLimits heldBackLimits_;
    std::int64_t slowUs_ = 0;

    std::atomic<std::size_t> heldBackCount_{0};
    std::atomic<std::size_t> heldBackBytes_{0};
    std::atomic<bool> refusing_{false};
    std::atomic<bool> intercepting_{false};  // the current table has interceptors
    std::atomic<std::uint64_t> epoch_{1};    // of table_
    mutable std::mutex mutex_;
    Ref<RouteTable> table_;            // guarded by mutex_

    std::vector<std::unique_ptr<LaneContext>> lanes_;   // of the loops
    std::vector<std::unique_ptr<RequestPool>> pools_;   // of the loops
};

}  // namespace patchbay::kernel

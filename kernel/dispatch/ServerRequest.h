// ServerRequest: the kernel's side of plugin::Request.
#pragma once

#include "dispatch/RouteTable.h"
#include "patchbay/net/EventLoop.h"
#include "patchbay/plugin/Request.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace patchbay::kernel {

class Dispatcher;
class ServerRequest;
struct RequestCell;

/// Where a request came from, as the dispatcher sees a connection. The functions are for its loop's thread but for requestLeft().
class RequestOrigin : public plugin::Peer {
public:
    RequestOrigin(net::EventLoop& loop, ListenerIndex listener) noexcept : originLoop(loop), listenerIndex(listener) {}
    /// Where to append an encoded answer, or null when the connection is closed.
    virtual protocol::ByteWriter* output() noexcept = 0;
    virtual void addOutput(std::string_view piece, KeepAlive keep) = 0;
    virtual void outputDone() noexcept = 0;
    /// A request that counted as in flight does so no more: answered, or detached to wait for long. Any thread.
    virtual void requestLeft() noexcept = 0;
    /// Too much waits to be sent there already: no further answer should be made now. Any thread.
    [[nodiscard]] virtual bool isCrowded() const noexcept = 0;
    /// So many bytes of an answer that was made elsewhere are on their way (any thread), and have been written.
    virtual void promise(std::size_t bytes) noexcept = 0;
    virtual void arrived(std::size_t bytes) noexcept = 0;
    /// Keeps a request that was held back, and gives it to Dispatcher::release() when there is room, or to forget() at its end.
    virtual void holdBack(ServerRequest& request) noexcept = 0;
    /// A request that it had kept and released has left, or comes back. Any thread.
    virtual void releasedLeft() noexcept = 0;

    net::EventLoop& originLoop;
    const ListenerIndex listenerIndex;
};

/// Requests that are not in use, of one loop: they are taken and end there.
class RequestPool {
public:
    RequestPool() = default;
    ~RequestPool();
    RequestPool(const RequestPool&) = delete;
    RequestPool& operator=(const RequestPool&) = delete;
    [[nodiscard]] ServerRequest* take(Dispatcher& dispatcher);
    void giveBack(ServerRequest* request) noexcept;

private:
    static constexpr std::size_t kIdleMax = 1024;
    std::vector<ServerRequest*> idle_;
};

/// Pooled. It is owned by whoever has the duty to answer: a Request, an executor's queue, or its loop while it is posted there.
/// Interceptors and processors see it as plugin::RequestCore.
class ServerRequest final : public plugin::RequestCore, private net::LoopTask {
public:
    explicit ServerRequest(Dispatcher& dispatcher) noexcept : dispatcher_(dispatcher) { command = &view; }

    void answer(plugin::Response& response) noexcept override;
    void abandon() noexcept override;
    void redispatch() noexcept override;
    void defer() noexcept override;
    plugin::RequestCore* detach() noexcept override;

    [[nodiscard]] RequestOrigin& origin() const noexcept { return static_cast<RequestOrigin&>(*peer); }

    protocol::CommandView view;   ///< what `command` points to

private:
    friend class Dispatcher;
    friend class RequestPool;
    friend class BoundedExecutor;
    friend class LaneContext;
    friend class ParkedRequest;
    friend class RequestList;

    enum class Posted : std::uint8_t { Answer, Redispatch, HoldBack };
    void run() noexcept override;
    /// The process is ending: nobody is left to answer to, and the pool may be gone.
    void discard() noexcept override { delete this; }

    Dispatcher& dispatcher_;
    void leaveFlight() noexcept;

    /// Header and body, as they count in a queue.
    [[nodiscard]] std::size_t frameBytes() const noexcept { return view.header().size() + view.body.size(); }

    Binding binding_;                          // with its lease on the generation, from route() to finish()
    RequestCell* cell_ = nullptr;              // where it counts, from its first route() on
    KeepAlive chunk_;                          // what `view` points into
    std::unique_ptr<char[]> texts_;            // the same after it was parked
    ServerRequest* next_ = nullptr;            // in a queue or a lane's list
    MonotonicTime queuedAt_{};
    Posted posted_ = Posted::Answer;
    bool inFlight_ = false;
    bool admitted_ = false;                    // interceptors have let it pass
    bool released_ = false;                    // was held back, and its origin waits to hear that it has left
    protocol::ResponseCode answered_{};        // code of its answer
    std::int64_t queueWaitUs_ = -1;            // on an executor; -1 = it was on none
    // An answer that was encoded off the loop and waits for it.
    protocol::ByteWriter encoded_;
    std::vector<std::string_view> pieces_;
    std::vector<KeepAlive> keep_;
    std::size_t promised_ = 0;                 // its bytes
};

/// Requests in the order in which they came. Owns none. One thread at a time.
class RequestList {
public:
    [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
    void add(ServerRequest& request) noexcept;
    [[nodiscard]] ServerRequest& takeFirst() noexcept;

private:
    ServerRequest* first_ = nullptr;
    ServerRequest* last_ = nullptr;
};

}  // namespace patchbay::kernel

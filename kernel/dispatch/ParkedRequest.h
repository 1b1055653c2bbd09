// ParkedRequest: a request that was detached, to wait for long.
#pragma once

#include "dispatch/ServerRequest.h"
#include "patchbay/protocol/PackedCommand.h"

#include <cstdint>

namespace patchbay::kernel {

/// Stands for a ServerRequest while a plugin keeps it: only what it takes to go on, because there may be a hundred thousand. Whatever
/// ends the wait makes a ServerRequest of it again, on the connection's loop if it is to be routed.
/// Owned by the plugin's Request, or by its loop while it is posted there. One thread at a time.
class ParkedRequest final : public plugin::RequestCore, private net::LoopTask {
public:
    /// Takes everything over that `from` has and its wait needs; `from` is to be recycled.
    explicit ParkedRequest(ServerRequest& from);

    void answer(plugin::Response& response) noexcept override { resume().answer(response); }
    void abandon() noexcept override { resume().abandon(); }
    void redispatch() noexcept override;
    void defer() noexcept override { resume().defer(); }
    plugin::RequestCore* detach() noexcept override { return this; }

private:
    /// Consumes it.
    ServerRequest& resume() noexcept;
    void run() noexcept override;
    void discard() noexcept override { delete this; }

    Dispatcher& dispatcher_;
    Binding binding_;
    RequestCell* cell_;
    std::int64_t queueWaitUs_;
    protocol::PackedCommand packed_;
    bool admitted_;
};

}  // namespace patchbay::kernel

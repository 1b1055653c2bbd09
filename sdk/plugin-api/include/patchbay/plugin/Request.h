// Request: the duty to answer one frame.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/Slice.h"
#include "patchbay/plugin/Peer.h"
#include "patchbay/plugin/Response.h"
#include "patchbay/protocol/CommandView.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace patchbay::plugin {

/// Number of a thread that runs processors: every I/O loop and every executor thread has one, from 0 to laneCount()-1.
/// Calls on one lane never overlap, so a processor may keep state per lane without a lock.
using Lane = std::uint32_t;

/// The kernel's side of a request. Plugins use Request; this is public only so that its accessors are inline.
class RequestCore {
public:
    virtual void answer(Response& response) noexcept = 0;   ///< consumes the core
    virtual void abandon() noexcept = 0;                    ///< consumes the core: answered with an error, counted
    virtual void redispatch() noexcept = 0;                 ///< consumes the core
    virtual void defer() noexcept = 0;                      ///< consumes the core
    virtual RequestCore* detach() noexcept = 0;             ///< consumes the core; answers what stands for the request now

    const protocol::CommandView* command = nullptr;         ///< null while detached; interceptors always find one
    Ref<Peer> peer;
    MonotonicTime received{};
    Lane lane = 0;
    bool again = false;     ///< came back by redispatch() or defer()
    bool deferred = false;  ///< runs on the binding's executor because defer() asked for it

protected:
    ~RequestCore() = default;
};

/// Told of a plugin that answers, hands back or defers a request which it does not have any more. Set by the kernel; null: ignored.
using MisuseHandler = void (*)() noexcept;
void onRequestMisuse(MisuseHandler handler) noexcept;
void requestMisused() noexcept;

/// Owns the duty to answer. Move-only; may be handed to any thread, used by one at a time.
/// respond() answers at most once and consumes it; if the connection is gone, nothing happens. Destroying an unanswered
/// request answers SYSTEM_ERROR (nothing for a one-way request) and counts a bug, so that no request is lost silently. A second
/// answer reaches nobody and is counted as well.
/// To answer later, move it into a container and return: see Suspended.h.
class Request {
public:
    Request() noexcept = default;
    explicit Request(RequestCore* core) noexcept : core_(core) {}
    Request(Request&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
    Request& operator=(Request&& other) noexcept { Request(std::move(other)).swap(*this); return *this; }
    ~Request() { if (core_ != nullptr) core_->abandon(); }
    void swap(Request& other) noexcept { std::swap(core_, other.core_); }
    explicit operator bool() const noexcept { return core_ != nullptr; }

    /// Header fields and body, views into the receive buffer; valid as long as the request, or until detach(): from then on
    /// neither may be asked for until process() sees the request again.
    [[nodiscard]] const protocol::CommandView& command() const noexcept { return *core_->command; }
    [[nodiscard]] std::string_view body() const noexcept { return core_->command->body; }
    [[nodiscard]] Peer& peer() const noexcept { return *core_->peer; }
    [[nodiscard]] Ref<Peer> sharePeer() const noexcept { return core_->peer; }
    /// When its last byte arrived.
    [[nodiscard]] MonotonicTime received() const noexcept { return core_->received; }
    /// The lane on which process() was called; meaningful only there.
    [[nodiscard]] Lane lane() const noexcept { return core_->lane; }
    /// True when process() sees it for another time (after redispatch() or defer()).
    [[nodiscard]] bool again() const noexcept { return core_->again; }
    /// True on the binding's executor, where blocking is allowed.
    [[nodiscard]] bool deferred() const noexcept { return core_->deferred; }

    void respond(Response response) && noexcept {
        if (auto* core = take()) core->answer(response);
    }
    void respond(protocol::ResponseCode code, std::string remark = {}) && noexcept {
        std::move(*this).respond(Response(code, std::move(remark)));
    }
    /// Sends it through the current route table again, on its connection's loop: how a held request is woken, and how it
    /// moves to a new generation of its plugin.
    void redispatch() && noexcept {
        if (auto* core = take()) core->redispatch();
    }
    /// Asks for process() again on the binding's executor, because the answer may have to wait for the disk.
    void defer() && noexcept {
        if (auto* core = take()) core->defer();
    }
    /// Lets go of the receive buffer, drops the body and packs the header away, until the request is handed back. Call before keeping a
    /// request for long, so that it costs some 300 bytes and not a whole buffer. Does nothing when done already.
    void detach() noexcept { core_ = core_->detach(); }

private:
    RequestCore* take() noexcept {
        if (core_ == nullptr) [[unlikely]] requestMisused();
        return std::exchange(core_, nullptr);
    }

    RequestCore* core_ = nullptr;
};

}  // namespace patchbay::plugin

// Poller: how a loop learns which descriptors are ready; a seam, so that a simulated loop needs no sockets.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace patchbay::net {

enum Readiness : std::uint32_t {
    kReadable = 1,
    kWritable = 2,
    kHungUp = 4,   ///< the peer ended its sending side, or both
    kFailed = 8,   ///< reading or writing will say why
};

/// Told on its loop's thread when its descriptor is ready. It may be told once more in the turn in which it was removed,
/// so it has to outlive the turn (EventLoop::releaseAfterTurn).
class Pollable {
public:
    virtual void ready(std::uint32_t readiness) noexcept = 0;

protected:
    ~Pollable() = default;
};

struct ReadyEvent {
    Pollable* who;            ///< null for wake()
    std::uint32_t readiness;
};

/// Level-triggered readiness of descriptors. Owned by one loop and used on its thread, except wake(), which any thread may
/// call. Failures of the system that only a bug or an exhausted machine can cause abort or are reported by the return value.
class Poller {
public:
    virtual ~Poller() = default;
    /// False when the system refuses (no memory, too many watches).
    virtual bool add(int fd, std::uint32_t interest, Pollable& who) noexcept = 0;
    virtual void change(int fd, std::uint32_t interest, Pollable& who) noexcept = 0;
    virtual void remove(int fd) noexcept = 0;
    /// Waits up to `timeoutMs` (-1: for ever) and fills `events`; answers how many.
    virtual std::size_t wait(std::span<ReadyEvent> events, int timeoutMs) noexcept = 0;
    /// Makes the current or the next wait() return at once.
    virtual void wake() noexcept = 0;
};

/// epoll and an eventfd.
[[nodiscard]] std::unique_ptr<Poller> makeEpollPoller();

}  // namespace patchbay::net

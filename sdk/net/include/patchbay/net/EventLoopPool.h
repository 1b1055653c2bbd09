// EventLoopPool: the I/O threads of a process.
#pragma once

#include "patchbay/net/EventLoop.h"

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace patchbay::net {

/// 1 on machines with up to two cores, where a second loop only takes time from the first and from the peers; else half of the
/// cores, at most 4.
[[nodiscard]] std::uint32_t defaultLoopCount() noexcept;

/// Loops, and threads named <prefix>-N that run them. Used by one thread (start, stop), the loops by any as they allow.
class EventLoopPool {
public:
    EventLoopPool(std::uint32_t loops, const Clock& clock, const LoopOptions& options, std::string threadPrefix = "io");
    ~EventLoopPool();  ///< stops
    void start();
    /// Ends and joins all threads; connections that are left are not touched any more.
    void stop() noexcept;

    [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(loops_.size()); }
    [[nodiscard]] EventLoop& loop(std::uint32_t index) noexcept { return *loops_[index]; }
    /// Runs `task` on every loop and waits until all have done it. Not on a loop's thread, only while started.
    void onEach(const std::function<void(EventLoop&)>& task);

private:
    const std::string prefix_;
    std::vector<std::unique_ptr<EventLoop>> loops_;
    std::vector<std::thread> threads_;
};

}  // namespace patchbay::net

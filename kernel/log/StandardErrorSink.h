// StandardErrorSink: lines to standard error that never wait for whoever should read them.
#pragma once

#include <atomic>
#include <cstddef>
#include <spdlog/details/null_mutex.h>
#include <spdlog/sinks/base_sink.h>

namespace patchbay::kernel {

/// A pipe that nobody reads fills up, and a write to it would wait for ever. Before each write the descriptor is asked; a line that finds
/// no room within the patience given is lost and counted. The writing thread alone uses it.
class StandardErrorSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
public:
    explicit StandardErrorSink(int fd) : fd_(fd) {}
    /// Lines that found no room. Any thread.
    [[nodiscard]] std::size_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }
    /// From here on nothing is waited for: the process is ending.
    void hurry() noexcept { hurry_.store(true, std::memory_order_relaxed); }

protected:
    void sink_it_(const spdlog::details::log_msg& message) override;
    void flush_() override {}

private:
    [[nodiscard]] bool roomWithin(int ms) const noexcept;

    const int fd_;
    std::atomic<std::size_t> lost_{0};
    std::atomic<bool> hurry_{false};
    bool stuck_ = false;    // the last line found no room, so that the next one does not wait either
    bool broken_ = false;   // a line was cut; the next one begins on a new line
};

}  // namespace patchbay::kernel

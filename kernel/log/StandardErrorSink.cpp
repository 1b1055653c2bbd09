#include "log/StandardErrorSink.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <poll.h>
#include <unistd.h>

namespace patchbay::kernel {

namespace {

constexpr int kPatienceMs = 200;

}  // namespace

bool StandardErrorSink::roomWithin(int ms) const noexcept {
    pollfd fd{fd_, POLLOUT, 0};
    return ::poll(&fd, 1, ms) > 0 && (fd.revents & POLLOUT) != 0;
}

void StandardErrorSink::sink_it_(const spdlog::details::log_msg& message) {
    spdlog::memory_buf_t formatted;
    if (broken_) formatted.push_back('\n');
    formatter_->format(message, formatted);
    // A pipe that has room at all has it for so much at once.
    for (std::size_t done = 0; done < formatted.size();) {
        const bool wait = !stuck_ && !hurry_.load(std::memory_order_relaxed);
        const auto piece = std::min(formatted.size() - done, std::size_t{PIPE_BUF});
        const auto count = roomWithin(wait ? kPatienceMs : 0) ? ::write(fd_, formatted.data() + done, piece) : -1;
        if (count < 0 && errno == EINTR) continue;
        stuck_ = count <= 0;
        if (stuck_) {
            broken_ = broken_ || done > 0;
            lost_.fetch_add(1, std::memory_order_relaxed);
            return;
        }
        broken_ = false;
        done += static_cast<std::size_t>(count);
    }
}

}  // namespace patchbay::kernel

#include "Windows.h"

namespace patchbay::plugins::statistics {

namespace {

constexpr std::uint64_t kTicksPerTenMinutes = 60;
constexpr std::uint64_t kTicksPerHour = 360;

}  // namespace

void Window::take(const Sample& now) {
    if (samples_.empty()) samples_.push_back({now.wallMs - distanceMs_, 0, 0});
    samples_.push_back(now);
    if (samples_.size() > kept_) samples_.erase(samples_.begin());
}

service::TrafficStats::Window Window::figures() const noexcept {
    service::TrafficStats::Window window;
    if (samples_.empty()) return window;
    const Sample& first = samples_.front();
    const Sample& last = samples_.back();
    const std::int64_t calls = last.calls - first.calls;
    const std::int64_t over = last.wallMs - first.wallMs;
    window.sum = last.sum - first.sum;
    // A clock that was set back makes no time of it; RocketMQ would tell a negative rate.
    if (over > 0) window.tps = static_cast<double>(window.sum) * 1000.0 / static_cast<double>(over);
    if (calls > 0) window.avgpt = static_cast<double>(window.sum) / static_cast<double>(calls);
    return window;
}

void Windows::take(const Sample& now, std::uint64_t tick) {
    minute_.take(now);
    if (tick % kTicksPerTenMinutes == 0) hour_.take(now);
    if (tick % kTicksPerHour == 0) day_.take(now);
}

}  // namespace patchbay::plugins::statistics

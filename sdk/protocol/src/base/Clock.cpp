#include "patchbay/base/Clock.h"

namespace patchbay {

namespace {

class SystemClock final : public Clock {
public:
    [[nodiscard]] MonotonicTime now() const noexcept override { return std::chrono::steady_clock::now(); }
    [[nodiscard]] std::int64_t wallMs() const noexcept override {
        const auto sinceEpoch = std::chrono::system_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::milliseconds>(sinceEpoch).count();
    }
};

/// Keeps its value from being destroyed: threads that end with the process ask for the time after the last static destructor.
union Immortal {
    constexpr Immortal() noexcept : clock() {}
    ~Immortal() {}
    SystemClock clock;
};

// Constant-initialised: usable before main.
constinit Immortal processClock;

}  // namespace

void Clock::wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, MonotonicTime until) const {
    changed.wait_for(lock, until - now());
}

const Clock& systemClock() noexcept {
    return processClock.clock;
}

}  // namespace patchbay

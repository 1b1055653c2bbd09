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

// Constant-initialised and stateless: usable before main and after the last static destructor.
constinit const SystemClock processClock{};

}  // namespace

const Clock& systemClock() noexcept {
    return processClock;
}

}  // namespace patchbay

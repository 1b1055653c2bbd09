// FaultTable: which brokers were slow or failed, and until when they are left out.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/protocol/RemotingCommand.h"

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

/// Any thread. A time that a broker is left out for is never shortened.
class FaultTable {
public:
    explicit FaultTable(const Clock& clock) noexcept : clock_(clock) {}

    /// `isolate`: count it as a latency of 10 s. `reachable`: false until a probe says otherwise.
    void note(const std::string& broker, std::chrono::milliseconds latency, bool isolate, bool reachable);
    [[nodiscard]] bool isAvailable(std::string_view broker) const;
    [[nodiscard]] bool isReachable(std::string_view broker) const;
    [[nodiscard]] std::vector<std::string> unreachable() const;
    void reached(const std::string& broker);

    /// How long a broker with that latency is left out.
    [[nodiscard]] static std::chrono::milliseconds pauseFor(std::chrono::milliseconds latency) noexcept;

private:
    struct Entry {
        MonotonicTime until;
        bool reachable = true;
    };
    const Clock& clock_;
    mutable std::mutex mutex_;
    std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace patchbay::client

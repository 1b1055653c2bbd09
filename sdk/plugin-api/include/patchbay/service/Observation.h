// Observation: what the kernel counts for every plugin without its help.
#pragma once

#include "patchbay/plugin/Services.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::service {

/// Times in fixed steps. counts[i] is how many took at most kBoundsUs[i] and more than the bound before; the last one is the rest.
struct TimeHistogram {
    static constexpr std::array<std::int64_t, 12> kBoundsUs{50,     100,     250,     1'000,     2'500,     10'000,
                                                            25'000, 100'000, 250'000, 1'000'000, 5'000'000, 30'000'000};
    std::array<std::uint64_t, kBoundsUs.size() + 1> counts{};
    std::uint64_t sumUs = 0;
};

/// One request code of one listener at one plugin; older generations count with the present one.
struct RequestStats {
    std::string listener;
    std::string plugin;
    std::int32_t code = 0;
    std::uint64_t calls = 0;          ///< requests that were routed to it
    std::uint64_t answered = 0;       ///< of those, ended; the others are being served, queued or held
    std::uint64_t errors = 0;         ///< answered with SYSTEM_ERROR
    std::uint64_t busy = 0;           ///< answered with SYSTEM_BUSY: by it, or because its queue was full
    TimeHistogram latency;            ///< from the last byte of the request to its answer; held time counts
    TimeHistogram wait;               ///< in an executor's queue
    std::uint64_t queued = 0;         ///< in an executor's queue now
};

struct ExecutorStats {
    std::string name;
    std::uint32_t threads = 0;
    std::uint32_t queueCapacity = 0;
    std::uint64_t queueBytesMax = 0;
    std::int64_t maxQueueWaitMs = 0;  ///< 0 = no limit
    std::uint64_t queued = 0;
    std::uint64_t queuedBytes = 0;
    std::uint64_t refusedFull = 0;
    std::uint64_t refusedLate = 0;
    std::int64_t headWaitMs = 0;      ///< how long the oldest request in the queue has waited
};

/// What a plugin did wrong, since the process began.
struct PluginFaults {
    std::string plugin;
    std::uint64_t exceptions = 0;     ///< left process(), an interceptor or a task
    std::uint64_t dropped = 0;        ///< requests destroyed without an answer
    std::uint64_t twice = 0;          ///< answers to a request that had one
    std::uint64_t oversize = 0;       ///< answers too large for a frame
    std::uint64_t undeliverable = 0;  ///< answers to a client that had gone: no fault
    std::uint64_t slowCalls = 0;      ///< turns of an I/O loop that it held up
};

struct ProcessStats {
    std::int64_t startedWallMs = 0;
    std::uint64_t connections = 0;
    std::uint64_t activeRequests = 0;
    std::uint64_t heldRequests = 0;   ///< by the kernel, while plugins are exchanged
    std::uint64_t logLinesDropped = 0;
    bool serving = false;             ///< clients may come
};

/// Provided by the kernel. Thread-safe; a snapshot costs some microseconds for each code that was ever asked for.
class Observation {
public:
    static constexpr plugin::ServiceId kId{"patchbay.Observation", 1};
    virtual ~Observation();
    [[nodiscard]] virtual std::vector<RequestStats> requests() const = 0;
    [[nodiscard]] virtual std::vector<ExecutorStats> executors() const = 0;
    [[nodiscard]] virtual std::vector<PluginFaults> faults() const = 0;
    [[nodiscard]] virtual ProcessStats process() const = 0;
    /// Whether somebody serves that request code; a plugin that is being exchanged counts. Nothing when the process has no such listener.
    [[nodiscard]] virtual std::optional<bool> serves(std::string_view listener, std::int32_t code) const = 0;
};

}  // namespace patchbay::service

// InterceptorChain: the interceptors of one listener, phase by phase.
#pragma once

#include "dispatch/Generation.h"
#include "patchbay/plugin/Interceptor.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace patchbay::kernel {

struct RegisteredInterceptor {
    plugin::Phase phase;
    std::int32_t order;
    plugin::Interceptor* interceptor;
    Ref<Generation> generation;
};

/// Immutable once in a RouteTable. Interceptors that throw are logged and count as a denial before the processor, as no opinion
/// afterwards.
class InterceptorChain {
public:
    /// Keeps the order of the contract: lower order first, ties by the plugin's name.
    void add(RegisteredInterceptor entry);
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] bool has(plugin::Phase phase) const noexcept { return !phases_[index(phase)].empty(); }

    /// Received to Trace: NoOpinion to go on, else the first Answer or Close.
    [[nodiscard]] plugin::Verdict admit(const plugin::RequestCore& core) const;
    void responding(const plugin::RequestCore& core, plugin::Response& response) const noexcept;
    void completed(const plugin::RequestCore& core) const noexcept;

private:
    static constexpr std::size_t kPhases = static_cast<std::size_t>(plugin::Phase::Completed) + 1;
    static constexpr std::size_t index(plugin::Phase phase) noexcept { return static_cast<std::size_t>(phase); }

    std::array<std::vector<RegisteredInterceptor>, kPhases> phases_;
    std::size_t size_ = 0;
};

}  // namespace patchbay::kernel

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

/// Told of an interceptor's plugin that threw, with the code of the request and the exception's text.
class InterceptorFault {
public:
    virtual void interceptorFailed(const std::string& plugin, std::int32_t code, const std::string& error) const noexcept = 0;

protected:
    ~InterceptorFault() = default;
};

/// Immutable once in a RouteTable. An interceptor that throws is logged; before the processor that refuses the request, afterwards
/// it is as if it had no opinion.
class InterceptorChain {
public:
    /// Keeps the order of the contract: lower order first, ties by the plugin's name.
    void add(RegisteredInterceptor entry);
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    /// Received to Trace: NoOpinion to go on, else the first Answer or Close. Continue counts in Authorize only.
    [[nodiscard]] plugin::Verdict admit(const plugin::RequestCore& core, const InterceptorFault& failed) const;
    void responding(const plugin::RequestCore& core, plugin::Response& response, const InterceptorFault& failed) const noexcept;
    void completed(const plugin::RequestCore& core, const InterceptorFault& failed) const noexcept;

private:
    static constexpr std::size_t kPhases = static_cast<std::size_t>(plugin::Phase::Completed) + 1;
    static constexpr std::size_t index(plugin::Phase phase) noexcept { return static_cast<std::size_t>(phase); }

    std::array<std::vector<RegisteredInterceptor>, kPhases> phases_;
    std::size_t size_ = 0;
};

}  // namespace patchbay::kernel

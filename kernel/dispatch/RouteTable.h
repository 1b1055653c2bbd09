// RouteTable: which processor serves which request code, and which interceptors see it, on every listener.
#pragma once

#include "dispatch/Generation.h"
#include "dispatch/InterceptorChain.h"
#include "patchbay/base/Result.h"
#include "patchbay/base/Slice.h"
#include "patchbay/plugin/Processor.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::kernel {

class BoundedExecutor;
class Registrations;
class RequestCells;

/// Number of a listener, from 0 in the order in which the process's listeners were declared.
using ListenerIndex = std::uint32_t;

/// One processor with how it is to be run, for one code.
struct Binding {
    plugin::Processor* processor = nullptr;   ///< null while what serves the code is being exchanged: requests are held
    BoundedExecutor* executor = nullptr;      ///< null for loop-safe processors that never defer
    RequestCells* cells = nullptr;            ///< set when the table is published
    bool loopSafe = false;
    Ref<Generation> generation;
};

/// Immutable once built; published by Dispatcher::publish(), kept by the loops that use it. It holds a reference to every
/// generation in it.
class RouteTable final : public RefCounted {
public:
    /// From what the generations registered. Bindings were checked for doubles when they were made (Registrations::bind).
    /// Requests for the codes of `held` wait until another table is published, and so do all requests of a listener on which these
    /// had interceptors: nobody gets by unseen. `held` are not referred to afterwards.
    static Ref<RouteTable> build(std::size_t listeners, std::span<const Registrations* const> registered,
                                 std::span<const Registrations* const> held = {});
    /// Calls `each` with listener, code and binding; before the table is published.
    void forEach(const std::function<void(ListenerIndex, std::int32_t, Binding&)>& each);

    [[nodiscard]] const Binding* find(ListenerIndex listener, std::int32_t code) const noexcept {
        if (listener >= listeners_.size()) [[unlikely]] return nullptr;
        const auto& codes = listeners_[listener];
        if (const auto index = static_cast<std::uint32_t>(code); index < kDense) [[likely]] return codes.dense[index];
        return findSparse(codes, code);
    }
    /// Null when the listener has no interceptors.
    [[nodiscard]] const InterceptorChain* chain(ListenerIndex listener) const noexcept {
        if (listener >= listeners_.size() || listeners_[listener].chain.empty()) return nullptr;
        return &listeners_[listener].chain;
    }
    /// True when requests of the listener wait before any interceptor has seen them.
    [[nodiscard]] bool holdsAll(ListenerIndex listener) const noexcept {
        return listener < listeners_.size() && listeners_[listener].holdsAll;
    }
    [[nodiscard]] bool intercepts() const noexcept;

private:
    static constexpr std::uint32_t kDense = 1024;  // the protocol's classic codes; the others are few and found by search

    struct Codes {
        std::array<const Binding*, kDense> dense{};
        std::vector<std::pair<std::int32_t, const Binding*>> sparse;  // sorted
        InterceptorChain chain;
        bool holdsAll = false;
    };
    struct Place {
        ListenerIndex listener;
        std::int32_t code;
        std::unique_ptr<Binding> binding;
    };
    void put(ListenerIndex listener, std::int32_t code, Binding binding);
    static const Binding* findSparse(const Codes& codes, std::int32_t code) noexcept;

    std::vector<Codes> listeners_;
    std::vector<Place> places_;
};

}  // namespace patchbay::kernel

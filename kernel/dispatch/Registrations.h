// Registrations: what one generation of a plugin binds in its init(), before any of it is in force.
#pragma once

#include "dispatch/Generation.h"
#include "dispatch/RouteTable.h"
#include "patchbay/plugin/Interceptor.h"
#include "patchbay/plugin/Processor.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::kernel {

class Executors;

/// The plugin host makes one for each generation, lends it as PluginContext::processors() and interceptors(), and puts those
/// that shall be in force together into RouteTable::build(). Used on the control thread. Lives as long as the generation.
class Registrations final : public plugin::Processors, public plugin::Interceptors {
public:
    /// `listeners`: names of the process's listeners by ListenerIndex. `others`: the registrations that will share a table with
    /// this one (not those of the generation that it replaces).
    Registrations(Ref<Generation> generation, Executors& executors, std::vector<std::string> listeners,
                  std::vector<const Registrations*> others);

    /// NotFound for a listener that this process does not have; AlreadyExists, naming both plugins, for a code that is taken;
    /// OutOfRange when the executor needs more threads than are left; InvalidArgument for a processor that is neither loop-safe
    /// nor has an executor, for one of Patchbay's own codes, and for one that binary headers, which have 16 bits, do not tell from another. Nothing is bound after a failure.
    Status bind(std::span<const protocol::RequestCode> codes, plugin::Processor& processor,
                const plugin::BindOptions& options) override;
    /// Interceptors of the broker's listener also see requests of the one for administration.
    Status add(std::string_view listener, plugin::Phase phase, std::int32_t order, plugin::Interceptor& interceptor) override;

    [[nodiscard]] const Generation& generation() const noexcept { return *generation_; }
    /// From here on it does not count as a user of its generation, whose owner keeps that alive as long as this.
    void ownedElsewhere() noexcept { held_.reset(); }
    /// Number of bound codes on all listeners.
    [[nodiscard]] std::size_t codeCount() const noexcept;
    /// Listener and code of each binding.
    [[nodiscard]] std::vector<std::pair<std::string, std::int32_t>> codes() const;

private:
    friend class RouteTable;

    // Without the generation: RouteTable::build() adds it.
    struct Entry {
        ListenerIndex listener;
        std::vector<std::int32_t> codes;
        Binding binding;
    };
    struct Interception {
        ListenerIndex listener;
        RegisteredInterceptor entry;
    };
    [[nodiscard]] Result<ListenerIndex> indexOf(std::string_view listener) const;
    /// AlreadyExists or InvalidArgument when somebody, or `mine`, has the code or one that a binary header does not tell from it.
    [[nodiscard]] Status checkFree(ListenerIndex listener, std::int32_t code, const std::vector<std::int32_t>& mine) const;
    /// The code itself, or one that looks like it in 16 bits, if it is bound here.
    [[nodiscard]] std::optional<std::int32_t> like(ListenerIndex listener, std::int32_t code) const noexcept;

    Generation* const generation_;
    Ref<Generation> held_;
    Executors& executors_;
    const std::vector<std::string> listeners_;
    const std::vector<const Registrations*> others_;
    std::vector<Entry> entries_;
    std::vector<Interception> interceptions_;
};

}  // namespace patchbay::kernel

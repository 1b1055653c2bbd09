// Generation: one loaded instance of a plugin, as requests and route tables hold on to it.
#pragma once

#include "patchbay/plugin/Services.h"

#include <cstdint>
#include <string>
#include <utility>

namespace patchbay::kernel {

/// Counts everything that may still call into one generation of a plugin: route tables, requests, borrowed services. The plugin
/// host keeps one reference, takes the generation out of the route table, and drains until idle(). Thread-safe.
class Generation final : public plugin::Lease {
public:
    Generation(std::string plugin, std::uint32_t number) : plugin_(std::move(plugin)), number_(number) {}
    [[nodiscard]] const std::string& plugin() const noexcept { return plugin_; }
    /// 1 for the first, growing with each reload.
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    /// True when only the caller's reference is left, so that nothing can reach the plugin any more. Final once no published
    /// table holds it, because new references come only from tables.
    [[nodiscard]] bool idle() const noexcept { return unique(); }

private:
    const std::string plugin_;
    const std::uint32_t number_;
};

}  // namespace patchbay::kernel

// Generation: one loaded instance of a plugin, as requests and route tables hold on to it.
#pragma once

#include "patchbay/plugin/Services.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

namespace patchbay::kernel {

/// Counts everything that may still call into one generation of a plugin: references are route tables and requests, borrowed services
/// are counted apart. The plugin host keeps one reference, takes the generation out of the route table, and drains until idle().
/// Thread-safe.
class Generation final : public plugin::Lease {
public:
    Generation(std::string plugin, std::uint32_t number) : plugin_(std::move(plugin)), number_(number) {}
    [[nodiscard]] const std::string& plugin() const noexcept { return plugin_; }
    /// 1 for the first, growing with each reload.
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    /// True when only the caller's reference is left: no request and no table. Final once no published table holds it, because new
    /// references come only from tables.
    [[nodiscard]] bool quiet() const noexcept { return unique(); }
    /// True when nobody has borrowed its services either, so that nothing can reach the plugin any more.
    [[nodiscard]] bool idle() const noexcept { return leases_.load(std::memory_order_acquire) == 0 && unique(); }
    void borrowed() noexcept { leases_.fetch_add(1, std::memory_order_relaxed); }
    void returned() noexcept { leases_.fetch_sub(1, std::memory_order_release); }

private:
    std::atomic<std::uint32_t> leases_{0};
    const std::string plugin_;
    const std::uint32_t number_;
};

}  // namespace patchbay::kernel

// Filters: the MessageFilter service: expressions to programs, and a record of who uses them.
#pragma once

#include "FilterConfig.h"
#include "FilterTable.h"
#include "Program.h"

#include "patchbay/base/NameMap.h"
#include "patchbay/plugin/Runtime.h"
#include "patchbay/service/MessageFilter.h"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string_view>

namespace patchbay::plugins::filter {

/// Owned by the plugin from init() to its destruction. Any thread. A program is compiled once for all that have the same expression
/// and goes when nobody uses it and its place is needed.
class Filters final : public service::MessageFilter {
public:
    Filters(const FilterConfig& config, FilterTable& table, plugin::Logger& log, plugin::Counter& refused)
        : config_(config), table_(table), log_(log), refused_(refused), enabled_(config.enabled) {}

    void enable(bool on) noexcept { enabled_.store(on, std::memory_order_relaxed); }

    service::FilterVerdict compile(std::string_view type, std::string_view expression) override;
    void subscribed(std::string_view group, std::span<const protocol::SubscriptionData> subscriptions) override;

private:
    [[nodiscard]] Ref<service::PropertyFilter> cached(std::string_view expression) const;
    void keep(std::string_view expression, const Ref<Program>& program);

    const FilterConfig config_;
    FilterTable& table_;
    plugin::Logger& log_;
    plugin::Counter& refused_;
    std::atomic<bool> enabled_;

    mutable std::shared_mutex mutex_;
    NameMap<Ref<Program>> programs_;   // guarded by mutex_
};

}  // namespace patchbay::plugins::filter

#include "metrics/Registry.h"

#include <vector>

namespace patchbay::kernel {

plugin::Counter& MetricsRegistry::counter(std::string_view name, std::string_view help) {
    const std::lock_guard lock(mutex_);
    auto found = entries_.find(name);
    if (found == entries_.end()) {
        found = entries_.emplace(std::string(name), std::make_unique<Entry>()).first;
        found->second->help = help;
    }
    return found->second->counter;
}

void MetricsRegistry::visit(const std::function<void(std::string_view, std::string_view, std::uint64_t)>& each) const {
    std::vector<std::pair<std::string_view, const Entry*>> list;
    {
        const std::lock_guard lock(mutex_);
        list.reserve(entries_.size());
        for (const auto& [name, entry] : entries_) list.emplace_back(name, entry.get());
    }
    for (const auto& [name, entry] : list) each(name, entry->help, entry->counter.value());
}

}  // namespace patchbay::kernel

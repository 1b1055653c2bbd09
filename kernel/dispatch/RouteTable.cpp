#include "dispatch/RouteTable.h"

#include "dispatch/Registrations.h"

#include <algorithm>

namespace patchbay::kernel {

Ref<RouteTable> RouteTable::build(std::size_t listeners, std::span<const Registrations* const> registered) {
    auto table = Ref<RouteTable>::adopt(new RouteTable);
    table->listeners_.resize(listeners);
    for (const auto* one : registered) {
        for (const auto& entry : one->entries_) {
            const auto* binding = table->bindings_.emplace_back(std::make_unique<Binding>(entry.binding)).get();
            auto& codes = table->listeners_[entry.listener];
            for (const auto code : entry.codes) {
                if (const auto index = static_cast<std::uint32_t>(code); index < kDense) {
                    codes.dense[index] = binding;
                } else {
                    codes.sparse.emplace_back(code, binding);
                }
            }
        }
        for (const auto& interception : one->interceptions_) {
            table->listeners_[interception.listener].chain.add(interception.entry);
        }
    }
    for (auto& codes : table->listeners_) {
        std::sort(codes.sparse.begin(), codes.sparse.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    }
    return table;
}

const Binding* RouteTable::findSparse(const Codes& codes, std::int32_t code) noexcept {
    const auto found = std::lower_bound(codes.sparse.begin(), codes.sparse.end(), code,
                                        [](const auto& entry, std::int32_t wanted) { return entry.first < wanted; });
    return found != codes.sparse.end() && found->first == code ? found->second : nullptr;
}

bool RouteTable::intercepts() const noexcept {
    return std::any_of(listeners_.begin(), listeners_.end(), [](const Codes& codes) { return !codes.chain.empty(); });
}

}  // namespace patchbay::kernel

#include "dispatch/RouteTable.h"

#include "dispatch/Registrations.h"

#include <algorithm>
#include <utility>

namespace patchbay::kernel {

void RouteTable::put(ListenerIndex listener, std::int32_t code, Binding binding) {
    const auto* placed = places_.emplace_back(Place{listener, code, std::make_unique<Binding>(std::move(binding))}).binding.get();
    auto& codes = listeners_[listener];
    if (const auto index = static_cast<std::uint32_t>(code); index < kDense) {
        codes.dense[index] = placed;
    } else {
        codes.sparse.emplace_back(code, placed);
    }
}

Ref<RouteTable> RouteTable::build(std::size_t listeners, std::span<const Registrations* const> registered,
                                  std::span<const Registrations* const> held) {
    auto table = Ref<RouteTable>::adopt(new RouteTable);
    table->listeners_.resize(listeners);
    for (const auto* one : registered) {
        for (const auto& entry : one->entries_) {
            auto binding = entry.binding;
            binding.generation = Ref<Generation>::share(one->generation_);
            for (const auto code : entry.codes) table->put(entry.listener, code, binding);
        }
        for (const auto& interception : one->interceptions_) {
            auto entry = interception.entry;
            entry.generation = Ref<Generation>::share(one->generation_);
            table->listeners_[interception.listener].chain.add(std::move(entry));
        }
    }
    for (const auto* one : held) {
        for (const auto& entry : one->entries_) {
            for (const auto code : entry.codes) table->put(entry.listener, code, {});
        }
        for (const auto& interception : one->interceptions_) table->listeners_[interception.listener].holdsAll = true;
    }
    for (auto& codes : table->listeners_) {
        std::sort(codes.sparse.begin(), codes.sparse.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    }
    return table;
}

void RouteTable::forEach(const std::function<void(ListenerIndex, std::int32_t, Binding&)>& each) {
    for (auto& place : places_) each(place.listener, place.code, *place.binding);
}

const Binding* RouteTable::findSparse(const Codes& codes, std::int32_t code) noexcept {
    const auto found = std::lower_bound(codes.sparse.begin(), codes.sparse.end(), code,
                                        [](const auto& entry, std::int32_t wanted) { return entry.first < wanted; });
    return found != codes.sparse.end() && found->first == code ? found->second : nullptr;
}

bool RouteTable::intercepts() const noexcept {
    return std::any_of(listeners_.begin(), listeners_.end(), [](const Codes& codes) { return !codes.chain.empty() || codes.holdsAll; });
}

}  // namespace patchbay::kernel

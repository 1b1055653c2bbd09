#include "Stamps.h"

#include "patchbay/protocol/message/Properties.h"

#include <functional>

namespace patchbay::plugins::sqlite {

namespace {

/// True when the text divides between two properties there.
bool dividesAt(std::string_view properties, std::size_t at) noexcept {
    return at == 0 || properties[at - 1] == protocol::kPropertyEnd || properties[at] == protocol::kPropertyEnd;
}

}  // namespace

const Stamp* Stamps::find(std::string_view storeHost, std::string_view properties) const noexcept {
    for (const Stamp& stamp : stamps_) {
        if (!properties.ends_with(stamp.properties) || stamp.storeHost != storeHost) continue;
        if (dividesAt(properties, properties.size() - stamp.properties.size())) return &stamp;
    }
    return nullptr;
}

bool Stamps::isWorth(std::string_view storeHost, std::string_view ending, std::int64_t transaction) noexcept {
    if (ending.empty() || stamps_.size() >= kMax) return false;
    const std::size_t hash = std::hash<std::string_view>()(ending) * 31 + std::hash<std::string_view>()(storeHost);
    Candidate& candidate = candidates_[hash % candidates_.size()];
    if (candidate.hash == hash && candidate.transaction >= 0) return candidate.transaction != transaction;
    candidate = {hash, transaction};
    return false;
}

const Stamp& Stamps::add(std::int64_t id, std::string_view storeHost, std::string_view properties) {
    return stamps_.emplace_back(Stamp{id, std::string(storeHost), std::string(properties)});
}

}  // namespace patchbay::plugins::sqlite

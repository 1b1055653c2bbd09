#include "Allocation.h"

#include <algorithm>

namespace patchbay::plugins::rebalance {

namespace {

std::size_t indexOf(const std::vector<std::string>& clientIds, const std::string& clientId) noexcept {
    return static_cast<std::size_t>(std::ranges::find(clientIds, clientId) - clientIds.begin());
}

/// Contiguous blocks; the first members have one more when it does not come out even.
Queues averagely(const Queues& queues, std::size_t members, std::size_t index) {
    const std::size_t each = queues.size() / members;
    const std::size_t more = queues.size() % members;
    const std::size_t begin = index * each + std::min(index, more);
    const std::size_t count = each + (index < more ? 1 : 0);
    const auto first = queues.begin() + static_cast<std::ptrdiff_t>(begin);
    return {first, first + static_cast<std::ptrdiff_t>(count)};
}

Queues byCircle(const Queues& queues, std::size_t members, std::size_t index) {
    Queues share;
    for (std::size_t i = index; i < queues.size(); i += members) share.push_back(queues[i]);
    return share;
}

Queues allocateAt(Strategy strategy, const Queues& queues, std::size_t members, std::size_t index) {
    return strategy == Strategy::Averagely ? averagely(queues, members, index) : byCircle(queues, members, index);
}

}  // namespace

std::optional<Strategy> strategyOf(std::string_view name) noexcept {
    if (name == "AVG") return Strategy::Averagely;
    if (name == "AVG_BY_CIRCLE") return Strategy::ByCircle;
    return std::nullopt;
}

Queues allocate(Strategy strategy, const Queues& queues, const std::vector<std::string>& clientIds, const std::string& clientId) {
    const std::size_t index = indexOf(clientIds, clientId);
    return index == clientIds.size() ? Queues{} : allocateAt(strategy, queues, clientIds.size(), index);
}

Queues allocateForPop(Strategy strategy, const Queues& queues, const std::vector<std::string>& clientIds, const std::string& clientId,
                      std::int32_t shared) {
    const std::size_t members = clientIds.size();
    if (shared <= 0 || static_cast<std::size_t>(shared) + 1 >= members) {
        Queues all = queues;
        for (auto& queue : all) queue.queueId = -1;
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }
    std::size_t index = indexOf(clientIds, clientId);
    if (index == members) return {};
    if (members > queues.size()) return {queues[index % queues.size()]};
    Queues share = allocateAt(strategy, queues, members, index);
    for (std::int32_t i = 0; i < shared; ++i) {
        index = (index + 1) % members;
        const Queues next = allocateAt(strategy, queues, members, index);
        share.insert(share.end(), next.begin(), next.end());
    }
    return share;
}

}  // namespace patchbay::plugins::rebalance

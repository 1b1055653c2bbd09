// QueueTable: all queues by name.
#pragma once

#include "TailCache.h"

#include <functional>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace patchbay::plugins::sqlite {

/// Owned by the store. Looking up is thread-safe and shared; the writer alone changes it.
class QueueTable {
public:
    /// Null when there is no such queue.
    [[nodiscard]] Ref<QueueState> find(std::string_view topic, std::int32_t queueId) const;
    void add(Ref<QueueState> queue);
    /// Takes all queues of a topic out.
    std::vector<Ref<QueueState>> removeTopic(std::string_view topic);
    [[nodiscard]] std::vector<Ref<QueueState>> all() const;
    [[nodiscard]] std::size_t size() const;

private:
    struct Name {
        std::string_view topic;  // lies in the QueueState
        std::int32_t queueId;
        friend bool operator==(const Name&, const Name&) = default;
    };
    struct Hash {
        std::size_t operator()(const Name& name) const noexcept {
            return std::hash<std::string_view>()(name.topic) * 31 + static_cast<std::size_t>(name.queueId);
        }
    };
    mutable std::shared_mutex mutex_;
    std::unordered_map<Name, Ref<QueueState>, Hash> queues_;
};

}  // namespace patchbay::plugins::sqlite

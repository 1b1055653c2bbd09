// ConsumerOffsets: how far each group has consumed each queue.
#pragma once

#include "patchbay/base/Status.h"
#include "patchbay/plugin/Services.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::service {

/// Thread-safe. Commits are kept in memory and persisted every flushConsumerOffsetInterval and at stop.
class ConsumerOffsets {
public:
    static constexpr plugin::ServiceId kId{"patchbay.ConsumerOffsets", 1};
    virtual ~ConsumerOffsets();

    /// The committed offset; -1 when there is none.
    [[nodiscard]] virtual std::int64_t query(std::string_view group, std::string_view topic, std::int32_t queueId) const noexcept = 0;
    /// Last writer wins; a move backwards is counted and logged. `client` is for the log.
    virtual void commit(std::string_view client, std::string_view group, std::string_view topic, std::int32_t queueId,
                        std::int64_t offset) = 0;
    /// Offset of the last pull, for lag figures; memory only.
    virtual void commitPull(std::string_view group, std::string_view topic, std::int32_t queueId, std::int64_t offset) = 0;
    [[nodiscard]] virtual std::int64_t queryPull(std::string_view group, std::string_view topic, std::int32_t queueId) const noexcept = 0;

    /// An offset that the next pull of the queue is told to go on from, then forgotten (server-side reset).
    virtual void assignReset(std::string_view group, std::string_view topic, std::int32_t queueId, std::int64_t offset) = 0;
    [[nodiscard]] virtual std::optional<std::int64_t> takeReset(std::string_view group, std::string_view topic, std::int32_t queueId) noexcept = 0;

    [[nodiscard]] virtual std::map<std::int32_t, std::int64_t> queues(std::string_view group, std::string_view topic) const = 0;
    [[nodiscard]] virtual std::vector<std::string> topicsOf(std::string_view group) const = 0;
    [[nodiscard]] virtual std::vector<std::string> groupsOf(std::string_view topic) const = 0;
    virtual void removeGroup(std::string_view group) = 0;
    virtual void removeTopic(std::string_view topic) = 0;
    virtual void clone(std::string_view fromGroup, std::string_view toGroup, std::string_view topic) = 0;
    [[nodiscard]] virtual std::string toJson() const = 0;
    virtual Status persist() = 0;
};

}  // namespace patchbay::service

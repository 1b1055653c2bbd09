// BroadcastOffsets: how far the members of broadcasting groups are, each for itself.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/NameMap.h"
#include "patchbay/service/ConsumerOffsets.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::plugins::consumer_offsets {

/// Broadcasting clients keep their offsets themselves. What they were last seen at is kept here for two uses: the lowest of a group
/// is its lag, and a client that comes back by another way (through a proxy, or no longer) goes on where it was.
/// Memory only. Owned by the service. Any thread, one lock; only pulls of such groups take it. Never fails.
class BroadcastOffsets {
public:
    struct Known {
        std::int64_t offset = -1;   ///< -1: nothing of this queue
        bool viaProxy = false;
    };

    /// Offsets of one way only grow.
    void note(const service::BroadcastPull& pull, std::int64_t offset, MonotonicTime now);
    /// Nothing for a client that was not seen.
    [[nodiscard]] std::optional<Known> find(const service::BroadcastPull& pull) const;
    /// Forgets clients that have not pulled since.
    void expire(MonotonicTime since);
    /// Calls f for the lowest offset of each queue, without the lock.
    using Visit = std::function<void(std::string_view group, std::string_view topic, std::int32_t queueId, std::int64_t offset)>;
    void lowest(const Visit& f) const;
    void removeGroup(std::string_view group);
    void removeTopic(std::string_view topic);

private:
    struct Client {
        MonotonicTime seen{};
        bool viaProxy = false;
        std::map<std::int32_t, std::int64_t> offsets;
    };
    using Clients = NameMap<Client>;
    using Topics = NameMap<Clients>;

    mutable std::mutex mutex_;
    NameMap<Topics> groups_;  // guarded by mutex_
};

}  // namespace patchbay::plugins::consumer_offsets

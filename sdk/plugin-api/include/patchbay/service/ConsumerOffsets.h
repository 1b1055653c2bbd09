// ConsumerOffsets: how far each group has consumed each queue.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/Status.h"
#include "patchbay/plugin/Peer.h"
#include "patchbay/plugin/Services.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::service {

/// How a pull of a queue ended; for operators.
enum class PullOutcome : std::uint8_t {
    None,        ///< there was none since the start
    Delivered,
    Held,        ///< waits for a message
    AtEnd,       ///< nothing there, and not to be held
    Filtered,    ///< all that was there is not wanted by the consumer
    Moved,       ///< the offset was out of bounds, or reset; the client was told another
};

/// One pull of a queue, as it is remembered.
struct PullNote {
    std::int64_t nextOffset = 0;
    std::uint64_t peer = 0;          ///< Peer::id() of whoever pulled
    std::int64_t delivered = 0;      ///< messages that were handed out
    std::int64_t filtered = 0;       ///< messages that were passed over
    PullOutcome outcome = PullOutcome::None;
    std::int64_t bytes = 0;          ///< of the messages that were handed out
    std::int64_t readUs = 0;         ///< how long the store read for them
    std::int64_t calls = 0;          ///< of a QueueProgress: pulls that delivered
};

/// What is known of one queue of a group; all but `committed` since the start only.
struct QueueProgress {
    std::int32_t queueId = 0;
    std::int64_t committed = -1;     ///< -1 = never
    MonotonicTime committedAt{};     ///< zero = not since the start
    std::int64_t reset = -1;         ///< an offset that waits for the next pull
    MonotonicTime pulledAt{};
    PullNote pull;                   ///< the last one, but with `delivered`, `filtered`, `bytes`, `readUs` and `calls` of all that delivered
};

/// A pull of a client in broadcasting mode, whose offsets are its own.
struct BroadcastPull {
    std::string_view group;
    std::string_view topic;
    std::string_view clientId;
    std::int32_t queueId = 0;
    std::int64_t asked = 0;          ///< the offset that it asks for
    bool viaProxy = false;
};

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
    /// The same of a consumer, by which a waiting reset is not undone: false then, and nothing is done.
    virtual bool commitFrom(const plugin::Peer& client, std::string_view group, std::string_view topic, std::int32_t queueId,
                            std::int64_t offset) = 0;
    /// Remembers a pull, for lag figures and operators; memory only.
    virtual void notePull(std::string_view group, std::string_view topic, std::int32_t queueId, const PullNote& note) = 0;
    /// Offset behind the last pull; -1 when there is none.
    [[nodiscard]] virtual std::int64_t queryPull(std::string_view group, std::string_view topic, std::int32_t queueId) const noexcept = 0;

    /// An offset that the next pull of the queue is told to go on from, then forgotten (server-side reset).
    virtual void assignReset(std::string_view group, std::string_view topic, std::int32_t queueId, std::int64_t offset) = 0;
    [[nodiscard]] virtual std::optional<std::int64_t> takeReset(std::string_view group, std::string_view topic, std::int32_t queueId) noexcept = 0;

    /// Of a broadcasting client: remembers how far it is, for the lag of the group and for clients that come back through a proxy.
    virtual void noteBroadcast(const BroadcastPull& pull, std::int64_t offset) = 0;
    /// Where a broadcasting client has to begin that came by another way than before; -1: where it wants to.
    [[nodiscard]] virtual std::int64_t broadcastStart(const BroadcastPull& pull) const = 0;

    [[nodiscard]] virtual std::vector<QueueProgress> progress(std::string_view group, std::string_view topic) const = 0;
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

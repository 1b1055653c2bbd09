// OffsetTable: committed, pulled and reset offsets of all groups in memory.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/NameMap.h"
#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/service/ConsumerOffsets.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugins::consumer_offsets {

/// What a commit did.
struct CommitOutcome {
    std::int64_t before = -1;     ///< the offset until now; -1 when there was none
    bool backwards = false;
};

/// Whether a commit may undo a reset that waits for the next pull.
enum class IfReset : std::uint8_t { Commit, Leave };

/// Group -> topic -> queue. Owned by the plugin's service. Any thread: groups are spread over shards with a lock each, held for
/// a look-up; a commit of a known queue allocates nothing. Never fails.
class OffsetTable {
public:
    using Queues = std::map<std::int32_t, std::int64_t>;

    [[nodiscard]] std::int64_t committed(std::string_view group, std::string_view topic, std::int32_t queueId) const noexcept;
    /// Nothing when a reset waits and is to be left.
    std::optional<CommitOutcome> commit(std::string_view group, std::string_view topic, std::int32_t queueId, std::int64_t offset,
                                        MonotonicTime now, IfReset ifReset = IfReset::Commit);

    [[nodiscard]] std::int64_t pulled(std::string_view group, std::string_view topic, std::int32_t queueId) const noexcept;
    void notePull(std::string_view group, std::string_view topic, std::int32_t queueId, const service::PullNote& note,
                  MonotonicTime now);

    /// Also commits the offset; a negative one is ignored.
    CommitOutcome setReset(std::string_view group, std::string_view topic, std::int32_t queueId, std::int64_t offset);
    [[nodiscard]] std::optional<std::int64_t> reset(std::string_view group, std::string_view topic, std::int32_t queueId) const noexcept;
    [[nodiscard]] std::optional<std::int64_t> takeReset(std::string_view group, std::string_view topic, std::int32_t queueId) noexcept;

    [[nodiscard]] std::vector<service::QueueProgress> progress(std::string_view group, std::string_view topic) const;
    [[nodiscard]] Queues queues(std::string_view group, std::string_view topic) const;
    [[nodiscard]] std::vector<std::string> topicsOf(std::string_view group) const;
    [[nodiscard]] std::vector<std::string> groupsOf(std::string_view topic) const;
    void removeGroup(std::string_view group);
    void removeTopic(std::string_view topic);

    /// Calls f(group, topic, queueId, offset) for every committed offset and stores what it answers.
    using Revise = std::function<std::int64_t(std::string_view group, std::string_view topic, std::int32_t queueId, std::int64_t offset)>;
    void revise(const Revise& f);

    /// Takes over the table of consumerOffset.json. Keys without a group are kept as they are.
    void load(const protocol::ConsumerOffsets& file);
    [[nodiscard]] std::map<std::string, Queues, std::less<>> snapshot() const;
    /// Grows with every change that belongs into the file.
    [[nodiscard]] std::uint64_t changes() const noexcept { return changes_.load(std::memory_order_acquire); }

private:
    using Queue = service::QueueProgress;
    using QueueList = std::vector<Queue>;  // by id; a handful

    using Topics = NameMap<QueueList>;

    struct Shard {
        mutable std::mutex mutex;
        NameMap<Topics> groups;
    };

    [[nodiscard]] Shard& shardOf(std::string_view group) noexcept { return shards_[NameHash{}(group) % shards_.size()]; }
    [[nodiscard]] const Shard& shardOf(std::string_view group) const noexcept { return shards_[NameHash{}(group) % shards_.size()]; }
    // With the shard's lock held.
    [[nodiscard]] static const Queue* find(const Shard& shard, std::string_view group, std::string_view topic, std::int32_t queueId) noexcept;
    [[nodiscard]] static const QueueList* list(const Shard& shard, std::string_view group, std::string_view topic) noexcept;
    [[nodiscard]] static Queue& obtain(Shard& shard, std::string_view group, std::string_view topic, std::int32_t queueId);
    CommitOutcome store(Queue& queue, std::int64_t offset) noexcept;
    void forget(const QueueList& queues) noexcept;
    void changed() noexcept { changes_.fetch_add(1, std::memory_order_acq_rel); }

    std::array<Shard, 16> shards_;
    std::atomic<std::uint64_t> changes_{0};
    std::atomic<std::uint64_t> resets_{0};  // that wait; nearly always none, so that a pull need not look
    std::map<std::string, Queues, std::less<>> foreign_;  // keys of the file that are not topic@group; constant after load()
};

}  // namespace patchbay::plugins::consumer_offsets

// PullHold: pulls that found nothing, waiting for a message they want.
#pragma once

#include "Budget.h"
#include "Seats.h"

#include "patchbay/plugin/Suspended.h"
#include "patchbay/service/MessageFilter.h"
#include "patchbay/service/MessageStore.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::plugins::pull {

struct QueueRef {
    std::string_view topic;
    std::int32_t queueId;
};

struct HeldQueue {
    std::string topic;
    std::int32_t queueId;
    operator QueueRef() const noexcept { return {topic, queueId}; }
};

struct QueueHash {
    using is_transparent = void;
    std::size_t operator()(QueueRef q) const noexcept {
        return std::hash<std::string_view>{}(q.topic) ^ (std::uint64_t{static_cast<std::uint32_t>(q.queueId)} * 0x9E3779B97F4A7C15ULL);
    }
};

struct QueueEqual {
    using is_transparent = void;
    bool operator()(QueueRef a, QueueRef b) const noexcept { return a.queueId == b.queueId && a.topic == b.topic; }
};

/// What a held pull waits for, besides its tag codes.
struct Wanted {
    std::int64_t offset;
    Ref<service::PropertyFilter> filter{};   ///< null = by tags alone
    Seat seat{};
    Share share{};
    /// Of a pull that is not found by its tags, since it wants too many; null = it is, or wants any.
    std::unique_ptr<const std::vector<std::int32_t>> tagCodes{};

    [[nodiscard]] bool matches(const service::AppendedRecord& record) const noexcept {
        if (record.queueOffset < offset) return false;
        if (tagCodes && std::ranges::find(*tagCodes, static_cast<std::int32_t>(record.tagsCode)) == tagCodes->end()) return false;
        return !filter || filter->matches(record.properties);
    }
};

/// Listens to the store and wakes exactly the pulls that can be answered. Of those of a queue that want tags, an append looks at the
/// ones that want its tag. Owned by the plugin; see Suspended for threads.
class PullHold final : public service::AppendListener {
    using Held = plugin::Suspended<HeldQueue, Wanted, QueueHash, QueueEqual>;

public:
    PullHold(plugin::Timers& timers, const Clock& clock, std::size_t capacity, std::size_t perPeer, std::size_t bytesMax)
        : seats_(perPeer), budget_(bytesMax), held_(timers, clock, capacity) {}

    /// For a pull of this connection; empty when it has as many held as it may.
    [[nodiscard]] Seat seatFor(const plugin::Peer& peer) { return seats_.take(peer.id()); }
    /// For a pull that takes so much memory while it is held; nothing when all together would take too much.
    [[nodiscard]] std::optional<Share> shareFor(std::size_t bytes) { return budget_.take(bytes); }
    [[nodiscard]] static constexpr std::size_t bytesOfTags(std::size_t codes) noexcept {
        return codes > kTagsToFindMax ? codes * sizeof(std::int32_t) : Held::bytesOfLabels(codes);
    }
    /// Takes the request unless the hold is full or draining; without tag codes it wants any message. The caller looks at the queue's
    /// end again afterwards.
    bool hold(QueueRef queue, std::span<const std::int32_t> tagCodes, Wanted wanted, MonotonicTime deadline, plugin::Request& request) {
        if (tagCodes.size() > kTagsToFindMax) {
            wanted.tagCodes = std::make_unique<const std::vector<std::int32_t>>(tagCodes.begin(), tagCodes.end());
            tagCodes = {};
        }
        return held_.hold({std::string(queue.topic), queue.queueId}, tagCodes, std::move(wanted), deadline, request);
    }
    /// Wakes all pulls of a queue that wait for an offset below `end`.
    void wakeBelow(QueueRef queue, std::int64_t end);
    void appended(std::span<const service::AppendedRecord> records) noexcept override;

    void drain() noexcept { held_.drain(); }
    [[nodiscard]] std::size_t size() const noexcept { return held_.size(); }
    /// How many held pulls all appends together have passed, wanted or not.
    [[nodiscard]] std::uint64_t passed() const noexcept { return held_.passed(); }

private:
    static constexpr std::size_t kTogether = 64;  // records that are sorted by queue at once
    // Nobody wants so many. A client that does would have each append that answers it take thousands of links apart.
    static constexpr std::size_t kTagsToFindMax = 64;
    void wakeFor(std::span<const service::AppendedRecord> records) noexcept;

    Seats seats_;
    Budget budget_;
    Held held_;
};

}  // namespace patchbay::plugins::pull

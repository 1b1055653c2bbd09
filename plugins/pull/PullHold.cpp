#include "PullHold.h"

#include <algorithm>
#include <array>
#include <bitset>

namespace patchbay::plugins::pull {

void PullHold::wakeBelow(QueueRef queue, std::int64_t end) {
    held_.wake(queue, [end](const Wanted& wanted) { return wanted.offset < end; });
}

void PullHold::appended(std::span<const service::AppendedRecord> records) noexcept {
    // The store has published the new end just before; a pull that is being held right now looks at that end after it was
    // counted. One of the two sees the other.
    if (held_.emptyAfterChange()) return;
    while (!records.empty()) {
        const auto part = records.first(std::min(records.size(), kTogether));
        wakeFor(part);
        records = records.subspan(part.size());
    }
}

namespace {

/// Records of one queue, out of a few that were appended together.
class OfQueue {
public:
    OfQueue(std::span<const service::AppendedRecord> records, std::span<const std::uint8_t> mine) : records_(records), mine_(mine) {}

    bool operator()(const Wanted& wanted) const noexcept {
        return any([&](const service::AppendedRecord& record) { return wanted.matches(record); });
    }
    bool operator()(const Wanted& wanted, std::int32_t tagCode) const noexcept {
        return any([&](const service::AppendedRecord& record) { return static_cast<std::int32_t>(record.tagsCode) == tagCode && wanted.matches(record); });
    }

private:
    template <typename Matches>
    [[nodiscard]] bool any(Matches&& matches) const noexcept {
        return std::ranges::any_of(mine_, [&](std::uint8_t at) { return matches(records_[at]); });
    }
    std::span<const service::AppendedRecord> records_;
    std::span<const std::uint8_t> mine_;
};

}  // namespace

void PullHold::wakeFor(std::span<const service::AppendedRecord> records) noexcept {
    // One look for each queue, and one for each tag in it, whatever the number of its messages.
    std::bitset<kTogether> done;
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (done[i]) continue;
        const QueueRef queue{records[i].topic, records[i].queueId};
        std::array<std::uint8_t, kTogether> mine;
        std::array<std::int32_t, kTogether> codes;
        std::size_t count = 0;
        for (std::size_t k = i; k < records.size(); ++k) {
            if (done[k] || !QueueEqual{}(queue, {records[k].topic, records[k].queueId})) continue;
            done[k] = true;
            codes[count] = static_cast<std::int32_t>(records[k].tagsCode);
            mine[count++] = static_cast<std::uint8_t>(k);
        }
        std::sort(codes.begin(), codes.begin() + count);
        const auto distinct = static_cast<std::size_t>(std::unique(codes.begin(), codes.begin() + count) - codes.begin());
        held_.wake(queue, std::span(codes).first(distinct), OfQueue(records, std::span(mine).first(count)));
    }
}

}  // namespace patchbay::plugins::pull

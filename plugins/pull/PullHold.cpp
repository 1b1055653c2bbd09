#include "PullHold.h"

#include <algorithm>
#include <bitset>

namespace patchbay::plugins::pull {

bool Wanted::matches(const service::AppendedRecord& record) const noexcept {
    if (record.queueOffset < offset) return false;
    if (filter) return filter->matches(record.properties);
    return tagCodes.empty() || std::ranges::find(tagCodes, static_cast<std::int32_t>(record.tagsCode)) != tagCodes.end();
}

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

void PullHold::wakeFor(std::span<const service::AppendedRecord> records) noexcept {
    // One look for each queue, whatever the number of its messages.
    std::bitset<kTogether> done;
    for (std::size_t i = 0; i < records.size(); ++i) {
        if (done[i]) continue;
        const QueueRef queue{records[i].topic, records[i].queueId};
        std::bitset<kTogether> mine;
        for (std::size_t k = i; k < records.size(); ++k) mine[k] = !done[k] && QueueEqual{}(queue, {records[k].topic, records[k].queueId});
        done |= mine;
        held_.wake(queue, [&](const Wanted& wanted) {
            for (std::size_t k = i; k < records.size(); ++k) {
                if (mine[k] && wanted.matches(records[k])) return true;
            }
            return false;
        });
    }
}

}  // namespace patchbay::plugins::pull

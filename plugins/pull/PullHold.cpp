#include "PullHold.h"

#include <algorithm>

namespace patchbay::plugins::pull {

bool Wanted::matches(std::int64_t queueOffset, std::int64_t tagsCode) const noexcept {
    if (queueOffset < offset) return false;
    return tagCodes.empty() || std::ranges::find(tagCodes, static_cast<std::int32_t>(tagsCode)) != tagCodes.end();
}

void PullHold::wakeBelow(QueueRef queue, std::int64_t end) {
    held_.wake(queue, [end](const Wanted& wanted) { return wanted.offset < end; });
}

void PullHold::appended(std::span<const service::AppendedRecord> records) noexcept {
    // The store has published the new end just before; a pull that is being held right now looks at that end after it was
    // counted. One of the two sees the other.
    if (held_.emptyAfterChange()) return;
    for (const auto& record : records) {
        held_.wake(QueueRef{record.topic, record.queueId},
                   [&record](const Wanted& wanted) { return wanted.matches(record.queueOffset, record.tagsCode); });
    }
}

}  // namespace patchbay::plugins::pull

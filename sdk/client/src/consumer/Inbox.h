// Inbox: the messages of one queue that are here and not yet consumed.
#pragma once

#include "patchbay/client/Message.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace patchbay::client {

/// Ordered by offset. A value of one queue; one thread.
class Inbox {
public:
    /// Offsets that are here already are left alone. How many were new.
    std::size_t add(const std::vector<ReceivedMessage>& messages);
    /// Up to `count` from the front that nobody has in work; they are from now on.
    [[nodiscard]] std::vector<ReceivedMessage> take(std::size_t count);
    /// Back to be taken again.
    void giveBack(std::int64_t offset);
    /// Consumed.
    void remove(std::int64_t offset);
    /// Nothing below `offset` will come any more.
    void passed(std::int64_t offset) noexcept { next_ = std::max(next_, offset); }
    void clear();

    [[nodiscard]] bool contains(std::int64_t offset) const { return entries_.contains(offset); }
    /// The offset that may be committed: the lowest that is here, or what was added and passed by. Nothing before the first.
    [[nodiscard]] std::optional<std::int64_t> commitOffset() const;
    [[nodiscard]] std::size_t count() const noexcept { return entries_.size(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::size_t waiting() const noexcept { return entries_.size() - taken_; }
    [[nodiscard]] std::int64_t span() const noexcept { return entries_.empty() ? 0 : entries_.rbegin()->first - entries_.begin()->first; }
    [[nodiscard]] std::int64_t first() const noexcept { return entries_.empty() ? -1 : entries_.begin()->first; }
    [[nodiscard]] std::int64_t last() const noexcept { return entries_.empty() ? -1 : entries_.rbegin()->first; }

private:
    struct Entry {
        ReceivedMessage message;
        bool taken = false;
    };
    std::map<std::int64_t, Entry> entries_;
    std::size_t bytes_ = 0;
    std::size_t taken_ = 0;
    std::int64_t waitsFrom_ = 0;  // all below are taken
    std::int64_t next_ = -1;      // one behind the last ever added or passed by
};

}  // namespace patchbay::client

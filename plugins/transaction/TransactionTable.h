// TransactionTable: which half messages are open.
#pragma once

#include "patchbay/plugin/Request.h"

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace patchbay::plugins::transaction {

enum class Claim : std::uint8_t {
    Taken,       ///< the caller ends it now: end() or reopen() follows
    Ended,       ///< it has ended, or was copied forward
    InProgress,  ///< somebody else is ending it
    Held,        ///< it is being copied; the table keeps the request until release()
};

/// One byte for every half message from the oldest open one to the youngest, by queue offset, and the place of those that were
/// copied forward. Owned by the plugin. Any thread; a lock, held for a look-up. Never fails.
class TransactionTable {
public:
    struct Place {
        std::int64_t offset;
        std::int64_t physicalOffset;
    };

    /// Everything below `base` has ended, what lies between it and `end` is open.
    void begin(std::int64_t base, std::int64_t end);
    /// There are half messages up to `end` (one past the last).
    void extend(std::int64_t end);

    /// For whoever wants to end a half message that he has seen in the store.
    Claim claim(std::int64_t offset, plugin::Request& request);
    void reopen(std::int64_t offset) noexcept;
    /// `key` is empty for a message that was never copied.
    void end(std::int64_t offset, std::string_view key = {});
    /// All open ones in [from, to), because they are no more.
    void endRange(std::int64_t from, std::int64_t to);

    /// For the checker: false when it is not open any more. moved(), end() or reopen() follows.
    bool beginMove(std::int64_t offset) noexcept;
    /// Its copy is stored; the old place has ended.
    void moved(std::int64_t offset, std::string key, Place copy);
    /// A copy without an older place that is open.
    void addCopy(std::string key, Place copy);
    [[nodiscard]] std::optional<Place> copyOf(const std::string& key) const;
    /// Requests that waited for copies; none wait afterwards.
    [[nodiscard]] std::vector<plugin::Request> release();

    /// The first open offset in [from, to), or `to`.
    [[nodiscard]] std::int64_t nextOpen(std::int64_t from, std::int64_t to) const noexcept;
    /// Forgets what has ended at the front. Returns the offset of the oldest open message, or the end.
    std::int64_t advance() noexcept;
    [[nodiscard]] std::int64_t endOffset() const noexcept;
    [[nodiscard]] std::size_t open() const noexcept;

private:
    enum class State : std::uint8_t { Open, Ending, Moving, Ended };

    // All with the lock held.
    [[nodiscard]] State* find(std::int64_t offset) noexcept;
    void extendLocked(std::int64_t end);
    void endLocked(std::int64_t offset) noexcept;
    void forgetCopy(std::string_view key, std::int64_t offset);

    mutable std::mutex mutex_;
    std::int64_t base_ = 0;
    std::deque<State> states_;
    std::size_t open_ = 0;      // entries that are not Ended
    std::unordered_map<std::string, Place> copies_;
    std::vector<plugin::Request> waiting_;
};

}  // namespace patchbay::plugins::transaction

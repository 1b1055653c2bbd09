// Stamps: what a broker adds to nearly all of its messages alike, stored once instead of in each row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace patchbay::plugins::sqlite {

/// A row of the table `stamp`.
struct Stamp {
    std::int64_t id;
    std::string storeHost;
    std::string properties;  ///< the end of a message's properties
};

/// The stamps of a file, as the writer knows them. Owned by MessageTables, used by its thread alone. What comes only once, such as the
/// unique key that a broker gives to a message without one, must not become a stamp: only what comes in two transactions does.
class Stamps {
public:
    static constexpr std::size_t kMax = 64;

    /// The stamp whose address and ending a message has; null when there is none. Valid until keep().
    [[nodiscard]] const Stamp* find(std::string_view storeHost, std::string_view properties) const noexcept;
    /// True when an ending came in another transaction before and there is room for a stamp.
    [[nodiscard]] bool isWorth(std::string_view storeHost, std::string_view ending, std::int64_t transaction) noexcept;
    const Stamp& add(std::int64_t id, std::string_view storeHost, std::string_view properties);
    [[nodiscard]] std::size_t size() const noexcept { return stamps_.size(); }
    /// Forgets all but the first `count`, which a transaction that was undone had added.
    void keep(std::size_t count) { stamps_.resize(count); }

private:
    struct Candidate {
        std::size_t hash = 0;
        std::int64_t transaction = -1;
    };
    std::deque<Stamp> stamps_;
    std::array<Candidate, 16> candidates_{};  // by hash; a newer one replaces an older one
};

}  // namespace patchbay::plugins::sqlite

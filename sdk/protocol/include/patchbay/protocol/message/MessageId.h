// Message ids: the broker's (where a record lies) and the producer's (unique, made anywhere).
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/Result.h"
#include "patchbay/base/SocketAddress.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::protocol {

inline constexpr std::size_t kMessageIdCharsV4 = 32;
inline constexpr std::size_t kMessageIdCharsV6 = 56;

/// What a broker's message id says: the store host and the physical offset there.
struct MessageId {
    SocketAddress storeHost;
    std::int64_t physicalOffset = 0;

    /// 32 or 56 hexadecimal digits of either case; InvalidArgument otherwise, and for a port that is none.
    static Result<MessageId> parse(std::string_view text);
    [[nodiscard]] std::string toString() const;
};

/// Writes the id in upper-case digits and returns their number, 32 or 56; `out` has room for 56.
std::size_t writeMessageId(char* out, const SocketAddress& storeHost, std::int64_t physicalOffset) noexcept;

/// Makes the UNIQ_KEY of messages whose producer has set none, in the form of RocketMQ's clients: address, process,
/// a number for this generator, milliseconds since the month began (in UTC), counter.
/// Owned by whoever makes ids; the clock must outlive it. Thread-safe, without locks. Never fails.
class UniqueIdGenerator {
public:
    /// discriminator: any number that tells generators of one process apart.
    UniqueIdGenerator(const Clock& clock, const SocketAddress& local, std::uint32_t processId,
                      std::uint32_t discriminator) noexcept;
    UniqueIdGenerator(const UniqueIdGenerator&) = delete;
    UniqueIdGenerator& operator=(const UniqueIdGenerator&) = delete;

    /// Writes 32 or 56 upper-case digits, by the local address, and returns their number; `out` has room for 56.
    std::size_t write(char* out) noexcept;
    [[nodiscard]] std::string next();

private:
    const Clock& clock_;
    std::array<char, 44> prefix_{};  // digits of address, process and discriminator
    std::size_t prefixChars_ = 0;
    std::atomic<std::uint16_t> counter_{0};
};

}  // namespace patchbay::protocol

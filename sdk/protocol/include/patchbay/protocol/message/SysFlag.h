// The bits of a message's sysFlag and of a pull request's sysFlag, which share a name and nothing else.
#pragma once

#include <cstdint>

namespace patchbay::protocol {

inline constexpr std::int32_t kSysFlagCompressed = 0x1;
inline constexpr std::int32_t kSysFlagMultiTags = 0x2;
inline constexpr std::int32_t kSysFlagTransactionMask = 0xC;
inline constexpr std::int32_t kSysFlagNotTransactional = 0x0;
inline constexpr std::int32_t kSysFlagPrepared = 0x4;
inline constexpr std::int32_t kSysFlagCommit = 0x8;
inline constexpr std::int32_t kSysFlagRollback = 0xC;
inline constexpr std::int32_t kSysFlagBornHostV6 = 0x10;
inline constexpr std::int32_t kSysFlagStoreHostV6 = 0x20;
inline constexpr std::int32_t kSysFlagNeedUnwrap = 0x40;
inline constexpr std::int32_t kSysFlagInnerBatch = 0x80;
inline constexpr std::int32_t kSysFlagCompressionMask = 0x700;

[[nodiscard]] constexpr std::int32_t transactionType(std::int32_t sysFlag) noexcept {
    return sysFlag & kSysFlagTransactionMask;
}
[[nodiscard]] constexpr std::int32_t withTransactionType(std::int32_t sysFlag, std::int32_t type) noexcept {
    return (sysFlag & ~kSysFlagTransactionMask) | type;
}

inline constexpr std::int32_t kPullFlagCommitOffset = 0x1;
inline constexpr std::int32_t kPullFlagSuspend = 0x2;
inline constexpr std::int32_t kPullFlagSubscription = 0x4;
inline constexpr std::int32_t kPullFlagClassFilter = 0x8;
inline constexpr std::int32_t kPullFlagLitePull = 0x10;

inline constexpr std::int32_t kTopicSysFlagUnit = 0x1;
inline constexpr std::int32_t kTopicSysFlagUnitSub = 0x2;

}  // namespace patchbay::protocol

// Topic and group names: what may be one, which have a meaning, and the permission bits of topics.
#pragma once

#include "patchbay/base/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::protocol {

inline constexpr std::size_t kTopicNameCharsMax = 127;
inline constexpr std::size_t kGroupNameCharsMax = 255;

/// Whether a client may name a topic so. InvalidArgument with the text that RocketMQ answers: blank, characters other
/// than letters, digits and _ - % |, or more than 127 of them.
[[nodiscard]] Status validateTopicName(std::string_view topic);
/// The same for groups, up to 255 characters.
[[nodiscard]] Status validateGroupName(std::string_view group);

inline constexpr std::string_view kRetryTopicPrefix = "%RETRY%";
inline constexpr std::string_view kDlqTopicPrefix = "%DLQ%";
inline constexpr std::string_view kLmqPrefix = "%LMQ%";
inline constexpr std::string_view kSystemTopicPrefix = "rmq_sys_";
inline constexpr std::string_view kSystemGroupPrefix = "CID_RMQ_SYS_";
inline constexpr std::string_view kReplyTopicSuffix = "_REPLY_TOPIC";

[[nodiscard]] std::string retryTopic(std::string_view group);
[[nodiscard]] std::string dlqTopic(std::string_view group);
[[nodiscard]] std::string replyTopic(std::string_view cluster);
[[nodiscard]] inline bool isRetryTopic(std::string_view topic) noexcept {
    return topic.starts_with(kRetryTopicPrefix);
}
[[nodiscard]] inline bool isDlqTopic(std::string_view topic) noexcept {
    return topic.starts_with(kDlqTopicPrefix);
}

inline constexpr std::string_view kTopicAutoCreate = "TBW102";
inline constexpr std::string_view kTopicSchedule = "SCHEDULE_TOPIC_XXXX";
inline constexpr std::string_view kTopicBenchmark = "BenchmarkTest";
inline constexpr std::string_view kTopicTransHalf = "RMQ_SYS_TRANS_HALF_TOPIC";
inline constexpr std::string_view kTopicTransOpHalf = "RMQ_SYS_TRANS_OP_HALF_TOPIC";
inline constexpr std::string_view kTopicTransCheckMaxTime = "TRANS_CHECK_MAX_TIME_TOPIC";
inline constexpr std::string_view kTopicTrace = "RMQ_SYS_TRACE_TOPIC";
inline constexpr std::string_view kTopicSelfTest = "SELF_TEST_TOPIC";
inline constexpr std::string_view kTopicOffsetMoved = "OFFSET_MOVED_EVENT";
inline constexpr std::string_view kTopicCheckpoint = "CHECKPOINT_TOPIC";
inline constexpr std::string_view kTopicTimer = "rmq_sys_wheel_timer";
inline constexpr std::string_view kTopicReviveLogPrefix = "rmq_sys_REVIVE_LOG_";
inline constexpr std::string_view kTopicSyncMemberPrefix = "rmq_sys_SYNC_BROKER_MEMBER_";
/// Namespace of the name server's key-value table that holds the order configuration of topics.
inline constexpr std::string_view kOrderTopicConfigNamespace = "ORDER_TOPIC_CONFIG";

/// Names that are system topics on every broker. A broker adds those it has created at start.
[[nodiscard]] bool isSystemTopicName(std::string_view topic) noexcept;
/// System topics that a client must not send to.
[[nodiscard]] bool isForbiddenToSend(std::string_view topic) noexcept;
/// Group names that RocketMQ keeps for itself.
[[nodiscard]] bool isSystemGroup(std::string_view group) noexcept;

/// Queues of a topic at most, here: queue ids are below it.
inline constexpr std::int32_t kTopicQueuesMax = 65'536;

inline constexpr std::uint32_t kPermInherit = 1;
inline constexpr std::uint32_t kPermWrite = 2;
inline constexpr std::uint32_t kPermRead = 4;
[[nodiscard]] constexpr bool isReadable(std::uint32_t perm) noexcept {
    return (perm & kPermRead) != 0;
}
[[nodiscard]] constexpr bool isWriteable(std::uint32_t perm) noexcept {
    return (perm & kPermWrite) != 0;
}
[[nodiscard]] constexpr bool isInherited(std::uint32_t perm) noexcept {
    return (perm & kPermInherit) != 0;
}
/// "RWX" with a dash for each bit that is not set; part of texts that RocketMQ answers.
[[nodiscard]] std::string permText(std::uint32_t perm);

}  // namespace patchbay::protocol

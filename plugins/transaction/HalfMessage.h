// HalfMessage: what a stored half message says, and the messages that are made of one.
#pragma once

#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/service/MessageStore.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::plugins::transaction {

/// System group under which progress in the half and the op queue is kept, as RocketMQ keeps it.
inline constexpr std::string_view kProgressGroup = "CID_RMQ_SYS_TRANS";
/// The one queue of half messages and of ops.
inline constexpr std::int32_t kQueueId = 0;

/// Views into a record, valid as long as it. A value without an owner.
struct HalfMessage {
    protocol::RecordView record;
    std::string_view realTopic;
    std::string_view group;              ///< PGROUP
    std::string_view uniqueKey;
    std::string_view tags;
    std::string_view immunity;           ///< CHECK_IMMUNITY_TIME_IN_SECONDS, as the producer wrote it
    std::string_view delayLevel;
    std::int32_t realQueueId = -1;       ///< negative: missing or no queue
    std::int32_t checks = 0;             ///< questions asked so far
    bool copied = false;                 ///< the broker has moved it forward in the queue before
    bool preparedOffset = false;         ///< carries the queue offset of the first one
    bool timed = false;                  ///< asks for a delivery time
    bool waitStored = true;

    static HalfMessage of(const protocol::RecordView& record) noexcept;
    /// Somebody can be asked about it, and it can be committed.
    [[nodiscard]] bool isUsable() const noexcept { return !realTopic.empty() && realQueueId >= 0 && !group.empty(); }
    /// What all copies of one transaction have in common.
    [[nodiscard]] std::string key() const;
    /// How long the producer is not asked about it; nothing when it says nothing. Nonsense gives `otherwise`.
    [[nodiscard]] std::optional<std::int64_t> immunityMs(std::int64_t otherwise) const noexcept;
    /// An item with the same content for another place, its properties being `properties`.
    [[nodiscard]] service::AppendItem item(std::string_view topic, std::int32_t queueId, std::string_view properties) const noexcept;
};

/// Makes a half message of what a producer sent. `properties` receives the text that item.properties then shows.
void makeHalf(service::AppendItem& item, std::string& properties);

}  // namespace patchbay::plugins::transaction

// AppendRecord: the stored form of what is appended, the same for every store.
#pragma once

#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/SysFlag.h"
#include "patchbay/service/MessageStore.h"

namespace patchbay::service {

/// Half messages and roll-backs are stored, found by physical offset and by key, but have no place in a queue: their queue offset is 0,
/// and no listener is told of them.
[[nodiscard]] inline bool isQueued(std::int32_t sysFlag) noexcept {
    const std::int32_t type = protocol::transactionType(sysFlag);
    return type != protocol::kSysFlagPrepared && type != protocol::kSysFlagRollback;
}

/// What the record of an item is made of, with its outcome (offsets and store time) as far as it is known. Shares the item's views.
[[nodiscard]] inline protocol::RecordFields recordFields(const AppendItem& item) noexcept {
    protocol::RecordFields fields;
    fields.topic = item.topic;
    fields.body = item.body;
    fields.properties = item.properties;
    fields.brokerProperties = item.brokerProperties;
    fields.queueId = item.queueId;
    fields.flag = item.flag;
    fields.sysFlag = item.sysFlag;
    fields.reconsumeTimes = item.reconsumeTimes;
    fields.queueOffset = item.queueOffset;
    fields.physicalOffset = item.physicalOffset;
    fields.bornTimestamp = item.bornTimestamp;
    fields.storeTimestamp = item.storeTimestamp;
    fields.preparedTransactionOffset = item.preparedTransactionOffset;
    fields.bornHost = item.bornHost;
    fields.storeHost = item.storeHost;
    return fields;
}

}  // namespace patchbay::service

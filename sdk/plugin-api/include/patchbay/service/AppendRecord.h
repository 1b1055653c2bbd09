// AppendRecord: the stored form of what is appended, the same for every store.
#pragma once

#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/service/MessageStore.h"

namespace patchbay::service {

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

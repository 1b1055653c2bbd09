#include "RecordSink.h"

namespace patchbay::storetool {

protocol::RecordFields fieldsOf(const protocol::RecordView& record) noexcept {
    protocol::RecordFields fields;
    fields.topic = record.topic;
    fields.body = record.body;
    fields.properties = record.properties;
    fields.queueId = record.queueId;
    fields.flag = record.flag;
    fields.sysFlag = record.sysFlag;
    fields.reconsumeTimes = record.reconsumeTimes;
    fields.queueOffset = record.queueOffset;
    fields.physicalOffset = record.physicalOffset;
    fields.bornTimestamp = record.bornTimestamp;
    fields.storeTimestamp = record.storeTimestamp;
    fields.preparedTransactionOffset = record.preparedTransactionOffset;
    fields.bornHost = record.bornHost();
    fields.storeHost = record.storeHost();
    return fields;
}

}  // namespace patchbay::storetool

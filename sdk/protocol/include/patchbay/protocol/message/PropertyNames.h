// Names of message properties that carry a meaning for a broker or a client.
#pragma once

#include <string_view>

namespace patchbay::protocol {

inline constexpr std::string_view kPropertyKeys = "KEYS";
inline constexpr std::string_view kPropertyTags = "TAGS";
inline constexpr std::string_view kPropertyWaitStoreOk = "WAIT";
inline constexpr std::string_view kPropertyDelayLevel = "DELAY";
inline constexpr std::string_view kPropertyRetryTopic = "RETRY_TOPIC";
inline constexpr std::string_view kPropertyRealTopic = "REAL_TOPIC";
inline constexpr std::string_view kPropertyRealQueueId = "REAL_QID";
inline constexpr std::string_view kPropertyTransactionPrepared = "TRAN_MSG";
inline constexpr std::string_view kPropertyProducerGroup = "PGROUP";
inline constexpr std::string_view kPropertyMinOffset = "MIN_OFFSET";
inline constexpr std::string_view kPropertyMaxOffset = "MAX_OFFSET";
inline constexpr std::string_view kPropertyOriginMessageId = "ORIGIN_MESSAGE_ID";
inline constexpr std::string_view kPropertyReconsumeTime = "RECONSUME_TIME";
inline constexpr std::string_view kPropertyMaxReconsumeTimes = "MAX_RECONSUME_TIMES";
inline constexpr std::string_view kPropertyMsgRegion = "MSG_REGION";
inline constexpr std::string_view kPropertyTraceSwitch = "TRACE_ON";
inline constexpr std::string_view kPropertyUniqueKey = "UNIQ_KEY";
inline constexpr std::string_view kPropertyExtendUniqueInfo = "EXTEND_UNIQ_INFO";
inline constexpr std::string_view kPropertyConsumeStartTime = "CONSUME_START_TIME";
inline constexpr std::string_view kPropertyInnerNum = "INNER_NUM";
inline constexpr std::string_view kPropertyInnerBase = "INNER_BASE";
inline constexpr std::string_view kPropertyDupInfo = "DUP_INFO";
inline constexpr std::string_view kPropertyCheckImmunityTime = "CHECK_IMMUNITY_TIME_IN_SECONDS";
inline constexpr std::string_view kPropertyPreparedQueueOffset = "TRAN_PREPARED_QUEUE_OFFSET";
inline constexpr std::string_view kPropertyTransactionId = "__transactionId__";
inline constexpr std::string_view kPropertyTransactionCheckTimes = "TRANSACTION_CHECK_TIMES";
inline constexpr std::string_view kPropertyInstanceId = "INSTANCE_ID";
inline constexpr std::string_view kPropertyCorrelationId = "CORRELATION_ID";
inline constexpr std::string_view kPropertyReplyToClient = "REPLY_TO_CLIENT";
inline constexpr std::string_view kPropertyTtl = "TTL";
inline constexpr std::string_view kPropertyArriveTime = "ARRIVE_TIME";
inline constexpr std::string_view kPropertyPushReplyTime = "PUSH_REPLY_TIME";
inline constexpr std::string_view kPropertyCluster = "CLUSTER";
inline constexpr std::string_view kPropertyMessageType = "MSG_TYPE";
inline constexpr std::string_view kPropertyPopCk = "POP_CK";
inline constexpr std::string_view kPropertyPopCkOffset = "POP_CK_OFFSET";
inline constexpr std::string_view kPropertyFirstPopTime = "1ST_POP_TIME";
inline constexpr std::string_view kPropertyShardingKey = "__SHARDINGKEY";
inline constexpr std::string_view kPropertyForwardQueueId = "PROPERTY_FORWARD_QUEUE_ID";
inline constexpr std::string_view kPropertyRedirect = "REDIRECT";
inline constexpr std::string_view kPropertyInnerMultiDispatch = "INNER_MULTI_DISPATCH";
inline constexpr std::string_view kPropertyInnerMultiQueueOffset = "INNER_MULTI_QUEUE_OFFSET";
inline constexpr std::string_view kPropertyTraceContext = "TRACE_CONTEXT";
inline constexpr std::string_view kPropertyTimerDelaySec = "TIMER_DELAY_SEC";
inline constexpr std::string_view kPropertyTimerDelayMs = "TIMER_DELAY_MS";
inline constexpr std::string_view kPropertyTimerDeliverMs = "TIMER_DELIVER_MS";
inline constexpr std::string_view kPropertyTimerEnqueueMs = "TIMER_ENQUEUE_MS";
inline constexpr std::string_view kPropertyTimerDequeueMs = "TIMER_DEQUEUE_MS";
inline constexpr std::string_view kPropertyTimerRollTimes = "TIMER_ROLL_TIMES";
inline constexpr std::string_view kPropertyTimerOutMs = "TIMER_OUT_MS";
inline constexpr std::string_view kPropertyTimerDelUniqueKey = "TIMER_DEL_UNIQKEY";
inline constexpr std::string_view kPropertyTimerDelayLevel = "TIMER_DELAY_LEVEL";
inline constexpr std::string_view kPropertyBornHost = "__BORNHOST";
inline constexpr std::string_view kPropertyBornTimestamp = "BORN_TIMESTAMP";
inline constexpr std::string_view kPropertyCrc32 = "__CRC32#";
inline constexpr std::string_view kPropertyDlqOriginTopic = "DLQ_ORIGIN_TOPIC";
inline constexpr std::string_view kPropertyDlqOriginMessageId = "DLQ_ORIGIN_MESSAGE_ID";
inline constexpr std::string_view kPropertyTransientPrefix = "__RMQ.TRANSIENT.";

}  // namespace patchbay::protocol

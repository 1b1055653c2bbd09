#include "Bundle.h"

#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/Batch.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <algorithm>

namespace mirror {

using namespace patchbay;

namespace {

constexpr std::string_view kProducerGroup = "patchbay-mirror";
constexpr std::int32_t kDefaultQueues = 4;
constexpr std::int32_t kCompression = protocol::kSysFlagCompressed | protocol::kSysFlagCompressionMask;

/// What belongs to the broker that kept the message, or would make the other one delay, hide or route it once more.
constexpr std::string_view kLeftHere[] = {
    protocol::kPropertyDelayLevel,   protocol::kPropertyTimerDelaySec,    protocol::kPropertyTimerDelayMs, protocol::kPropertyTimerDeliverMs,
    protocol::kPropertyRealTopic,    protocol::kPropertyRealQueueId,      protocol::kPropertyRetryTopic,   protocol::kPropertyTransactionPrepared,
    protocol::kPropertyCluster,      protocol::kPropertyMsgRegion,        protocol::kPropertyTraceSwitch,  protocol::kPropertyInnerNum,
    protocol::kPropertyReconsumeTime, protocol::kPropertyMaxReconsumeTimes, protocol::kPropertyCrc32};

}  // namespace

void Bundle::take(const service::ReadResult& read) {
    for (std::string_view rest : read.pieces) {
        while (!rest.empty()) {
            protocol::RecordView record;
            if (protocol::RecordView::parse(rest, record, protocol::RecordCheck::Layout) != protocol::RecordStatus::Message) return;
            if (!take(record)) return;
            rest.remove_prefix(std::min(record.bytes.size(), rest.size()));
        }
    }
}

bool Bundle::take(const protocol::RecordView& record) {
    if (!protocol::findProperty(record.properties, kOriginProperty).empty()) {
        end_ = record.queueOffset + 1;
        ++passedOver_;
        return true;
    }
    const auto sysFlag = record.sysFlag & kCompression;
    if (count_ > 0 && sysFlag != sysFlag_) return false;
    const auto properties = propertiesFor(record.properties);
    protocol::appendBatchEntry(entries_, {record.flag, record.body, properties});
    if (count_++ == 0) {
        sysFlag_ = sysFlag;
        bornTimestamp_ = record.bornTimestamp;
    }
    end_ = record.queueOffset + 1;
    return true;
}

std::string Bundle::propertiesFor(std::string_view stored) const {
    std::string text;
    std::string_view name;
    std::string_view value;
    for (protocol::PropertyReader reader(stored); reader.next(name, value);) {
        if (std::ranges::find(kLeftHere, name) == std::end(kLeftHere)) protocol::appendProperty(text, name, value);
    }
    // A message whose properties are full goes without it: better twice round than not at all.
    if (text.size() + protocol::propertyBytes(kOriginProperty, origin_) <= protocol::kRecordPropertiesBytesMax) {
        protocol::appendProperty(text, kOriginProperty, origin_);
    }
    return text;
}

protocol::RemotingCommand Bundle::request(const std::string& topic, const TargetQueue& to) const {
    const bool batch = count_ > 1;
    auto command = protocol::RemotingCommand::request(batch ? protocol::RequestCode::SendBatchMessage : protocol::RequestCode::SendMessageV2);
    protocol::SendMessageRequest header;
    header.producerGroup = kProducerGroup;
    header.topic = topic;
    header.defaultTopic = protocol::kTopicAutoCreate;
    header.defaultTopicQueueNums = kDefaultQueues;
    header.queueId = to.queueId;
    header.sysFlag = sysFlag_;
    header.bornTimestamp = bornTimestamp_;
    header.batch = batch;
    header.brokerName = to.brokerName;
    if (batch) {
        command.body = entries_;
    } else {
        protocol::BatchEntry only;
        (void)protocol::BatchReader(entries_).next(only);
        header.flag = only.flag;
        header.properties = only.properties;
        command.body = only.body;
    }
    command.setHeader(header);
    return command;
}

}  // namespace mirror

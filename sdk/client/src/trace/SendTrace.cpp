#include "trace/SendTrace.h"

#include "message/Namespace.h"
#include "patchbay/protocol/message/Batch.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <vector>

namespace patchbay::client {

SendTrace::SendTrace(const ClientInstance::Pointer& instance, const ProducerOptions& options)
    : nameSpace_(options.client.nameSpace), group_(options.group),
      tracer_(Tracer::make(instance, options.client, options.group, "PRODUCE", options.traceTopic)) {}

// Names are told without their namespace, as by Java.
void SendTrace::sent(const Outgoing& message, const SendReceipt& receipt, std::string_view region, std::string_view address,
                     std::int64_t startedMs, std::chrono::milliseconds took) {
    const auto topic = withoutNamespace(nameSpace_, message.topic);
    if (tracer_->isTrace(topic)) return;
    const std::string_view type = message.delayed ? "3" : (message.sysFlag & protocol::kSysFlagPrepared) != 0 ? "1" : "0";
    const auto startedText = std::to_string(startedMs);
    const auto tookText = std::to_string(took.count());
    const auto record = [&](std::string_view id, std::string_view tags, std::string_view keys, std::size_t bytes, std::string_view offsetId) {
        return TraceRecord{traceText({"Pub", startedText, region, group_, topic, id, orNull(tags), orNull(keys), address, std::to_string(bytes), tookText, type,
                                      offsetId, receipt.status == SendStatus::Ok ? "true" : "false"}),
                           traceKeys(id, keys)};
    };
    if (!message.gathered) return tracer_->add({record(message.id, message.tags, message.keys, message.plainBytes, receipt.offsetMessageId)});
    const auto offsetIds = splitIds(receipt.offsetMessageId, protocol::countBatch(message.body).value_or(0));
    std::vector<TraceRecord> records;
    protocol::BatchReader reader(message.body);
    for (protocol::BatchEntry one; reader.next(one);) {
        const auto property = [&one](std::string_view name) { return protocol::findProperty(one.properties, name); };
        records.push_back(record(property(protocol::kPropertyUniqueKey), property(protocol::kPropertyTags), property(protocol::kPropertyKeys), one.body.size(),
                                 offsetIds[records.size()]));
    }
    tracer_->add(records);
}

}  // namespace patchbay::client

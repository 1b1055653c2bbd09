#include "trace/SendTrace.h"

#include "message/Namespace.h"
#include "patchbay/protocol/message/SysFlag.h"

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
    tracer_->add({{traceText({"Pub", std::to_string(startedMs), region, group_, topic, message.id, orNull(message.tags), orNull(message.keys), address,
                              std::to_string(message.plainBytes), std::to_string(took.count()), type, receipt.offsetMessageId,
                              receipt.status == SendStatus::Ok ? "true" : "false"}),
                   traceKeys(message.id, message.keys)}});
}

}  // namespace patchbay::client

#include "consumer/ConsumerCheck.h"

#include "message/Namespace.h"
#include "patchbay/protocol/message/Names.h"

namespace patchbay::client {

using namespace std::chrono_literals;

Status check(const ConsumerOptions& options) {
    const auto wrong = [](const char* text) { return Status(StatusCode::InvalidArgument, text); };
    if (options.group.empty()) return wrong("ConsumerOptions::group is empty; consumers of one group share the messages");
    if (auto status = protocol::validateGroupName(options.group); !status) return status;
    if (protocol::isSystemGroup(options.group)) return wrong("the group's name is one that the system keeps for itself");
    if (options.pullBatch < 1 || options.pullBatch > 1024) return wrong("pullBatch has to be 1 to 1024");
    if (options.batchMax < 1 || options.batchMax > 1024) return wrong("batchMax has to be 1 to 1024");
    if (options.threads < 1 || options.threads > 1000) return wrong("threads has to be 1 to 1000");
    if (options.queueMessagesMax < 1 || options.queueBytesMax < 1) return wrong("queueMessagesMax and queueBytesMax have to be at least 1");
    if (options.spanMax < 1) return wrong("spanMax has to be at least 1");
    if (options.pullInterval < 0ms) return wrong("pullInterval is negative");
    if (options.offsetInterval < 100ms) return wrong("offsetInterval has to be at least 100 ms");
    if (options.rebalanceInterval < 1s) return wrong("rebalanceInterval has to be at least 1 s");
    if (options.pullSuspend < 1s) return wrong("pullSuspend has to be at least 1 s");
    if (options.consumeTimeout < 1min) return wrong("consumeTimeout has to be at least a minute");
    if (options.suspendTime < 10ms || options.suspendTime > 30s) return wrong("suspendTime has to be 10 ms to 30 s");
    return Status::ok();
}

ClientOptions withStableName(const ConsumerOptions& options) {
    auto client = options.client;
    if (options.model == ConsumerModel::Broadcasting && client.instanceName.empty()) client.instanceName = "DEFAULT";
    return client;
}

Result<protocol::SubscriptionData> subscriptionOf(std::string_view nameSpace, std::string_view topic, const Filter& filter) {
    if (auto status = protocol::validateTopicName(topic); !status) return status;
    return protocol::SubscriptionData::build(withNamespace(nameSpace, topic), filter.expression, filter.type);
}

}  // namespace patchbay::client

#include "patchbay/protocol/route/MessageQueue.h"

#include "Fields.h"

namespace patchbay::protocol {

void MessageQueue::write(json::Writer& out) const {
    out.beginObject();
    out.member("brokerName", brokerName);
    out.member("queueId", queueId);
    out.member("topic", topic);
    out.endObject();
}

Result<MessageQueue> MessageQueue::read(json::Value value) {
    MessageQueue queue;
    Fields fields(value, "message queue");
    fields.read("brokerName", queue.brokerName).read("queueId", queue.queueId).read("topic", queue.topic);
    return std::move(fields).finish(std::move(queue));
}

}  // namespace patchbay::protocol

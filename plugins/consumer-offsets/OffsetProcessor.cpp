#include "OffsetProcessor.h"

#include "patchbay/protocol/headers/ConsumerOffset.h"
#include "patchbay/protocol/message/Names.h"

#include <string>

namespace patchbay::plugins::consumer_offsets {

namespace {

using protocol::ResponseCode;

plugin::Response answer(ResponseCode code, std::string remark = {}) {
    plugin::Response response(code, std::move(remark));
    response.fields().markPresent();
    return response;
}

plugin::Response offsetAnswer(std::int64_t offset) {
    plugin::Response response(ResponseCode::Success);
    protocol::OffsetResponse{offset}.write(response.fields());
    return response;
}

}  // namespace

void OffsetProcessor::process(plugin::Request request) {
    if (request.command().code == static_cast<std::int32_t>(protocol::RequestCode::QueryConsumerOffset)) {
        query(std::move(request));
    } else {
        update(std::move(request));
    }
}

void OffsetProcessor::query(plugin::Request request) {
    protocol::QueryConsumerOffsetRequest header;
    if (Status parsed = protocol::QueryConsumerOffsetRequest::parse(request.command(), header); !parsed) {
        return std::move(request).respond(plugin::Response(parsed));
    }
    if (const auto reset = offsets_.waitingReset(header.consumerGroup, header.topic, header.queueId)) {
        return std::move(request).respond(offsetAnswer(*reset));
    }
    const std::int64_t offset = offsets_.query(header.consumerGroup, header.topic, header.queueId);
    if (offset >= 0) return std::move(request).respond(offsetAnswer(offset));
    if (!header.setZeroIfNotFound.value_or(true)) {
        return std::move(request).respond(
            answer(ResponseCode::QueryNotFound, "Not found, do not set to zero, maybe this group boot first"));
    }
    if (!request.deferred() && offsets_.mustWait(header.topic, header.queueId)) return std::move(request).defer();
    if (offsets_.startsAtZero(header.topic, header.queueId)) return std::move(request).respond(offsetAnswer(0));
    std::move(request).respond(
        answer(ResponseCode::QueryNotFound, "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first"));
}

void OffsetProcessor::update(plugin::Request request) {
    protocol::UpdateConsumerOffsetRequest header;
    if (Status parsed = protocol::UpdateConsumerOffsetRequest::parse(request.command(), header); !parsed) {
        return std::move(request).respond(plugin::Response(parsed));
    }
    if (service::GroupFacts facts; !services_.groups->find(header.consumerGroup, facts)) {
        return std::move(request).respond(answer(ResponseCode::SubscriptionGroupNotExist,
                                                 "Group " + std::string(header.consumerGroup) + " not exist!"));
    }
    if (service::TopicFacts facts; !services_.topics->find(header.topic, facts)) {
        return std::move(request).respond(answer(ResponseCode::TopicNotExist, "Topic " + std::string(header.topic) + " not exist!"));
    }
    if (!header.queueId) return std::move(request).respond(answer(ResponseCode::InvalidParameter, "QueueId is null"));
    if (!header.commitOffset) return std::move(request).respond(answer(ResponseCode::InvalidParameter, "Offset is null"));
    // Every queue that was ever committed is kept, so a peer's number must not be able to make one for each integer.
    if (*header.queueId < 0 || *header.queueId >= protocol::kTopicQueuesMax) {
        return std::move(request).respond(answer(ResponseCode::InvalidParameter,
                                                 "queueId " + std::to_string(*header.queueId) + " is not in 0…" +
                                                     std::to_string(protocol::kTopicQueuesMax - 1)));
    }
    const bool stored = offsets_.commitFrom(request.peer(), header.consumerGroup, header.topic, *header.queueId, *header.commitOffset);
    std::move(request).respond(answer(ResponseCode::Success, stored ? std::string{} : "Offset has been previously reset"));
}

}  // namespace patchbay::plugins::consumer_offsets

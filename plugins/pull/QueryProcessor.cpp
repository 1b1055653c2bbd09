#include "QueryProcessor.h"

#include "patchbay/protocol/headers/ConsumerOffset.h"
#include "patchbay/protocol/headers/MessageQuery.h"
#include "patchbay/service/QueueEnds.h"

#include <algorithm>

namespace patchbay::plugins::pull {

using plugin::Response;
using protocol::RequestCode;
using protocol::ResponseCode;

namespace {

constexpr std::int32_t kHitsMax = 64;  // RocketMQ's maxMsgsNumBatch: whole messages, gathered in memory

Response offsetAnswer(std::int64_t offset) {
    Response response(ResponseCode::Success);
    protocol::OffsetResponse{offset}.write(response.fields());
    return response;
}

// A store without an index says so; that is no fault of the system.
Response failed(const Status& status) { return Response(ResponseCode::SystemError, status.message()); }

}  // namespace

void QueryProcessor::process(plugin::Request request) {
    const auto code = static_cast<RequestCode>(request.command().code);
    const bool onLoop = (code == RequestCode::GetMaxOffset || code == RequestCode::GetMinOffset) && !request.deferred();
    if (onLoop && mustWait(request)) return std::move(request).defer();
    Response response = answer(request);
    std::move(request).respond(std::move(response));
}

Response QueryProcessor::answer(const plugin::Request& request) const {
    switch (static_cast<RequestCode>(request.command().code)) {
        case RequestCode::GetMaxOffset: return queueEnd(request, true);
        case RequestCode::GetMinOffset: return queueEnd(request, false);
        case RequestCode::SearchOffsetByTimestamp: return searchByTime(request);
        case RequestCode::GetEarliestMsgStoretime: return earliestTime(request);
        case RequestCode::ViewMessageById: return viewMessage(request);
        default: return queryMessages(request);
    }
}

bool QueryProcessor::mustWait(const plugin::Request& request) const {
    const auto header = protocol::QueueRequest::parse(request.command());
    return header && !service::rangeIfKnown(*services_.store, header->topic, header->queueId);
}

Response QueryProcessor::queueEnd(const plugin::Request& request, bool max) const {
    const auto header = protocol::QueueRequest::parse(request.command());
    if (!header) return failed(header.error());
    const auto range = services_.store->range(header->topic, header->queueId);
    return offsetAnswer(max ? range.max : range.min);
}

Response QueryProcessor::searchByTime(const plugin::Request& request) const {
    const auto header = protocol::SearchOffsetRequest::parse(request.command());
    if (!header) return failed(header.error());
    const auto bound = header->upper() ? service::Bound::Upper : service::Bound::Lower;
    const auto offset = services_.store->offsetAt(header->topic, header->queueId, header->timestamp, bound);
    return offset ? offsetAnswer(*offset) : failed(offset.error());
}

Response QueryProcessor::earliestTime(const plugin::Request& request) const {
    const auto header = protocol::QueueRequest::parse(request.command());
    if (!header) return failed(header.error());
    const auto range = services_.store->range(header->topic, header->queueId);
    const auto time = services_.store->storeTimeAt(header->topic, header->queueId, range.min);
    Response response(ResponseCode::Success);
    protocol::StoreTimeResponse{time ? *time : -1}.write(response.fields());
    return response;
}

Response QueryProcessor::viewMessage(const plugin::Request& request) const {
    const auto header = protocol::ViewMessageRequest::parse(request.command());
    if (!header) return failed(header.error());
    auto record = services_.store->at(header->offset);
    if (!record) return Response(ResponseCode::SystemError, "can not find message by the offset, " + std::to_string(header->offset));
    Response response(ResponseCode::Success);
    response.addBody(std::move(*record));
    return response;
}

Response QueryProcessor::queryMessages(const plugin::Request& request) const {
    const auto header = protocol::QueryMessageRequest::parse(request.command());
    if (!header) return failed(header.error());
    service::KeyQuery query{header->topic, header->key, header->beginTimestamp, header->endTimestamp,
                            header->uniqueKey ? config_.queryMax : std::clamp(header->maxNum, 0, kHitsMax), header->uniqueKey};
    auto found = services_.store->findByKey(query);
    if (!found) return failed(found.error());
    Response response(ResponseCode::Success);
    protocol::QueryMessageResponse{found->indexTimestampMs, found->indexPhysicalOffset}.write(response.fields());
    if (found->hits.empty()) {
        response.code = ResponseCode::QueryNotFound;
        response.remark = "can not find message, maybe time range not correct";
    }
    for (auto& hit : found->hits) response.addBody(std::move(hit.record));
    return response;
}

}  // namespace patchbay::plugins::pull

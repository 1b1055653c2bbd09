#include "OffsetAdmin.h"

#include "patchbay/protocol/json/Writer.h"

#include <algorithm>
#include <limits>

namespace patchbay::plugins::consumer_admin {

using plugin::Response;
using protocol::RequestCode;
using protocol::ResponseCode;

namespace {

// V3_0_7_SNAPSHOT: older clients know no push of offsets.
constexpr std::int32_t kPushVersionMin = 28;

std::vector<std::string_view> split(std::string_view list) {
    std::vector<std::string_view> names;
    while (!list.empty()) {
        const auto end = list.find(',');
        if (end != 0) names.push_back(list.substr(0, end));
        list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
    }
    return names;
}

}  // namespace

void OffsetAdmin::process(plugin::Request request) {
    Response response = [&] {
        switch (static_cast<RequestCode>(request.command().code)) {
            case RequestCode::InvokeBrokerToResetOffset: return reset(request);
            case RequestCode::CloneGroupOffset: return clone(request);
            default: return correction(request);
        }
    }();
    std::move(request).respond(std::move(response));
}

Response OffsetAdmin::reset(const plugin::Request& request) const {
    const auto wish = protocol::ResetOffsetRequest::parse(request.command());
    if (!wish) return Response(wish.error());
    Response response = serverSide_ ? resetHere(*wish) : resetAtClients(*wish, request.command().language == protocol::Language::Cpp);
    const bool done = response.code == ResponseCode::Success;
    context_.log().limited(plugin::LogLevel::Info, done ? "offsets of a group are reset" : "a reset of offsets is refused",
                           {{"group", wish->group}, {"topic", wish->topic}, {"queue", wish->queueId.value_or(-1)}, {"timestamp", wish->timestamp},
                            {"by", request.peer().remote().toString()}, {"answer", static_cast<std::int32_t>(response.code)}});
    return response;
}

Result<std::int64_t> OffsetAdmin::offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timestampMs) const {
    if (timestampMs < 0) return services_.store->range(topic, queueId).max;
    return services_.store->offsetAt(topic, queueId, timestampMs, service::Bound::Lower);
}

Response OffsetAdmin::resetHere(const protocol::ResetOffsetRequest& wish) const {
    if (identity_.brokerId != 0) return Response(ResponseCode::SystemError, "Can not reset offset in slave broker");
    service::TopicFacts topic;
    if (!services_.topics->find(wish.topic, topic)) {
        return Response(ResponseCode::TopicNotExist, "Topic " + std::string(wish.topic) + " does not exist");
    }
    if (service::GroupFacts group; !services_.groups->find(wish.group, group)) {
        return Response(ResponseCode::SubscriptionGroupNotExist, "Group " + std::string(wish.group) + " does not exist");
    }
    OffsetsByQueue offsets;
    const std::int32_t one = wish.queueId.value_or(-1);
    // RocketMQ makes such a queue; here nobody could pull it, and each number would be an offset that is kept.
    if (one >= topic.readQueueNums && !services_.store->range(wish.topic, one).exists) {
        return Response(ResponseCode::SystemError, "queueId[" + std::to_string(one) + "] is illegal, topic:[" + std::string(wish.topic) +
                                                       "] topicConfig.readQueueNums:[" + std::to_string(topic.readQueueNums) + "]");
    }
    if (one >= 0 && wish.offset.value_or(-1) != -1) {
        const auto range = services_.store->range(wish.topic, one);
        if (*wish.offset < range.min || *wish.offset > range.max + 1) {
            return Response(ResponseCode::SystemError, "Target offset " + std::to_string(*wish.offset) + " not in consume queue range [" +
                                                           std::to_string(range.min) + "-" + std::to_string(range.max) + "]");
        }
        // RocketMQ lets one more than the end pass; there is no such message yet, and the first that comes must not be skipped.
        offsets.emplace(queueOf(wish.topic, one), std::min(*wish.offset, range.max));
    } else {
        const std::int32_t first = std::max(one, 0);
        const std::int32_t last = one >= 0 ? one : topic.readQueueNums - 1;
        for (std::int32_t queue = first; queue <= last; ++queue) {
            const auto offset = offsetAt(wish.topic, queue, wish.timestamp);
            if (!offset) return Response(ResponseCode::SystemError, offset.error().message());
            offsets.emplace(queueOf(wish.topic, queue), *offset);
        }
    }
    if (offsets.empty()) return Response(ResponseCode::SystemError, "No queues to reset.");
    for (const auto& [queue, offset] : offsets) services_.offsets->assignReset(wish.group, wish.topic, queue.queueId, offset);
    return withBody(offsetTable(offsets));
}

Response OffsetAdmin::resetAtClients(const protocol::ResetOffsetRequest& wish, bool asList) const {
    service::TopicFacts topic;
    if (!services_.topics->find(wish.topic, topic)) {
        return Response(ResponseCode::TopicNotExist,
                        "[reset-offset] reset offset failed, no topic in this broker. topic=" + std::string(wish.topic));
    }
    OffsetsByQueue offsets;
    for (std::int32_t queue = 0; queue < topic.writeQueueNums; ++queue) {
        const std::int64_t current = services_.offsets->query(wish.group, wish.topic, queue);
        if (current < 0) return Response(ResponseCode::SystemError, "THe consumer group <" + std::string(wish.group) + "> not exist");
        const auto target = offsetAt(wish.topic, queue, wish.timestamp);
        if (!target) return Response(ResponseCode::SystemError, target.error().message());
        const std::int64_t offset = std::max<std::int64_t>(*target, 0);
        offsets.emplace(queueOf(wish.topic, queue), wish.isForce || offset < current ? offset : current);
    }
    return push(wish, offsets, asList);
}

Response OffsetAdmin::push(const protocol::ResetOffsetRequest& wish, const OffsetsByQueue& offsets, bool asList) const {
    const auto members = services_.clients->consumers(wish.group);
    if (members.empty()) {
        return Response(ResponseCode::ConsumerNotOnline, "Consumer not online, so can not reset offset, Group: " + std::string(wish.group) +
                                                             " Topic: " + std::string(wish.topic) +
                                                             " Timestamp: " + std::to_string(wish.timestamp));
    }
    auto command = protocol::RemotingCommand::request(RequestCode::ResetConsumerClientOffset);
    protocol::ResetOffsetRequest header;
    header.group = wish.group;
    header.topic = wish.topic;
    header.timestamp = wish.timestamp;
    header.queueId = -1;
    command.setHeader(header);
    command.flag |= protocol::kFlagOneway;
    command.body = asList ? offsetList(offsets) : offsetTable(offsets);
    for (const auto& member : members) {
        if (member.version < kPushVersionMin) {
            return Response(ResponseCode::SystemError, "the client does not support this feature. version=" + std::to_string(member.version));
        }
        if (const Status pushed = member.peer->push(command); !pushed) {
            context_.log().limited(plugin::LogLevel::Warn, "a member could not be told its new offsets",
                                   {{"group", wish.group}, {"client", member.clientId}, {"problem", pushed.message()}});
        }
    }
    Response response = withBody(offsetTable(offsets));
    response.remark = kBornRemark;
    return response;
}

Response OffsetAdmin::clone(const plugin::Request& request) const {
    const auto wish = protocol::CloneGroupOffsetRequest::parse(request.command());
    if (!wish) return Response(wish.error());
    std::vector<std::string> topics;
    if (std::ranges::all_of(wish->topic, [](char c) { return c == ' '; })) {
        topics = services_.offsets->topicsOf(wish->srcGroup);
    } else {
        topics.emplace_back(wish->topic);
    }
    const bool online = services_.clients->group(wish->srcGroup).online;
    for (const auto& topic : topics) {
        service::TopicFacts facts;
        const bool passed = !services_.topics->find(topic, facts) ||
                            (!wish->offline && online && !services_.clients->subscription(wish->srcGroup, topic));
        if (passed) {
            context_.log().limited(plugin::LogLevel::Warn, "offsets of a topic are not cloned: it does not exist or the group does not subscribe it",
                                   {{"topic", topic}, {"group", wish->srcGroup}});
            continue;
        }
        services_.offsets->clone(wish->srcGroup, wish->destGroup, topic);
    }
    return Response(ResponseCode::Success);
}

Response OffsetAdmin::correction(const plugin::Request& request) const {
    const auto wish = protocol::CorrectionOffsetRequest::parse(request.command());
    if (!wish) return Response(wish.error());
    const auto passed = split(wish->filterGroups);
    std::map<std::int32_t, std::int64_t> lowest;
    for (const auto& group : services_.offsets->groupsOf(wish->topic)) {
        if (std::ranges::find(passed, group) != passed.end()) continue;
        for (const auto& [queue, offset] : services_.offsets->queues(group, wish->topic)) {
            if (offset < services_.store->range(wish->topic, queue).min) continue;
            const auto [at, added] = lowest.try_emplace(queue, offset);
            if (!added) at->second = std::min(at->second, offset);
        }
    }
    for (const auto& [queue, offset] : services_.offsets->queues(wish->compareGroup, wish->topic)) {
        const auto at = lowest.find(queue);
        // The compared group is the slowest there itself: nothing to correct.
        if (at == lowest.end() || at->second > offset) lowest[queue] = std::numeric_limits<std::int64_t>::max();
    }
    std::string body;
    json::Writer out(body);
    out.beginObject();
    out.key("correctionOffsets");
    out.beginObject();
    for (const auto& [queue, offset] : lowest) {
        out.key(std::int64_t{queue});
        out.integer(offset);
    }
    out.endObject();
    out.endObject();
    return withBody(std::move(body));
}

}  // namespace patchbay::plugins::consumer_admin

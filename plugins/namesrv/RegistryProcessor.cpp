#include "RegistryProcessor.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/util/Crc32.h"

namespace patchbay::plugins::namesrv {

using plugin::Response;
using protocol::RequestCode;
using protocol::ResponseCode;

namespace {

constexpr std::int32_t kTopicUnit = 1;
constexpr std::int32_t kTopicUnitSub = 2;
constexpr char kZlibFirstByte = 0x78;

Response withTopics(std::vector<std::string> topics) {
    protocol::TopicList list;
    list.topicList = std::move(topics);
    Response response;
    response.setBody(list.toJson());
    return response;
}

Response disabled() { return Response(ResponseCode::SystemError, "disable"); }

/// Java brokers with compressedRegister=true send zlib but say compressed=false; no JSON starts with its first byte.
bool isCompressed(const protocol::RegisterBrokerRequest& header, std::string_view body) noexcept {
    return header.compressed || (!body.empty() && body.front() == kZlibFirstByte);
}

}  // namespace

void RegistryProcessor::process(plugin::Request request) {
    Response response = answer(request);
    std::move(request).respond(std::move(response));
}

Response RegistryProcessor::answer(const plugin::Request& request) {
    const auto& command = request.command();
    switch (static_cast<RequestCode>(command.code)) {
        case RequestCode::RegisterBroker: return registerBroker(request);
        case RequestCode::UnregisterBroker: return unregisterBroker(command);
        case RequestCode::WipeWritePermOfBroker: return writePermission(command, false);
        case RequestCode::AddWritePermOfBroker: return writePermission(command, true);
        case RequestCode::DeleteTopicInNamesrv: return deleteTopic(command);
        case RequestCode::RegisterTopicInNamesrv: return registerTopic(command);
        case RequestCode::GetTopicsByCluster: return topicsByCluster(command);
        case RequestCode::GetUnitTopicList: return topicsWithFlags(kTopicUnit, kTopicUnit);
        case RequestCode::GetHasUnitSubTopicList: return topicsWithFlags(kTopicUnitSub, kTopicUnitSub);
        case RequestCode::GetHasUnitSubUnunitTopicList: return topicsWithFlags(kTopicUnit | kTopicUnitSub, kTopicUnitSub);
        case RequestCode::GetAllTopicListFromNameserver:
            return switches_.enableAllTopicList.load(std::memory_order_relaxed) ? withTopics(routes_.topics()) : disabled();
        default: {
            Response response;
            response.setBody(routes_.systemTopics().toJson());
            return response;
        }
    }
}

Response RegistryProcessor::registerBroker(const plugin::Request& request) {
    const auto& command = request.command();
    auto header = protocol::RegisterBrokerRequest::parse(command);
    if (!header) return Response(header.error());
    Response response;
    if (header->bodyCrc32 != 0 && header->bodyCrc32 != protocol::maskedCrc32(command.body)) {
        log_.limited(plugin::LogLevel::Warn, "registration refused: wrong checksum",
                     {{"broker", header->brokerName}, {"address", header->brokerAddr}});
        response.code = ResponseCode::SystemError;
        response.remark = "crc32 not match";
        response.fields().markPresent();
        return response;
    }
    auto body = protocol::RegisterBrokerBody::decode(command.body, command.version, isCompressed(*header, command.body));
    if (!body) return Response(ResponseCode::SystemError, "Failed to decode RegisterBrokerBody: " + body.error().message());

    const bool isNew = !routes_.isBroker(request.peer());
    auto outcome = routes_.registerBroker(*header, *body, request.sharePeer(), clock_.now(),
                                          std::chrono::milliseconds(expiryMs_.load(std::memory_order_relaxed)),
                                          switches_.deleteTopicWithBrokerRegistration.load(std::memory_order_relaxed));
    if (!outcome) {
        response.code = ResponseCode::SystemError;
        response.remark = outcome.error().message();
        response.fields().markPresent();
        return response;
    }
    // The connection may have ended while this waited; its end was then told before there was anything to take back.
    if (!request.peer().isOpen()) notifier_.departed(routes_.unregisterPeer(request.peer()), "connection closed");
    if (isNew) {
        log_.info("broker registered", {{"cluster", header->clusterName}, {"broker", header->brokerName},
                                        {"id", header->brokerId}, {"address", header->brokerAddr}});
    }
    if (outcome->change) notifier_.changed(*outcome->change);

    response.fields().markPresent();
    if (!outcome->masterAddr.empty()) {
        response.fields().add("haServerAddr", outcome->haServerAddr);
        response.fields().add("masterAddr", outcome->masterAddr);
    }
    if (switches_.returnOrderTopicConfigToBroker.load(std::memory_order_relaxed)) {
        if (auto table = kv_.list(protocol::kOrderTopicConfigNamespace)) {
            response.setBody(protocol::KvTable{std::move(*table)}.toJson());
        }
    }
    return response;
}

Response RegistryProcessor::unregisterBroker(const protocol::CommandView& command) {
    auto header = protocol::UnregisterBrokerRequest::parse(command);
    if (!header) return Response(header.error());
    notifier_.departed(routes_.unregisterBroker(header->clusterName, header->brokerName, header->brokerAddr), "said so");
    return Response(ResponseCode::Success);
}

Response RegistryProcessor::writePermission(const protocol::CommandView& command, bool add) {
    auto header = protocol::BrokerNameRequest::parse(command);
    if (!header) return Response(header.error());
    Response response;
    const std::int32_t topics = add ? routes_.addWritePermission(header->brokerName) : routes_.wipeWritePermission(header->brokerName);
    if (add) {
        protocol::AddWritePermResponse{topics}.write(response.fields());
    } else {
        protocol::WipeWritePermResponse{topics}.write(response.fields());
    }
    if (topics > 0) {
        log_.info(add ? "write permission given" : "write permission taken", {{"broker", header->brokerName}, {"topics", topics}});
    } else {
        log_.limited(plugin::LogLevel::Info, "write permission of a broker that has no topics", {{"broker", header->brokerName}});
    }
    return response;
}

Response RegistryProcessor::deleteTopic(const protocol::CommandView& command) {
    // Without any field there is no topic to delete, which RocketMQ answers as done.
    if (!command.hasFields) return Response(ResponseCode::Success);
    auto header = protocol::DeleteTopicInNamesrvRequest::parse(command);
    if (!header) return Response(header.error());
    routes_.deleteTopic(header->topic, header->clusterName);
    return Response(ResponseCode::Success);
}

Response RegistryProcessor::registerTopic(const protocol::CommandView& command) {
    const auto topic = command.find("topic");
    if (!topic) return Response(ResponseCode::SystemError, "the custom field <topic> is null");
    if (command.body.empty()) return Response(ResponseCode::Success);
    auto queues = protocol::QueueDataList::fromJson(command.body);
    if (!queues) return Response(queues.error());
    routes_.registerTopic(*topic, queues->queueDatas);
    return Response(ResponseCode::Success);
}

Response RegistryProcessor::topicsByCluster(const protocol::CommandView& command) const {
    if (!switches_.enableTopicList.load(std::memory_order_relaxed)) return disabled();
    auto header = protocol::TopicsByClusterRequest::parse(command);
    if (!header) return Response(header.error());
    return withTopics(routes_.topicsOfCluster(header->cluster));
}

Response RegistryProcessor::topicsWithFlags(std::int32_t mask, std::int32_t flags) const {
    if (!switches_.enableTopicList.load(std::memory_order_relaxed)) return disabled();
    return withTopics(routes_.topicsWithFlags(mask, flags));
}

}  // namespace patchbay::plugins::namesrv

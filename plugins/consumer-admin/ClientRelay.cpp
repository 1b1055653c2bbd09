#include "ClientRelay.h"

#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/json/Writer.h"
#include "patchbay/protocol/message/MessageId.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>

namespace patchbay::plugins::consumer_admin {

using plugin::Response;
using protocol::RequestCode;
using protocol::ResponseCode;

namespace {

constexpr std::chrono::milliseconds kHandOnTimeout{10'000};
constexpr std::chrono::milliseconds kOffsetsTimeout{5000};
constexpr std::int32_t kHandOnVersionMin = 62;   // V3_1_8_SNAPSHOT: older clients do not know these requests
constexpr std::int32_t kOffsetsVersionMin = 28;  // V3_0_7_SNAPSHOT

Response refusal(std::string remark) { return Response(ResponseCode::SystemError, std::move(remark)); }

/// Answers of several clients on their way to one. Whoever comes last answers; the last reference may be anybody's.
class Gathering {
public:
    Gathering(plugin::Request request, std::size_t expected) : request_(std::move(request)), waiting_(expected) {}

    /// `table` is the JSON of the client's offsets, or empty when it did not answer.
    void add(const std::string& clientId, std::string table) {
        {
            const std::lock_guard lock(mutex_);
            if (!table.empty()) tables_.insert_or_assign(clientId, std::move(table));
            if (--waiting_ != 0) return;
        }
        finish();
    }
    /// When all have answered, or nobody was asked.
    void finish() {
        std::string body;
        json::Writer out(body);
        out.beginObject();
        out.key("consumerTable");
        out.beginObject();
        for (const auto& [client, table] : tables_) {
            out.key(client);
            out.raw(table);
        }
        out.endObject();
        out.key("messageQueueTable");
        out.beginObject();
        out.endObject();
        out.endObject();
        Response response = withBody(std::move(body));
        response.remark = kBornRemark;
        std::move(request_).respond(std::move(response));
    }

private:
    plugin::Request request_;                    // of whoever finishes
    std::mutex mutex_;
    std::map<std::string, std::string> tables_;  // guarded by mutex_ until the last answer
    std::size_t waiting_;                        // guarded by mutex_
};

/// The offsets of a client's answer, written anew: what a client says is not copied unread into an answer of ours.
std::string tableOf(const protocol::RemotingCommand& answer) {
    const auto document = json::Document::parse(answer.body);
    if (!document || answer.code != static_cast<std::int32_t>(ResponseCode::Success)) return {};
    OffsetsByQueue offsets;
    for (const auto& [key, offset] : document->root()["messageQueueTable"]) {
        if (auto queue = protocol::MessageQueue::fromJson(key)) offsets.emplace(std::move(*queue), offset.integer().value_or(0));
    }
    std::string text;
    json::Writer out(text);
    write(out, offsets);
    return text;
}

}  // namespace

void ClientRelay::process(plugin::Request request) {
    if (static_cast<RequestCode>(request.command().code) == RequestCode::InvokeBrokerToGetConsumerStatus) {
        gatherOffsets(std::move(request));
    } else {
        handOn(std::move(request));
    }
}

void ClientRelay::handOn(plugin::Request request) {
    const auto wish = protocol::ConsumerRelayRequest::parse(request.command());
    if (!wish) return std::move(request).respond(Response(wish.error()));
    protocol::RemotingCommand forward = protocol::RemotingCommand::from(request.command());
    const std::string group(wish->consumerGroup);
    const std::string clientId(wish->clientId);
    const auto members = services_.clients->consumers(group);
    const auto found = std::ranges::find(members, clientId, &service::ClientInfo::clientId);
    if (clientId.empty() || found == members.end()) {
        return std::move(request).respond(refusal("The Consumer <" + group + "> <" + (clientId.empty() ? "null" : clientId) + "> not online"));
    }
    if (found->version < kHandOnVersionMin) {
        return std::move(request).respond(refusal("The Consumer <" + clientId + "> Version <" + std::to_string(found->version) +
                                                  "> too low to finish, please upgrade it to V3_1_8_SNAPSHOT"));
    }
    if (static_cast<RequestCode>(forward.code) == RequestCode::ConsumeMessageDirectly) {
        if (auto refused = addMessage(*wish, forward)) return std::move(request).respond(std::move(*refused));
    }
    // A task that can be copied cannot own a request; the last copy of this one does.
    auto waiting = std::make_shared<plugin::Request>(std::move(request));
    found->peer->invoke(std::move(forward), kHandOnTimeout, [waiting, group, clientId](Result<protocol::RemotingCommand> answer) {
        if (!answer) {
            const bool late = answer.error().code() == StatusCode::DeadlineExceeded;
            std::move(*waiting).respond(late ? ResponseCode::ConsumeMsgTimeout : ResponseCode::SystemError,
                                        "consumer <" + group + "> <" + clientId + "> " + answer.error().message());
            return;
        }
        Response response(static_cast<ResponseCode>(answer->code), answer->remark.value_or(std::string()));
        for (const auto& [key, value] : answer->fields) response.fields().add(key, value);
        response.setBody(std::move(answer->body));
        std::move(*waiting).respond(std::move(response));
    });
}

std::optional<Response> ClientRelay::addMessage(const protocol::ConsumerRelayRequest& wish, protocol::RemotingCommand& forward) const {
    const auto id = protocol::MessageId::parse(wish.msgId);
    if (!id) return refusal("msgId '" + std::string(wish.msgId) + "' is no offset message id");
    const auto record = services_.store->at(id->physicalOffset);
    if (!record) return refusal("can not find message by the offset, " + std::to_string(id->physicalOffset));
    forward.set("brokerName", identity_.brokerName);
    if (service::TopicFacts topic; services_.topics->find(wish.topic, topic)) forward.set("topicSysFlag", std::to_string(topic.sysFlag));
    if (service::GroupFacts group; services_.groups->find(wish.consumerGroup, group)) {
        forward.set("groupSysFlag", std::to_string(group.sysFlag));
    }
    forward.body = record->bytes;
    return std::nullopt;
}

void ClientRelay::gatherOffsets(plugin::Request request) {
    const auto wish = protocol::ConsumerStatusRequest::parse(request.command());
    if (!wish) return std::move(request).respond(Response(wish.error()));
    auto members = services_.clients->consumers(wish->group);
    if (members.empty()) {
        return std::move(request).respond(refusal("No Any Consumer online in the consumer group: [" + std::string(wish->group) + "]"));
    }
    for (const auto& member : members) {
        if (member.version >= kOffsetsVersionMin) continue;
        return std::move(request).respond(refusal("the client does not support this feature. version=" + std::to_string(member.version)));
    }
    if (!wish->clientAddr.empty()) {
        std::erase_if(members, [&wish](const auto& member) { return member.clientId != wish->clientAddr; });
    }
    auto forward = protocol::RemotingCommand::request(RequestCode::GetConsumerStatusFromClient);
    protocol::ConsumerStatusRequest header;
    header.group = wish->group;
    header.topic = wish->topic;
    forward.setHeader(header);
    auto gathering = std::make_shared<Gathering>(std::move(request), members.size());
    if (members.empty()) return gathering->finish();
    for (const auto& member : members) {
        member.peer->invoke(forward, kOffsetsTimeout, [gathering, id = member.clientId](Result<protocol::RemotingCommand> answer) {
            gathering->add(id, answer ? tableOf(*answer) : std::string());
        });
    }
}

}  // namespace patchbay::plugins::consumer_admin

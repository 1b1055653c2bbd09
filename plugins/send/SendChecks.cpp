#include "SendChecks.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <algorithm>

namespace patchbay::plugins::send {

using protocol::ResponseCode;

namespace {

constexpr std::int32_t kRetryTopicPerm = static_cast<std::int32_t>(protocol::kPermRead | protocol::kPermWrite);

/// Not the rules are in the way but the disk, and whoever applies first meets it as well.
bool isFailure(StatusCode code) noexcept { return code != StatusCode::NotFound && code != StatusCode::InvalidArgument; }

}  // namespace

std::optional<Refusal> SendChecks::topic(const protocol::SendMessageRequest& header, const SendConfig& config,
                                         const plugin::Peer& peer, service::TopicFacts& facts) const {
    const std::int64_t acceptFromMs = config.acceptFromMs.load(std::memory_order_relaxed);
    if (acceptFromMs > 0 && clock_.wallMs() < acceptFromMs) {
        return Refusal{ResponseCode::SystemError, "broker unable to service, until " + std::to_string(acceptFromMs)};
    }
    // A name that is a topic already has passed the checks below once.
    const bool known = topics_.find(header.topic, facts);
    if (known && facts.order && !protocol::isWriteable(config.permission.load(std::memory_order_relaxed))) {
        return Refusal{ResponseCode::NoPermission, "the broker[" + identity_.brokerIp + "] sending message is forbidden"};
    }
    if (!known) {
        if (const auto valid = protocol::validateTopicName(header.topic); !valid) {
            return Refusal{ResponseCode::InvalidParameter, valid.message()};
        }
    }
    if (protocol::isForbiddenToSend(header.topic)) {
        return Refusal{ResponseCode::NoPermission, "Sending message to topic[" + std::string(header.topic) + "] is forbidden."};
    }
    if (known) return std::nullopt;

    const bool retry = protocol::isRetryTopic(header.topic);
    const std::int32_t sysFlag = !header.unitMode ? 0 : retry ? protocol::kTopicSysFlagUnitSub : protocol::kTopicSysFlagUnit;
    const std::string client = peer.remote().toString();
    auto created = topics_.createForSend({header.topic, header.defaultTopic, header.defaultTopicQueueNums, sysFlag, client});
    if (!created && retry) created = topics_.createIfMissing(header.topic, 1, kRetryTopicPerm, sysFlag);
    if (!created && isFailure(created.error().code())) {
        return Refusal{protocol::responseCodeOf(created.error().code()),
                       "topic[" + std::string(header.topic) + "] cannot be created: " + created.error().message()};
    }
    if (!created) {
        return Refusal{ResponseCode::TopicNotExist,
                       "topic[" + std::string(header.topic) + "] not exist, apply first please!"
                       "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."};
    }
    facts = *created;
    return std::nullopt;
}

std::optional<Refusal> SendChecks::queue(const protocol::SendMessageRequest& header, const service::TopicFacts& facts,
                                         const plugin::Peer& peer, std::uint32_t chance, std::int32_t& queueId) const {
    queueId = header.queueId;
    if (queueId >= std::max(facts.writeQueueNums, facts.readQueueNums)) {
        const auto config = topics_.get(header.topic);
        return Refusal{ResponseCode::InvalidParameter, "request queueId[" + std::to_string(queueId) + "] is illegal, " +
                       (config ? config->toString() : std::string(header.topic)) + " Producer: " + peer.remote().toString()};
    }
    if (queueId < 0) {
        queueId = facts.writeQueueNums > 0 ? static_cast<std::int32_t>(chance % static_cast<std::uint32_t>(facts.writeQueueNums)) : 0;
    }
    return std::nullopt;
}

}  // namespace patchbay::plugins::send

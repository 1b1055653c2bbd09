// SendChecks: what has to be true before a message is stored, in RocketMQ's order and with its words.
#pragma once

#include "SendConfig.h"

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Response.h"
#include "patchbay/plugin/Runtime.h"
#include "patchbay/plugin/Services.h"
#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/service/SubscriptionGroups.h"
#include "patchbay/service/TopicConfigs.h"

#include <optional>
#include <string>
#include <string_view>

namespace patchbay::plugins::send {

/// A refusal: code and remark. The caller adds the header fields that every answer has, but for those that RocketMQ's broker answers
/// because an exception left it.
struct Refusal {
    protocol::ResponseCode code;
    std::string remark;
    bool withFields = true;
};

/// Stateless but for what it borrows; owned by the processor. Any lane.
class SendChecks {
public:
    SendChecks(service::TopicConfigs& topics, const plugin::BrokerIdentity& identity, const Clock& clock)
        : topics_(topics), identity_(identity), clock_(clock) {}

    /// Finds or creates the topic. Fills `facts`, or says why not.
    std::optional<Refusal> topic(const protocol::SendMessageRequest& header, const SendConfig& config,
                                 const plugin::Peer& peer, service::TopicFacts& facts) const;
    /// The queue that was asked for, checked, or one by chance for a negative number.
    std::optional<Refusal> queue(const protocol::SendMessageRequest& header, const service::TopicFacts& facts,
                                 const plugin::Peer& peer, std::uint32_t chance, std::int32_t& queueId) const;

private:
    service::TopicConfigs& topics_;
    const plugin::BrokerIdentity& identity_;
    const Clock& clock_;
};

}  // namespace patchbay::plugins::send

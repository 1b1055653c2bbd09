// SendBackProcessor: serves CONSUMER_SEND_MSG_BACK.
#pragma once

#include "SendBack.h"

#include "patchbay/plugin/Plugin.h"
#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/service/DelaySchedule.h"
#include "patchbay/service/SubscriptionGroups.h"
#include "patchbay/service/TopicConfigs.h"
#include "patchbay/service/TrafficStats.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace patchbay::plugins::retry {

/// What the processor borrows; valid as long as it.
struct RetryServices {
    plugin::ServiceRef<service::MessageStore> store;
    plugin::ServiceRef<service::TopicConfigs> topics;
    plugin::ServiceRef<service::SubscriptionGroups> groups;
    plugin::ServiceRef<service::DelaySchedule> delay;
    plugin::ServiceRef<service::TrafficStats> traffic;   ///< may be empty
};

/// Stores a copy of a message that a consumer could not handle: in the schedule of the group's retry topic, or in its
/// dead-letter topic. Owned by the plugin. process() runs on the plugin's executor, since the message may have to come from
/// the disk; answers come from SendBack::done().
class SendBackProcessor final : public plugin::Processor {
public:
    /// `permission`: brokerPermission, which may change; outlives the processor.
    SendBackProcessor(RetryServices services, plugin::PluginContext& context, const std::atomic<std::uint32_t>& permission);
    void process(plugin::Request request) override;
    /// Blocks until the store has answered all that was handed to it. process() is not called any more.
    void awaitIdle() noexcept { inFlight_.awaitNone(); }

private:
    struct Answer {
        protocol::ResponseCode code;
        std::string remark;
    };
    /// Nothing: go on.
    std::optional<Answer> check(const protocol::ConsumerSendMsgBackRequest& header, const service::GroupFacts& group,
                                const std::string& retryTopic) const;
    std::optional<Answer> fill(SendBack& back, const protocol::ConsumerSendMsgBackRequest& header,
                               const service::GroupFacts& group);
    void submit(std::unique_ptr<SendBack> back);

    RetryServices services_;
    const plugin::BrokerIdentity& identity_;
    const std::atomic<std::uint32_t>& permission_;
    plugin::Logger& log_;
    plugin::Counter& retries_;
    plugin::Counter& deadLetters_;
    SendBacksInFlight inFlight_;
    std::atomic<std::uint32_t> turn_{0};  // spreads messages over the queues of their retry topic
};

}  // namespace patchbay::plugins::retry

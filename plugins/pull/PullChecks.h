// PullChecks: who may pull what, in RocketMQ's order and with its words.
#pragma once

#include "PullConfig.h"

#include "patchbay/plugin/Plugin.h"
#include "patchbay/protocol/headers/PullMessage.h"
#include "patchbay/protocol/route/SubscriptionData.h"
#include "patchbay/service/ClientRegistry.h"
#include "patchbay/service/ConsumerOffsets.h"
#include "patchbay/service/MessageFilter.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/SubscriptionGroups.h"
#include "patchbay/service/TopicConfigs.h"

#include <optional>
#include <string>
#include <vector>

namespace patchbay::plugins::pull {

/// What the plugin borrows. Valid as long as the processors.
struct PullServices {
    plugin::ServiceRef<service::MessageStore> store;
    plugin::ServiceRef<service::TopicConfigs> topics;
    plugin::ServiceRef<service::SubscriptionGroups> groups;
    plugin::ServiceRef<service::ConsumerOffsets> offsets;
    plugin::ServiceRef<service::ClientRegistry> clients;
    plugin::ServiceRef<service::MessageFilter> filters;   ///< may be empty: then only tags are served
};

struct Refusal {
    protocol::ResponseCode code;
    std::string remark;
    std::int32_t forbiddenType = 0;   ///< 0 = absent
};

/// What a pull is allowed to see.
struct Admission {
    service::TopicFacts topic;
    service::GroupFacts group;
    std::vector<std::int32_t> tagCodes;   ///< empty = all messages
    Ref<service::PropertyFilter> filter;  ///< null = by tags alone
    bool broadcasting = false;            ///< each client of the group has offsets of its own
};

/// Stateless but for what it borrows; owned by the processor. Any lane.
class PullChecks {
public:
    PullChecks(const PullServices& services, const plugin::BrokerIdentity& identity, const PullConfig& config, const PullLimits& limits)
        : services_(services), identity_(identity), config_(config), limits_(limits) {}

    std::optional<Refusal> admit(const protocol::PullMessageRequest& pull, bool lite, const plugin::Peer& peer,
                                 Admission& admission) const;

private:
    std::optional<Refusal> lengths(const protocol::PullMessageRequest& pull) const;
    std::optional<Refusal> subscription(const protocol::PullMessageRequest& pull, Admission& admission) const;
    std::optional<Refusal> registered(const protocol::PullMessageRequest& pull, Admission& admission,
                                      protocol::SubscriptionData& data) const;
    std::optional<Refusal> expression(const protocol::SubscriptionData& data, bool carried, Admission& admission) const;
    std::optional<Refusal> pullConsumer(const protocol::PullMessageRequest& pull, const plugin::Peer& peer) const;

    const PullServices& services_;
    const plugin::BrokerIdentity& identity_;
    const PullConfig& config_;
    const PullLimits& limits_;
};

}  // namespace patchbay::plugins::pull

// The topics and groups that every broker has from its start.
#pragma once

#include "TopicsConfig.h"

#include "patchbay/plugin/Runtime.h"
#include "patchbay/protocol/route/SubscriptionGroupConfig.h"
#include "patchbay/protocol/route/TopicConfig.h"

#include <vector>

namespace patchbay::plugins::topics {

/// As RocketMQ creates them; what topics.json says of them counts more.
std::vector<protocol::TopicConfig> systemTopics(const TopicsConfig& config, const plugin::BrokerIdentity& identity);
std::vector<protocol::SubscriptionGroupConfig> systemGroups();

}  // namespace patchbay::plugins::topics

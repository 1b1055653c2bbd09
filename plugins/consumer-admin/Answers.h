// Answers: what the processors of this plugin share.
#pragma once

#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/ClientRegistry.h"
#include "patchbay/service/ConsumerOffsets.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/QueueLocks.h"
#include "patchbay/service/SubscriptionGroups.h"
#include "patchbay/service/TopicConfigs.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace patchbay::plugins::consumer_admin {

/// What the plugin borrows. Valid as long as the processors.
struct Services {
    plugin::ServiceRef<service::MessageStore> store;
    plugin::ServiceRef<service::TopicConfigs> topics;
    plugin::ServiceRef<service::SubscriptionGroups> groups;
    plugin::ServiceRef<service::ConsumerOffsets> offsets;
    plugin::ServiceRef<service::ClientRegistry> clients;
    plugin::ServiceRef<service::QueueLocks> locks;
};

/// Offsets by queue, as 220, 221 and 222 carry them.
using OffsetsByQueue = std::map<protocol::MessageQueue, std::int64_t>;

/// {queue:offset,…} with the queue as an object, in fastjson's way.
void write(json::Writer& out, const OffsetsByQueue& offsets);
/// {"offsetTable":{…}}
[[nodiscard]] std::string offsetTable(const OffsetsByQueue& offsets);
/// The same as a list, which RocketMQ's C++ clients want.
[[nodiscard]] std::string offsetList(const OffsetsByQueue& offsets);

/// Success with a body.
[[nodiscard]] plugin::Response withBody(std::string body);
/// The remark that RocketMQ's responses are born with, where it leaves it there; tools print it.
inline constexpr std::string_view kBornRemark = "not set any response code";
/// A header field of the request, empty when it is absent.
[[nodiscard]] std::string_view fieldOf(const plugin::Request& request, std::string_view name) noexcept;

}  // namespace patchbay::plugins::consumer_admin

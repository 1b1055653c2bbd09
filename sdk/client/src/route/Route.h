// Route: where the queues of a topic are, as producers and consumers need it.
#pragma once

#include "patchbay/base/Status.h"
#include "patchbay/protocol/route/MessageQueue.h"
#include "patchbay/protocol/route/TopicRoute.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

/// Immutable once made, so that any thread may read it.
struct Route {
    protocol::TopicRouteData data;
    std::vector<protocol::MessageQueue> toWrite;  ///< sorted by broker and queue, or in the order of the ordered topic's configuration
    std::vector<protocol::MessageQueue> toRead;   ///< sorted
    std::map<std::string, std::string, std::less<>> masters;  ///< broker name -> address of its master
    bool ordered = false;

    /// Corrupt when there are more queues than a topic may have: nothing is made of such an answer.
    [[nodiscard]] static Status check(const std::string& topic, const protocol::TopicRouteData& data);
    /// `topic` is the name under which the queues are known; it differs from that of the data for a topic that is to be created.
    [[nodiscard]] static std::shared_ptr<const Route> from(std::string topic, protocol::TopicRouteData data);
    [[nodiscard]] const std::string* masterOf(std::string_view brokerName) const;
    /// The broker with that id, else (unless `onlyThat`) any of that name.
    [[nodiscard]] const std::string* addressOf(std::string_view brokerName, std::int64_t brokerId, bool onlyThat = false) const;
};

using RoutePtr = std::shared_ptr<const Route>;

}  // namespace patchbay::client

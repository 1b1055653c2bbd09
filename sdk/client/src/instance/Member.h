// Member: a producer or consumer as its client sees it.
#pragma once

#include "patchbay/protocol/RemotingCommand.h"
#include "patchbay/protocol/route/Heartbeat.h"
#include "remoting/Channel.h"
#include "route/Route.h"

#include <string>
#include <string_view>

namespace patchbay::client {

/// Everything on the loop thread. A member is added to and removed from its client there.
class Member {
public:
    virtual ~Member() = default;
    [[nodiscard]] virtual const std::string& group() const noexcept = 0;
    [[nodiscard]] virtual bool isConsumer() const noexcept = 0;
    /// What brokers have to know of it.
    virtual void describe(protocol::HeartbeatData& heartbeat) const = 0;
    virtual void routeChanged(const std::string&, const RoutePtr&) {}
    /// A broker accepted a heartbeat over a new connection, or said that the group has changed.
    virtual void groupChanged() {}
    /// A request of a broker for this group: 39, 220, 221, 307, 309.
    virtual void serverRequest(Channel&, const protocol::RemotingCommand&, protocol::SerializeType) {}
};

}  // namespace patchbay::client

// ListenerCall: how listeners are called, for messages of their queue or for one that an operator sends.
#pragma once

#include "consumer/ConsumerCore.h"
#include "consumer/ListenerPool.h"
#include "patchbay/client/Message.h"
#include "runtime/Guarded.h"

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace patchbay::client {

struct DirectOutcome {
    bool success = false;
    std::string thrown;   ///< empty unless the listener threw
};
using DirectListener = std::function<DirectOutcome(std::span<const ReceivedMessage>)>;

/// CONSUME_MESSAGE_DIRECTLY: calls the listener on one of the pool's threads and answers afterwards. False, and nothing happens, for
/// other requests and for bodies without a message. Loop thread.
bool consumeDirectly(const std::shared_ptr<ConsumerCore>& core, ListenerPool& pool, Channel& channel, const protocol::RemotingCommand& request,
                     protocol::SerializeType type, bool orderly, DirectListener listener);

}  // namespace patchbay::client

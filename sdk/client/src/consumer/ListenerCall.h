// ListenerCall: how listeners are called, for messages of their queue or for one that an operator sends.
#pragma once

#include "consumer/ConsumerCore.h"
#include "consumer/ListenerPool.h"
#include "patchbay/client/Message.h"

#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace patchbay::client {

/// What the call answers, or `failed` with the exception's text, which is never empty then.
template <typename Call, typename Outcome>
[[nodiscard]] Outcome guarded(const Call& call, Outcome failed, std::string& thrown) {
    try {
        return call();
    } catch (const std::exception& failure) {
        thrown = failure.what();
    } catch (...) {
        thrown = "an exception of an unknown type";
    }
    if (thrown.empty()) thrown = "an exception without a text";
    return failed;
}

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

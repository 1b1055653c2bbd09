// ClientRelay: questions that an administrator asks members of a group through the broker (223, 307, 309).
#pragma once

#include "Answers.h"

#include "patchbay/protocol/headers/ConsumerAdmin.h"

#include <optional>

namespace patchbay::plugins::consumer_admin {

/// Hands requests to clients and their answers back. Owned by the plugin. process() runs on the plugin's executor, since 309 reads a
/// message; answers come on the control executor and need nothing of this object.
class ClientRelay final : public plugin::Processor {
public:
    ClientRelay(const Services& services, const plugin::BrokerIdentity& identity) : services_(services), identity_(identity) {}
    void process(plugin::Request request) override;

private:
    /// 307 and 309: the client's answer is the answer.
    void handOn(plugin::Request request);
    /// 223: offsets that members have in memory, gathered.
    void gatherOffsets(plugin::Request request);
    /// Puts the message into the request, and what the client has to know of it. A refusal, or nothing.
    [[nodiscard]] std::optional<plugin::Response> addMessage(const protocol::ConsumerRelayRequest& wish,
                                                             protocol::RemotingCommand& forward) const;

    const Services& services_;
    const plugin::BrokerIdentity& identity_;
};

}  // namespace patchbay::plugins::consumer_admin

// OffsetAdmin: offsets of groups as an operator sets and compares them (222, 308, 314).
#pragma once

#include "Answers.h"

#include "patchbay/protocol/headers/ConsumerAdmin.h"

namespace patchbay::plugins::consumer_admin {

/// Owned by the plugin. process() runs on the plugin's executor, because a search by time may wait for the disk.
class OffsetAdmin final : public plugin::Processor {
public:
    /// `serverSide` (useServerSideResetOffset): a reset is told to whoever pulls next; else it is pushed to the members.
    OffsetAdmin(const Services& services, plugin::PluginContext& context, bool serverSide)
        : services_(services), context_(context), identity_(context.identity()), serverSide_(serverSide) {}
    void process(plugin::Request request) override;

private:
    [[nodiscard]] plugin::Response reset(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response resetHere(const protocol::ResetOffsetRequest& wish) const;
    [[nodiscard]] plugin::Response resetAtClients(const protocol::ResetOffsetRequest& wish, bool asList) const;
    [[nodiscard]] plugin::Response push(const protocol::ResetOffsetRequest& wish, const OffsetsByQueue& offsets, bool asList) const;
    [[nodiscard]] plugin::Response clone(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response correction(const plugin::Request& request) const;
    /// The offset that `timestampMs` stands for; below zero: the end.
    [[nodiscard]] Result<std::int64_t> offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timestampMs) const;
    [[nodiscard]] protocol::MessageQueue queueOf(std::string_view topic, std::int32_t queueId) const {
        return {std::string(topic), identity_.brokerName, queueId};
    }

    const Services& services_;
    plugin::PluginContext& context_;
    const plugin::BrokerIdentity& identity_;
    const bool serverSide_;
};

}  // namespace patchbay::plugins::consumer_admin

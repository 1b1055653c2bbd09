// WhyStuck: why a consumer group gets on badly (WHY_STUCK, a code of Patchbay's own).
#pragma once

#include "GroupReport.h"

namespace patchbay::plugins::consumer_admin {

/// Answers the report of the group that the header field `group` names, as JSON; the README says what is in it. Owned by the plugin.
/// process() runs on the plugin's executor.
class WhyStuck final : public plugin::Processor {
public:
    WhyStuck(const Services& services, plugin::PluginContext& context)
        : identity_(context.identity()), clock_(context.clock()), reporter_(services, context.clock()) {}
    void process(plugin::Request request) override;

private:
    [[nodiscard]] std::string encode(const GroupReport& report) const;

    const plugin::BrokerIdentity& identity_;
    const Clock& clock_;
    const Reporter reporter_;
};

}  // namespace patchbay::plugins::consumer_admin

// QueryProcessor: offsets of queues and single messages (12, 29, 30, 31, 32, 33).
#pragma once

#include "PullChecks.h"
#include "PullConfig.h"

namespace patchbay::plugins::pull {

/// Owned by the plugin; borrows the store. Ends of queues are answered on the loop, the rest on the "pull" executor.
class QueryProcessor final : public plugin::Processor {
public:
    QueryProcessor(const PullServices& services, const PullConfig& config) : services_(services), config_(config) {}

    void process(plugin::Request request) override;

private:
    [[nodiscard]] plugin::Response answer(const plugin::Request& request) const;
    [[nodiscard]] bool mustWait(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response queueEnd(const plugin::Request& request, bool max) const;
    [[nodiscard]] plugin::Response searchByTime(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response earliestTime(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response viewMessage(const plugin::Request& request) const;
    [[nodiscard]] plugin::Response queryMessages(const plugin::Request& request) const;

    const PullServices& services_;
    const PullConfig& config_;
};

}  // namespace patchbay::plugins::pull

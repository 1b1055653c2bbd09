// RouteProcessor: what clients and brokers ask all the time: routes, members, signs of life.
#pragma once

#include "KvConfig.h"
#include "NamesrvConfig.h"
#include "RouteTable.h"

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Processor.h"

namespace patchbay::plugins::namesrv {

/// Serves 105, 106, 322, 901 and 904 on the loops: it only reads memory. Owned by the plugin; all lanes at once.
class RouteProcessor final : public plugin::Processor {
public:
    RouteProcessor(RouteTable& routes, const KvConfig& kv, const Switches& switches, const Clock& clock)
        : routes_(routes), kv_(kv), switches_(switches), clock_(clock), started_(clock.now()) {}

    void process(plugin::Request request) override;

private:
    [[nodiscard]] plugin::Response route(const protocol::CommandView& command) const;
    [[nodiscard]] plugin::Response queryDataVersion(const protocol::CommandView& command);
    [[nodiscard]] plugin::Response heartbeat(const protocol::CommandView& command);
    [[nodiscard]] plugin::Response memberGroup(const protocol::CommandView& command) const;
    [[nodiscard]] bool ready() const noexcept;

    RouteTable& routes_;
    const KvConfig& kv_;
    const Switches& switches_;
    const Clock& clock_;
    const MonotonicTime started_;
};

}  // namespace patchbay::plugins::namesrv

// ReachProcessor: tells a broker whether the address that it tells clients can be reached from here.
#pragma once

#include "RouteTable.h"

#include "patchbay/plugin/Processor.h"
#include "patchbay/plugin/Runtime.h"

#include <atomic>
#include <cstdint>

namespace patchbay::plugins::namesrv {

/// Serves 29200 to brokers that are registered over the same connection: connects to the address and asks something; whatever is answered,
/// somebody is there. Never blocks, so it is loop-safe. Owned by the plugin; calls that are open when that stops are ended by the kernel.
class ReachProcessor final : public plugin::Processor {
public:
    ReachProcessor(const RouteTable& routes, plugin::RemotingInvoker& remoting, std::uint32_t underWayMax)
        : routes_(routes), remoting_(remoting), underWayMax_(underWayMax) {}

    void process(plugin::Request request) override;

private:
    const RouteTable& routes_;
    plugin::RemotingInvoker& remoting_;
    const std::uint32_t underWayMax_;
    std::atomic<std::uint32_t> underWay_{0};
};

}  // namespace patchbay::plugins::namesrv

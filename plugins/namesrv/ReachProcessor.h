// ReachProcessor: tells a broker whether the address that it tells clients can be reached from here.
#pragma once

#include "RouteTable.h"

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Processor.h"
#include "patchbay/plugin/Runtime.h"

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>

namespace patchbay::plugins::namesrv {

/// Serves 29200 to brokers that are registered over the same connection: connects to the address and asks something; whatever is answered,
/// somebody is there. Never blocks, so it is loop-safe. Owned by the plugin; calls that are open when that stops are ended by the kernel.
class ReachProcessor final : public plugin::Processor {
public:
    ReachProcessor(const RouteTable& routes, plugin::RemotingInvoker& remoting, const Clock& clock, std::uint32_t underWayMax)
        : routes_(routes), remoting_(remoting), clock_(clock), underWayMax_(underWayMax) {}

    void process(plugin::Request request) override;

private:
    using Began = std::list<MonotonicTime>;
    /// Nothing, and the refusal in `refusal`, when there are too many.
    std::optional<Began::iterator> enter(std::string& refusal);

    const RouteTable& routes_;
    plugin::RemotingInvoker& remoting_;
    const Clock& clock_;
    const std::uint32_t underWayMax_;
    std::mutex mutex_;
    Began underWay_;   // guarded by mutex_; oldest first
};

}  // namespace patchbay::plugins::namesrv

// MinBrokerNotifier: carries out what a change of the route table asks for beyond the table.
#pragma once

#include "NamesrvConfig.h"
#include "RouteTable.h"

#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Runtime.h"

namespace patchbay::plugins::namesrv {

/// Writes departures to the log and, with notifyMinBrokerIdChanged, tells group members of a new smallest broker id (905,
/// one-way, over a connection of our own to each). Owned by the plugin; any thread; never blocks.
class MinBrokerNotifier {
public:
    MinBrokerNotifier(plugin::RemotingInvoker& remoting, plugin::Logger& log, const Switches& switches)
        : remoting_(remoting), log_(log), switches_(switches) {}

    void changed(const MinBrokerChange& change);
    void departed(const UnregisterOutcome& outcome, std::string_view reason);

private:
    plugin::RemotingInvoker& remoting_;
    plugin::Logger& log_;
    const Switches& switches_;
};

}  // namespace patchbay::plugins::namesrv

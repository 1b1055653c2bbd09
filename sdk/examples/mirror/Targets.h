// Targets: which queue of the other cluster takes the messages of a queue here.
#pragma once

#include "Bundle.h"
#include "MirrorConfig.h"

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Runtime.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace mirror {

/// Asks the other cluster's name servers, one after the other, and remembers for a while. Queue n here goes to queue n of the list of all
/// writable queues there (brokers by name), counted round, so that the order within a queue stays. Owned by the mirror; used under its
/// lock, which the answers take themselves.
class Targets {
public:
    Targets(const MirrorConfig& config, patchbay::plugin::RemotingInvoker& remoting, patchbay::plugin::Logger& log, const patchbay::Clock& clock,
            std::mutex& mutex)
        : config_(config), remoting_(remoting), log_(log), clock_(clock), mutex_(mutex) {}

    /// Null while nothing is known; then it is being asked for. Valid until the lock is let go. `topic` is the one over there.
    [[nodiscard]] const TargetQueue* queueFor(const std::string& topic, std::int32_t queueId);
    /// What is known was wrong.
    void forget(const std::string& topic);

private:
    struct Route {
        std::vector<TargetQueue> queues;
        patchbay::MonotonicTime askAgain{};
        bool asked = false;
    };
    void ask(const std::string& topic, Route& route);
    void answered(const std::string& topic, const patchbay::Result<patchbay::protocol::RemotingCommand>& answer);
    static patchbay::Result<std::vector<TargetQueue>> queuesOf(const patchbay::protocol::RemotingCommand& answer);

    const MirrorConfig& config_;
    patchbay::plugin::RemotingInvoker& remoting_;
    patchbay::plugin::Logger& log_;
    const patchbay::Clock& clock_;
    std::mutex& mutex_;
    std::map<std::string, Route> routes_;
    std::size_t server_ = 0;   // of config_.nameServers
};

}  // namespace mirror

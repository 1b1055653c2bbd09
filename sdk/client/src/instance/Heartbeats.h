// Heartbeats: tells all brokers which groups this client belongs to.
#pragma once

#include "patchbay/protocol/route/Heartbeat.h"
#include "remoting/Asker.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace patchbay::client {

class Log;

/// Loop thread. One heartbeat does not wait for another, so a broker that does not answer delays nobody. In the second version the
/// subscriptions are left out while the broker says it still has them.
class Heartbeats {
public:
    Heartbeats(Asker& asker, const Log& log, std::chrono::milliseconds timeout, bool secondVersion) noexcept
        : asker_(asker), log_(log), timeout_(timeout), secondVersion_(secondVersion) {}

    /// `whole`: also in the second version with all subscriptions. `done` is called for each address.
    void send(const std::set<std::string>& addresses, protocol::HeartbeatData data, bool whole,
              const std::function<void(const std::string&, bool)>& done = {});

private:
    struct Peer {
        bool knowsSecondVersion = false;
        std::int32_t fingerprint = 0;
    };
    void answered(const std::string& address, std::int32_t fingerprint, const Result<protocol::RemotingCommand>& answer);

    Asker& asker_;
    const Log& log_;
    const std::chrono::milliseconds timeout_;
    const bool secondVersion_;
    std::map<std::string, Peer> peers_;
};

}  // namespace patchbay::client

// What the kernel lends to a plugin beside services: timers, tasks, connections out, counters, facts about the node.
#pragma once

#include "patchbay/base/SocketAddress.h"
#include "patchbay/base/Status.h"
#include "patchbay/plugin/Peer.h"
#include "patchbay/protocol/RemotingCommand.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace patchbay::plugin {

using Task = std::function<void()>;
using TimerId = std::uint64_t;

/// Repeated and delayed work. Tasks run on the "control" executor, one after the other, so they may block for a moment; an
/// exception that leaves one is logged. All timers of a plugin are cancelled, and its running task awaited, before its stop().
class Timers {
public:
    virtual ~Timers();
    /// First after `first`, then `interval` after each end.
    virtual TimerId every(std::chrono::milliseconds first, std::chrono::milliseconds interval, Task task) = 0;
    virtual TimerId after(std::chrono::milliseconds delay, Task task) = 0;
    /// The task does not start afterwards; it may be running. Unknown ids are ignored.
    virtual void cancel(TimerId id) noexcept = 0;
    /// Runs a task soon on the control executor.
    virtual void post(Task task) = 0;
};

/// Calls to other servers (name servers, brokers). One connection per address, opened when needed, closed when idle.
/// Names are resolved on a thread of their own. Any thread; never blocks. `done` runs once on the control executor; for calls
/// that are open when the plugin is about to stop it runs before stop(), on its thread, with Cancelled. A command with the one-way
/// flag has no answer: `done` gets an empty command as soon as it waits to be sent.
class RemotingInvoker {
public:
    virtual ~RemotingInvoker();
    virtual void invoke(const std::string& hostPort, protocol::RemotingCommand command, std::chrono::milliseconds timeout,
                        InvokeDone done) = 0;
};

/// A monotonic count. Any thread.
class Counter {
public:
    void add(std::uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

/// Named counters of the process. A counter lives as long as the process; asking twice gives the same one.
class Metrics {
public:
    virtual ~Metrics();
    virtual Counter& counter(std::string_view name, std::string_view help) = 0;
    virtual void visit(const std::function<void(std::string_view name, std::string_view help, std::uint64_t value)>& each) const = 0;
};

/// Who this broker is, from the main configuration file. Constant after the listeners are bound, which is before any init().
struct BrokerIdentity {
    std::string clusterName;
    std::string brokerName;
    std::int64_t brokerId = 0;          ///< 0 = master
    std::string brokerIp;               ///< advertised (brokerIP1)
    std::uint16_t brokerPort = 0;       ///< advertised; the real one where the configuration says 0
    SocketAddress storeHost;            ///< the same as an address, for message records; IPv4 127.0.0.1 when it is a name
    std::string namesrvAddr;            ///< "host:port;host:port"; this process's own name server when it has one and none is set
    std::uint16_t namesrvPort = 0;      ///< of this process's name server; 0 = none
    std::string haServerAddr;           ///< "ip:port" told to the name server
    std::string regionId;
    std::int32_t permission = 6;        ///< brokerPermission
    std::string configPath;             ///< the main file
    std::string storeRoot;              ///< storePathRootDir, absolute
    std::int64_t startedWallMs = 0;

    [[nodiscard]] std::string address() const { return brokerIp + ":" + std::to_string(brokerPort); }
};

}  // namespace patchbay::plugin

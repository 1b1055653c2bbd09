// Resolver: names become addresses on a thread of their own, because the system's resolver may take half a minute.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/base/SocketAddress.h"

#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace patchbay::kernel {

/// One look-up at a time, in the order of asking. Its thread begins with the first; it is not waited for at the stop: a look-up that is
/// under way then ends by itself, and nobody is told. Any thread.
class Resolver {
public:
    using Found = std::function<void(Result<SocketAddress>)>;
    using LookUp = std::function<Result<SocketAddress>(const std::string& hostPort)>;

    explicit Resolver(LookUp lookUp = {});   ///< the system's unless a test has its own
    ~Resolver();                             ///< stops
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    /// `found` is called on the resolver's thread, or destroyed when the resolver stops first. Dropped after stop().
    void resolve(const std::string& hostPort, Found found);
    /// No `found` is called or exists when it returns, but for one that runs now, which is waited for.
    void stop() noexcept;

private:
    struct State;
    static void work(const std::shared_ptr<State>& state) noexcept;

    const std::shared_ptr<State> state_;   // shared with the thread
};

}  // namespace patchbay::kernel

// ClientOptions: what producers, consumers and administrators have in common.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace patchbay::client {

/// By which a broker with access control knows the caller. Empty keys: requests are not signed.
struct Credentials {
    std::string accessKey{};
    std::string secretKey{};
    std::string securityToken{};  ///< only with temporary keys
    friend bool operator==(const Credentials&, const Credentials&) = default;
};

enum class LogLevel : std::uint8_t { Debug, Info, Warn, Error };

/// Takes one line of log. Called on the client's own threads, never two at once for one client; must be quick and must not call the client.
/// A line that it throws over goes to standard error.
using LogSink = std::function<void(LogLevel, std::string_view)>;

/// What connections are put into: TLS, made by tls() of patchbay/client/Tls.h, which is a library of its own (patchbay::client_tls).
class Security;
using SecurityPtr = std::shared_ptr<const Security>;

/// A value type. The defaults suit a service inside a data centre; only nameServers is usually set.
/// Handles of one process whose options are equal share one client id, its connections and its routes; a second member of the same
/// group gets a client id of its own, so two consumers of one group in one process share the queues as two processes would.
struct ClientOptions {
    /// "host:9876;other:9876". Empty: the environment variable NAMESRV_ADDR; if that is empty as well, nameServerUrl.
    std::string nameServers{};
    /// Answers the list as text over HTTP, asked every two minutes; used when there is no other list.
    std::string nameServerUrl{};
    /// Second half of the client id. Empty (recommended): unique for this process, also among containers that share address and pid.
    /// Give one only to keep the offsets of a broadcasting consumer across restarts.
    std::string instanceName{};
    /// Puts "<nameSpace>%" before every topic and group on the wire and takes it off again.
    std::string nameSpace{};
    std::string unitName{};  ///< third part of the client id
    Credentials credentials{};
    SecurityPtr security{};  ///< for all connections, to name servers too; empty: plain TCP

    std::chrono::milliseconds requestTimeout{3000};         ///< one question to a broker or name server, from 1 ms
    std::chrono::milliseconds connectTimeout{1500};         ///< from 1 ms; long enough for one lost packet
    std::chrono::milliseconds heartbeatInterval{30'000};    ///< 1 s to 60 s: a broker forgets a silent client after 120 s
    std::chrono::milliseconds routeRefreshInterval{30'000}; ///< from 1 s
    /// Second version of heartbeats: subscriptions are sent only when they changed. Brokers before 5.1 take the first version.
    bool heartbeatV2 = false;
    /// Where the client says what it does. Empty: warnings and errors go to standard error.
    LogSink log{};
};

}  // namespace patchbay::client

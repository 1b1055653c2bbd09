// Tcp: what every side of a TCP connection needs of the system: addresses in its form, look-ups, the beginning of a connection.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/base/SocketAddress.h"
#include "patchbay/net/Transport.h"

#include <memory>
#include <string>
#include <sys/socket.h>

namespace patchbay::net {

/// IPv4 addresses that are written as IPv6 ones become IPv4 ones. Anything but those two families is undefined.
[[nodiscard]] SocketAddress addressOf(const sockaddr_storage& from) noexcept;

/// Looks "host:port" up. Numbers are answered at once, names block for as long as the system's resolver likes. IPv4 first, as servers
/// of this protocol announce themselves so. InvalidArgument without a port, Unavailable when nothing is found.
[[nodiscard]] Result<SocketAddress> lookUp(const std::string& hostPort);

/// A descriptor without delay (TCP_NODELAY) whose connect() is under way; that it becomes writable tells the outcome. `prepare` is
/// called before connect(), for options of the caller's. Does not block. Unavailable with the system's words.
[[nodiscard]] Result<std::unique_ptr<Transport>> startConnect(const SocketAddress& address, void (*prepare)(int fd) noexcept = nullptr);

}  // namespace patchbay::net

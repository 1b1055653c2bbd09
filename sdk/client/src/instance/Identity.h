// Who this process is: addresses and ids.
#pragma once

#include "patchbay/base/SocketAddress.h"
#include "patchbay/client/ClientOptions.h"

#include <string>

namespace patchbay::client {

/// The first address that others may reach, IPv4 before IPv6; 127.0.0.1 when there is none. The port is 0.
[[nodiscard]] SocketAddress localAddress();

/// "<address>@<instance>[@<unit>]". Without an instance name: process number and 64 random bits, so that containers which share address
/// and process number are still told apart.
[[nodiscard]] std::string makeClientId(const ClientOptions& options);

/// 16 or 32 hexadecimal digits that nobody else has.
[[nodiscard]] std::string randomHex(int digits);

}  // namespace patchbay::client

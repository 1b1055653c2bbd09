// Advertise: which of the machine's addresses clients are told, and why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::kernel {

struct InterfaceAddress {
    std::string interface;
    std::string ip;
    bool v6 = false;
    bool loopback = false;
    bool defaultRoute = false;   ///< packets to anywhere leave by this interface
};

struct AdvertisedAddress {
    std::string ip;
    std::string reason;   ///< for the log: what decided, and what else there was
};

/// `brokerIp1` when it is set; else the bound address when that is one; else the best of the machine's: of the default
/// route's interface before others, real interfaces before bridges of containers, IPv4 before IPv6, loopback last.
[[nodiscard]] AdvertisedAddress chooseAdvertised(std::string_view brokerIp1, std::string_view bindAddress,
                                                 const std::vector<InterfaceAddress>& addresses);

/// The list of name servers and this process's own behind it, under an address by which the process itself reaches it. As it is when it
/// has that one already, under one of the machine's addresses or as localhost. `port`: where the own one listens.
[[nodiscard]] std::string withOwnNameServer(const std::string& list, std::string_view bindAddress, std::uint16_t port,
                                            const std::vector<InterfaceAddress>& addresses);

/// What the operating system says of itself now.
[[nodiscard]] std::vector<InterfaceAddress> machineAddresses();

}  // namespace patchbay::kernel

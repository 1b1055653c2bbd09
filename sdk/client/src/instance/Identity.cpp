#include "instance/Identity.h"

#include <array>
#include <cstring>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netinet/in.h>
#include <optional>
#include <random>
#include <unistd.h>

namespace patchbay::client {

SocketAddress localAddress() {
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return SocketAddress::v4({127, 0, 0, 1}, 0);
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> guard(list, ::freeifaddrs);
    std::optional<SocketAddress> v6;
    for (const auto* one = list; one != nullptr; one = one->ifa_next) {
        if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) continue;
        if (one->ifa_addr->sa_family == AF_INET) {
            sockaddr_in address;
            std::memcpy(&address, one->ifa_addr, sizeof address);
            std::array<std::uint8_t, 4> ip;
            std::memcpy(ip.data(), &address.sin_addr, ip.size());
            return SocketAddress::v4(ip, 0);
        }
        if (one->ifa_addr->sa_family == AF_INET6 && !v6) {
            sockaddr_in6 address;
            std::memcpy(&address, one->ifa_addr, sizeof address);
            std::array<std::uint8_t, 16> ip;
            std::memcpy(ip.data(), &address.sin6_addr, ip.size());
            if (!IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr)) v6 = SocketAddress::v6(ip, 0);
        }
    }
    return v6 ? *v6 : SocketAddress::v4({127, 0, 0, 1}, 0);
}

std::string randomHex(int digits) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::random_device random;
    std::string text;
    while (static_cast<int>(text.size()) < digits) {
        for (auto bits = random(); bits != 0 && static_cast<int>(text.size()) < digits; bits >>= 4) text += kDigits[bits & 0xF];
    }
    return text;
}

std::string makeClientId(const ClientOptions& options) {
    auto id = localAddress().ipText() + "@";
    id += options.instanceName.empty() ? std::to_string(::getpid()) + "#" + randomHex(16) : options.instanceName;
    if (!options.unitName.empty()) id += "@" + options.unitName;
    return id;
}

}  // namespace patchbay::client

#include "config/Advertise.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <fstream>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sstream>

namespace patchbay::kernel {

namespace {

bool isBridge(std::string_view name) {
    static constexpr std::string_view kPrefixes[] = {"docker", "br-", "virbr", "veth", "cni", "flannel", "podman", "lxc", "cali"};
    return std::any_of(std::begin(kPrefixes), std::end(kPrefixes), [&](auto prefix) { return name.starts_with(prefix); });
}

/// Lower is better.
int rank(const InterfaceAddress& address) {
    return (address.loopback ? 8 : 0) + (address.v6 ? 4 : 0) + (isBridge(address.interface) ? 2 : 0) + (address.defaultRoute ? 0 : 1);
}

std::string routeInterface() {
    std::ifstream routes("/proc/net/route");
    std::string line;
    while (std::getline(routes, line)) {
        std::istringstream fields(line);
        std::string name;
        std::string destination;
        if (fields >> name >> destination && destination == "00000000") return name;
    }
    return {};
}

bool isAnyAddress(std::string_view address) { return address == "0.0.0.0" || address == "::"; }

}  // namespace

std::string withOwnNameServer(const std::string& list, std::string_view bindAddress, std::uint16_t port,
                              const std::vector<InterfaceAddress>& addresses) {
    const std::string own(isAnyAddress(bindAddress) ? std::string_view("127.0.0.1") : bindAddress);
    std::vector<std::string> hosts{own, "localhost"};
    if (isAnyAddress(bindAddress)) {
        for (const auto& address : addresses) hosts.push_back(address.ip);
    }
    const auto entryOf = [port](const std::string& host) {
        return (host.find(':') != std::string::npos ? "[" + host + "]" : host) + ":" + std::to_string(port);
    };
    std::string_view rest = list;
    while (!rest.empty()) {
        const auto end = std::min(rest.find(';'), rest.size());
        const auto entry = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (std::any_of(hosts.begin(), hosts.end(), [&](const auto& host) { return entry == entryOf(host); })) return list;
    }
    return list + (list.empty() || list.back() == ';' ? "" : ";") + entryOf(own);
}

AdvertisedAddress chooseAdvertised(std::string_view brokerIp1, std::string_view bindAddress,
                                   const std::vector<InterfaceAddress>& addresses) {
    if (!brokerIp1.empty()) return {std::string(brokerIp1), "brokerIP1 says so"};
    if (!isAnyAddress(bindAddress)) return {std::string(bindAddress), "bindAddress is this one"};
    auto sorted = addresses;
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return rank(a) < rank(b); });
    if (sorted.empty()) return {"127.0.0.1", "the machine has no address; only local clients will reach it"};
    const auto& best = sorted.front();
    std::string reason = "address of " + best.interface;
    if (best.loopback) {
        reason += "; the machine has no other, only local clients will reach it";
    } else if (best.defaultRoute) {
        reason += ", which has the default route";
    } else {
        reason += ", the first interface that is up";
    }
    std::string others;
    for (const auto& other : sorted) {
        if (&other == &best || other.loopback || other.v6) continue;
        others += (others.empty() ? "" : ", ") + other.ip + " of " + other.interface;
    }
    if (!others.empty()) reason += "; there are also " + others + ": set brokerIP1 to advertise another";
    return {best.ip, reason};
}

std::vector<InterfaceAddress> machineAddresses() {
    std::vector<InterfaceAddress> list;
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0) return list;
    const auto route = routeInterface();
    for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
        if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0) continue;
        const int family = entry->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6) continue;
        const void* bytes = nullptr;
        if (family == AF_INET) {
            bytes = &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr;
        } else {
            const auto& ip = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr;
            if (IN6_IS_ADDR_LINKLOCAL(&ip)) continue;
            bytes = &ip;
        }
        std::array<char, INET6_ADDRSTRLEN> text{};
        if (inet_ntop(family, bytes, text.data(), text.size()) == nullptr) continue;
        list.push_back({entry->ifa_name, text.data(), family == AF_INET6, (entry->ifa_flags & IFF_LOOPBACK) != 0,
                        entry->ifa_name == route});
    }
    freeifaddrs(first);
    return list;
}

}  // namespace patchbay::kernel

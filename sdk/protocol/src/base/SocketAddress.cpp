#include "patchbay/base/SocketAddress.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <cstring>

namespace patchbay {

namespace {

Status badAddress(std::string_view text) {
    return {StatusCode::InvalidArgument,
            "'" + std::string(text) + "' is not an address; write 127.0.0.1:10911 or [::1]:10911"};
}

}  // namespace

SocketAddress SocketAddress::v4(std::array<std::uint8_t, 4> ip, std::uint16_t port) noexcept {
    SocketAddress address;
    std::copy(ip.begin(), ip.end(), address.ip_.begin());
    address.port_ = port;
    return address;
}

SocketAddress SocketAddress::v6(std::array<std::uint8_t, 16> ip, std::uint16_t port) noexcept {
    SocketAddress address;
    address.ip_ = ip;
    address.port_ = port;
    address.v6_ = true;
    return address;
}

Result<SocketAddress> SocketAddress::parse(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return badAddress(text);
    std::string_view ip = text.substr(0, colon);
    const std::string_view portText = text.substr(colon + 1);

    std::uint16_t port = 0;
    const char* const portEnd = portText.data() + portText.size();
    const auto [end, error] = std::from_chars(portText.data(), portEnd, port);
    if (error != std::errc{} || end != portEnd) return badAddress(text);

    const bool bracketed = ip.size() > 2 && ip.front() == '[' && ip.back() == ']';
    if (bracketed) ip = ip.substr(1, ip.size() - 2);
    std::array<char, INET6_ADDRSTRLEN> terminated{};
    if (ip.size() >= terminated.size()) return badAddress(text);
    std::memcpy(terminated.data(), ip.data(), ip.size());

    SocketAddress address;
    address.v6_ = bracketed;
    address.port_ = port;
    if (inet_pton(bracketed ? AF_INET6 : AF_INET, terminated.data(), address.ip_.data()) != 1) return badAddress(text);
    return address;
}

bool SocketAddress::isLoopback() const noexcept {
    if (!v6_) return ip_.front() == 127;
    return ip_.back() == 1 && std::all_of(ip_.begin(), ip_.end() - 1, [](std::uint8_t byte) { return byte == 0; });
}

std::string_view SocketAddress::ipBytes() const noexcept {
    return {reinterpret_cast<const char*>(ip_.data()), v6_ ? std::size_t{16} : std::size_t{4}};
}

std::string SocketAddress::ipText() const {
    std::array<char, INET6_ADDRSTRLEN> text{};
    inet_ntop(v6_ ? AF_INET6 : AF_INET, ip_.data(), text.data(), static_cast<socklen_t>(text.size()));
    return text.data();
}

std::string SocketAddress::toString() const {
    const std::string port = std::to_string(port_);
    return v6_ ? "[" + ipText() + "]:" + port : ipText() + ":" + port;
}

}  // namespace patchbay

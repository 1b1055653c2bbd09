// SocketAddress: an IPv4 or IPv6 address with a port, as messages and connections carry it.
#pragma once

#include "patchbay/base/Result.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay {

/// A value type of 20 bytes; IPv4 in the first four bytes. No name look-ups: text is numeric only.
class SocketAddress {
public:
    SocketAddress() noexcept = default;
    static SocketAddress v4(std::array<std::uint8_t, 4> ip, std::uint16_t port) noexcept;
    static SocketAddress v6(std::array<std::uint8_t, 16> ip, std::uint16_t port) noexcept;
    /// "127.0.0.1:10911" or "[::1]:10911".
    static Result<SocketAddress> parse(std::string_view text);

    [[nodiscard]] bool isV6() const noexcept { return v6_; }
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    /// 4 or 16 bytes in network order.
    [[nodiscard]] std::string_view ipBytes() const noexcept;
    [[nodiscard]] std::string ipText() const;
    /// 127.0.0.0/8 or ::1.
    [[nodiscard]] bool isLoopback() const noexcept;
    /// The same address, whatever the ports.
    [[nodiscard]] bool sameHost(const SocketAddress& other) const noexcept { return v6_ == other.v6_ && ip_ == other.ip_; }
    /// "ip:port"; IPv6 in brackets.
    [[nodiscard]] std::string toString() const;

    friend bool operator==(const SocketAddress&, const SocketAddress&) noexcept = default;

private:
    std::array<std::uint8_t, 16> ip_{};
    std::uint16_t port_ = 0;
    bool v6_ = false;
};

}  // namespace patchbay

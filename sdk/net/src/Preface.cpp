#include "patchbay/net/Preface.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string>

namespace patchbay::net {

namespace {

using Kind = Preface::Kind;

constexpr std::string_view kProxyV1 = "PROXY ";
constexpr std::string_view kProxyV2("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr std::string_view kHttp2 = "PRI * HTTP/2.0";
constexpr std::size_t kProxyV1Max = 107;
constexpr std::size_t kProxyV2Head = 16;
constexpr std::size_t kProxyV2Max = 2048;  // addresses take 36; the rest are notes that we skip
constexpr std::array<std::string_view, 9> kHttpMethods{"GET ",     "POST ",  "PUT ",   "HEAD ", "DELETE ",
                                                       "OPTIONS ", "PATCH ", "TRACE ", "CONNECT "};

/// Whether one could be the beginning of the other.
bool agree(std::string_view a, std::string_view b) noexcept {
    const auto size = std::min(a.size(), b.size());
    return a.substr(0, size) == b.substr(0, size);
}

std::uint16_t portAt(const char* at) noexcept {
    return static_cast<std::uint16_t>((static_cast<unsigned char>(at[0]) << 8) | static_cast<unsigned char>(at[1]));
}

template <std::size_t N>
std::array<std::uint8_t, N> ipAt(const char* at) noexcept {
    std::array<std::uint8_t, N> ip;
    std::memcpy(ip.data(), at, N);
    return ip;
}

std::string_view nextWord(std::string_view& line) noexcept {
    const auto end = std::min(line.find(' '), line.size());
    const auto word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return word;
}

std::optional<SocketAddress> addressOf(std::string_view ip, std::string_view port, bool v6) {
    std::uint16_t number = 0;
    const auto parsed = std::from_chars(port.data(), port.data() + port.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != port.data() + port.size()) return std::nullopt;
    const auto host = v6 ? "[" + std::string(ip) + "]" : std::string(ip);
    const auto address = SocketAddress::parse(host + ":" + std::string(port));
    return address ? std::optional(*address) : std::nullopt;
}

Preface readProxyV1(std::string_view bytes) {
    const auto end = bytes.substr(0, kProxyV1Max).find("\r\n");
    if (end == std::string_view::npos) return {bytes.size() < kProxyV1Max ? Kind::NeedMore : Kind::BadProxy, 0, {}};
    auto line = bytes.substr(kProxyV1.size(), end - kProxyV1.size());
    const auto family = nextWord(line);
    if (family == "UNKNOWN") return {Kind::Proxy, end + 2, {}};
    if (family != "TCP4" && family != "TCP6") return {Kind::BadProxy, 0, {}};
    const auto source = nextWord(line);
    nextWord(line);  // the destination is our own address, as the proxy sees it
    const auto sourcePort = nextWord(line);
    const auto address = addressOf(source, sourcePort, family == "TCP6");
    if (!address) return {Kind::BadProxy, 0, {}};
    return {Kind::Proxy, end + 2, address};
}

Preface readProxyV2(std::string_view bytes) noexcept {
    if (bytes.size() < kProxyV2Head) return {};
    const auto version = static_cast<unsigned char>(bytes[12]);
    const auto family = static_cast<unsigned char>(bytes[13]);
    const std::size_t length = portAt(bytes.data() + 14);
    if ((version >> 4) != 2 || (version & 0x0F) > 1 || length > kProxyV2Max) return {Kind::BadProxy, 0, {}};
    const auto total = kProxyV2Head + length;
    if (bytes.size() < total) return {};
    const char* const at = bytes.data() + kProxyV2Head;
    const bool local = (version & 0x0F) == 0;  // the proxy's own health check
    if (!local && family == 0x11 && length >= 12) return {Kind::Proxy, total, SocketAddress::v4(ipAt<4>(at), portAt(at + 8))};
    if (!local && family == 0x21 && length >= 36) {
        return {Kind::Proxy, total, SocketAddress::v6(ipAt<16>(at), portAt(at + 32))};
    }
    return {Kind::Proxy, total, {}};
}

}  // namespace

Preface readPreface(std::string_view bytes) noexcept {
    if (bytes.empty()) return {};
    if (bytes[0] == '\0') return {Kind::Frames, 0, {}};
    if (bytes[0] == '\x16') return {Kind::Tls, 0, {}};
    if (agree(bytes, kProxyV1)) return bytes.size() < kProxyV1.size() ? Preface{} : readProxyV1(bytes);
    if (agree(bytes, kProxyV2)) return readProxyV2(bytes);
    if (agree(bytes, kHttp2)) return {bytes.size() < kHttp2.size() ? Kind::NeedMore : Kind::Http2, 0, {}};
    for (const auto method : kHttpMethods) {
        if (agree(bytes, method)) return {bytes.size() < method.size() ? Kind::NeedMore : Kind::Http, 0, {}};
    }
    return {Kind::Unknown, 0, {}};
}

std::string_view guessCause(Preface::Kind kind) noexcept {
    switch (kind) {
        case Kind::Tls: return "a TLS handshake, but this listener does not offer TLS";
        case Kind::Http: return "an HTTP request; this port speaks RocketMQ's remoting protocol";
        case Kind::Http2: return "an HTTP/2 or gRPC client; point it at the gRPC proxy, not at this port";
        case Kind::BadProxy: return "a PROXY protocol header that cannot be read";
        case Kind::NeedMore:
        case Kind::Frames:
        case Kind::Proxy:
        case Kind::Unknown: break;
    }
    return "bytes that are no remoting frame";
}

}  // namespace patchbay::net

#include "patchbay/plugin/LocalOnly.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace patchbay::plugin {

namespace {

bool isLoopback(const SocketAddress& address) noexcept {
    const std::string_view ip = address.ipBytes();
    if (!address.isV6()) return ip.front() == 127;
    if (ip.back() == 1) return ip.substr(0, 15) == std::string_view("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 15);
    return false;
}

}  // namespace

Result<LocalOnly> LocalOnly::parse(std::string_view key, std::string_view codes) {
    LocalOnly set;
    set.key_ = key;
    while (!codes.empty()) {
        const auto end = std::min(codes.find(' '), codes.size());
        const std::string_view word = codes.substr(0, end);
        codes.remove_prefix(std::min(end + 1, codes.size()));
        if (word.empty()) continue;
        std::int32_t code = 0;
        const auto read = std::from_chars(word.data(), word.data() + word.size(), code);
        if (read.ec != std::errc{} || read.ptr != word.data() + word.size() || code < 0) {
            return Status(StatusCode::InvalidArgument, std::string(key) + ": '" + std::string(word) + "' is no request code");
        }
        set.codes_.push_back(code);
    }
    return set;
}

bool LocalOnly::isLocal(const Peer& peer) noexcept {
    return isLoopback(peer.remote()) ||
           (peer.remote().isV6() == peer.local().isV6() && peer.remote().ipBytes() == peer.local().ipBytes());
}

std::optional<Response> LocalOnly::refuse(const Request& request) const {
    const std::int32_t code = request.command().code;
    if (std::ranges::find(codes_, code) == codes_.end() || isLocal(request.peer())) return std::nullopt;
    return Response(protocol::ResponseCode::NoPermission, "request type " + std::to_string(code) +
                                                              " is served to peers of this machine only, see " + std::string(key_));
}

}  // namespace patchbay::plugin

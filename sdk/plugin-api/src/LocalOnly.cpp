#include "patchbay/plugin/LocalOnly.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace patchbay::plugin {

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

std::optional<Response> LocalOnly::refuse(const Request& request) const {
    const std::int32_t code = request.command().code;
    if (std::ranges::find(codes_, code) == codes_.end() || request.peer().isLocal()) return std::nullopt;
    return Response(protocol::ResponseCode::NoPermission, "request type " + std::to_string(code) +
                                                              " is served to peers of this machine only, see " + std::string(key_));
}

}  // namespace patchbay::plugin

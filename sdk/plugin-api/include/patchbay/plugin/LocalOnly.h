// LocalOnly: request codes that are served to peers of the same machine only.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/plugin/Request.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace patchbay::plugin {

/// A set of codes, from one key of a plugin. A value; read by any thread.
class LocalOnly {
public:
    LocalOnly() = default;
    /// Codes separated by blanks; empty: everything is served to everybody. `key` is named in the error.
    static Result<LocalOnly> parse(std::string_view key, std::string_view codes);

    /// The refusal (NO_PERMISSION, naming the key) when the request's code is in the set and its peer is not local (Peer::isLocal).
    [[nodiscard]] std::optional<Response> refuse(const Request& request) const;

private:
    std::string_view key_;   // static text of the plugin
    std::vector<std::int32_t> codes_;
};

}  // namespace patchbay::plugin

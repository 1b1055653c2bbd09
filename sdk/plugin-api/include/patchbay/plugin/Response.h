// Response: what a processor answers.
#pragma once

#include "patchbay/base/Slice.h"
#include "patchbay/base/Status.h"
#include "patchbay/protocol/FieldList.h"
#include "patchbay/protocol/ResponseCode.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::plugin {

/// Code, remark, header fields and body of an answer. A plain value, used by one thread at a time.
/// The kernel adds opaque, flags, language and version, and encodes it as the request was encoded.
/// The body is a list of pieces that leave in one gathered write without being copied; what they point into is kept alive by
/// `keep` until the socket has taken them.
class Response {
public:
    Response() noexcept = default;
    explicit Response(protocol::ResponseCode code_, std::string remark_ = {}) : code(code_), remark(std::move(remark_)) {}
    /// The response code that RocketMQ uses for this kind of failure, with the status's text as remark.
    explicit Response(const Status& status);

    void addBody(Slice slice);
    void setBody(std::string text);
    [[nodiscard]] std::size_t bodyBytes() const noexcept;

    protocol::ResponseCode code{};      ///< Success by default
    std::string remark;                 ///< empty = absent
    bool hasFields = false;             ///< extFields is written, even when empty; set by adding one through fields()
    std::vector<std::string_view> body;
    std::vector<KeepAlive> keep;

    protocol::FieldList& fields() noexcept { hasFields = true; return fields_; }
    [[nodiscard]] const protocol::FieldList& fields() const noexcept { return fields_; }

private:
    protocol::FieldList fields_;
};

}  // namespace patchbay::plugin

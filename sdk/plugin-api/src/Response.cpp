#include "patchbay/plugin/Response.h"

namespace patchbay::plugin {

Response::Response(const Status& status) : code(protocol::responseCodeOf(status.code())), remark(status.message()) {}

void Response::addBody(Slice slice) {
    body.push_back(slice.bytes);
    if (slice.keep) keep.push_back(std::move(slice.keep));
}

void Response::setBody(std::string text) {
    body.clear();
    keep.clear();
    addBody(Slice::own(std::move(text)));
}

std::size_t Response::bodyBytes() const noexcept {
    std::size_t bytes = 0;
    for (const auto piece : body) bytes += piece.size();
    return bytes;
}

}  // namespace patchbay::plugin

#include "patchbay/base/Status.h"

namespace patchbay {

std::string_view toString(StatusCode code) noexcept {
    switch (code) {
        case StatusCode::Ok: return "Ok";
        case StatusCode::NotFound: return "NotFound";
        case StatusCode::AlreadyExists: return "AlreadyExists";
        case StatusCode::InvalidArgument: return "InvalidArgument";
        case StatusCode::OutOfRange: return "OutOfRange";
        case StatusCode::NotLeader: return "NotLeader";
        case StatusCode::Busy: return "Busy";
        case StatusCode::Unavailable: return "Unavailable";
        case StatusCode::DeadlineExceeded: return "DeadlineExceeded";
        case StatusCode::Cancelled: return "Cancelled";
        case StatusCode::Corrupt: return "Corrupt";
        case StatusCode::Io: return "Io";
        case StatusCode::Full: return "Full";
        case StatusCode::Denied: return "Denied";
        case StatusCode::Unsupported: return "Unsupported";
        case StatusCode::Internal: return "Internal";
    }
    return "Unknown";
}

std::string Status::toString() const {
    std::string text(patchbay::toString(code_));
    if (!isOk()) text.append(": ").append(message_);
    return text;
}

}  // namespace patchbay

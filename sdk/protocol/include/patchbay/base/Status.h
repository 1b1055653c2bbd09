// Status: how an operation ended, for outcomes that a caller is expected to handle.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay {

/// What kind of outcome a Status is. The only enumeration of failures in the project: one table
/// (patchbay/protocol/ResponseCode.h) maps it to what a RocketMQ peer sees.
enum class StatusCode : std::uint8_t {
    Ok,
    NotFound,          ///< the named thing does not exist
    AlreadyExists,     ///< it exists and may not be replaced
    InvalidArgument,   ///< the caller's input breaks a rule
    OutOfRange,        ///< a number outside the limits in force
    NotLeader,         ///< another broker is in charge
    Busy,              ///< over a limit now; the same call may work later
    Unavailable,       ///< not running, stopping, or refusing service until somebody acts
    DeadlineExceeded,  ///< not finished in the time allowed; it may still happen
    Cancelled,         ///< given up because the owner stopped
    Corrupt,           ///< stored or received bytes contradict themselves
    Io,                ///< the operating system refused; the message carries its text
    Full,              ///< no space left where it has to go
    Denied,            ///< not allowed for this caller
    Unsupported,       ///< this implementation does not offer it
    Internal,          ///< a fault of ours
};

/// The enumerator's name, e.g. "NotFound". Never null.
[[nodiscard]] std::string_view toString(StatusCode code) noexcept;

/// A code and, unless it is Ok, one sentence for a person: what, where, what to do next.
/// A value type; copies are independent. Safe to read from several threads.
class [[nodiscard]] Status {
public:
    Status() noexcept = default;
    Status(StatusCode code, std::string message) : message_(std::move(message)), code_(code) {}

    static Status ok() noexcept { return {}; }

    [[nodiscard]] bool isOk() const noexcept { return code_ == StatusCode::Ok; }
    explicit operator bool() const noexcept { return isOk(); }
    [[nodiscard]] StatusCode code() const noexcept { return code_; }
    [[nodiscard]] const std::string& message() const noexcept { return message_; }

    /// "NotFound: topic 't' does not exist", or "Ok".
    [[nodiscard]] std::string toString() const;

private:
    std::string message_;
    StatusCode code_ = StatusCode::Ok;
};

}  // namespace patchbay

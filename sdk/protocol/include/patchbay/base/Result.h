// Result<T>: a value, or the Status that says why there is none.
#pragma once

#include "patchbay/base/Assert.h"
#include "patchbay/base/Status.h"

#include <optional>
#include <utility>

namespace patchbay {

/// Holds a T or a Status that is not Ok; the part of std::expected<T, Status> that the project uses, with its names,
/// so that an alias can replace it once the toolchain offers <expected> in C++20 mode.
/// value() without a value is a programmer's error and aborts.
template <typename T>
class [[nodiscard]] Result {
public:
    Result(T value) : value_(std::move(value)) {}
    Result(Status error) : error_(std::move(error)) { PATCHBAY_ASSERT(!error_.isOk()); }
    Result(StatusCode code, std::string message) : Result(Status(code, std::move(message))) {}

    [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }

    T& value() & { PATCHBAY_ASSERT(has_value()); return *value_; }
    const T& value() const& { PATCHBAY_ASSERT(has_value()); return *value_; }
    T&& value() && { PATCHBAY_ASSERT(has_value()); return std::move(*value_); }
    T value_or(T other) const& { return has_value() ? *value_ : std::move(other); }

    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    /// Ok when there is a value.
    [[nodiscard]] const Status& error() const noexcept { return error_; }

private:
    std::optional<T> value_;
    Status error_;
};

}  // namespace patchbay

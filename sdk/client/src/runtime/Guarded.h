// guarded(): calls into the user's code, which may throw.
#pragma once

#include <exception>
#include <string>

namespace patchbay::client {

/// What the call answers, or `failed` with the exception's text, which is never empty then.
template <typename Call, typename Outcome>
[[nodiscard]] Outcome guarded(const Call& call, Outcome failed, std::string& thrown) {
    try {
        return call();
    } catch (const std::exception& failure) {
        thrown = failure.what();
    } catch (...) {
        thrown = "an exception of an unknown type";
    }
    if (thrown.empty()) thrown = "an exception without a text";
    return failed;
}

}  // namespace patchbay::client

// Administration: where codes of operators are bound.
#pragma once

#include "patchbay/plugin/Processor.h"

#include <span>
#include <string_view>

namespace patchbay::plugin {

/// The listener that a process has when `adminListenPort` is set. Interceptors of "broker" (of "namesrv" where there is no broker) see its
/// requests as well.
inline constexpr std::string_view kAdminListener = "admin";

/// Binds codes that only operators and their tools send: on the listener for administration where there is one, and then nowhere else;
/// without one on `options.listener`. Errors as of Processors::bind().
inline Status bindAdministration(Processors& to, std::span<const protocol::RequestCode> codes, Processor& processor, BindOptions options) {
    const auto otherwise = options.listener;
    options.listener = kAdminListener;
    const Status bound = to.bind(codes, processor, options);
    if (bound.code() != StatusCode::NotFound) return bound;
    options.listener = otherwise;
    return to.bind(codes, processor, options);
}

/// Binds codes that operators send and others, too (slaves, for example): on `options.listener`, and on the listener for administration
/// where there is one.
inline Status bindForOperatorsToo(Processors& to, std::span<const protocol::RequestCode> codes, Processor& processor, BindOptions options) {
    if (auto bound = to.bind(codes, processor, options); !bound) return bound;
    options.listener = kAdminListener;
    const Status bound = to.bind(codes, processor, options);
    return bound.code() == StatusCode::NotFound ? Status::ok() : bound;
}

}  // namespace patchbay::plugin

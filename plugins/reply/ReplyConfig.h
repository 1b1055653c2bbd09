// ReplyConfig: the keys of the reply plugin and their values.
#pragma once

#include "patchbay/plugin/Config.h"

#include <cstdint>
#include <span>

namespace patchbay::plugins::reply {

struct ReplyConfig {
    bool store = true;
    bool traceOn = true;
    std::int32_t underWayMax = 0;

    static std::span<const plugin::ConfigKey> keys() noexcept;
    static ReplyConfig from(const plugin::ConfigView& view);
};

}  // namespace patchbay::plugins::reply

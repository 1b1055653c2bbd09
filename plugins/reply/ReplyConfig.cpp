#include "ReplyConfig.h"

#include <array>

namespace patchbay::plugins::reply {

namespace {

using plugin::ConfigType;

constexpr std::array kKeys{
    plugin::ConfigKey{"storeReplyMessageEnable", ConfigType::Bool, "true",
                      "Replies are stored in the reply topic too, whether or not the client got them."},
    plugin::ConfigKey{"replyThreadPoolQueueCapacity", ConfigType::Int, "10000",
                      "Replies that may wait for their client at once; beyond it one is answered SYSTEM_BUSY.", 0, 1, 10'000'000},
    plugin::ConfigKey{"traceOn", ConfigType::Bool, "true", "Tells clients that their message traces are wanted."},
};

}  // namespace

std::span<const plugin::ConfigKey> ReplyConfig::keys() noexcept { return kKeys; }

ReplyConfig ReplyConfig::from(const plugin::ConfigView& view) {
    ReplyConfig config;
    config.store = view.flag("storeReplyMessageEnable");
    config.underWayMax = static_cast<std::int32_t>(view.integer("replyThreadPoolQueueCapacity"));
    config.traceOn = view.flag("traceOn");
    return config;
}

}  // namespace patchbay::plugins::reply

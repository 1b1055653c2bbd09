// RequestModes: how members of a group get the messages of a topic, as operators set it.
#pragma once

#include "RebalanceConfig.h"

#include "patchbay/plugin/Plugin.h"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace patchbay::plugins::rebalance {

/// messageRequestMode.json, as RocketMQ writes it, and its content in memory. Owned by the plugin; works from start() on. Any thread;
/// set() writes the file before it returns, and changes nothing when it cannot.
class RequestModes {
public:
    explicit RequestModes(plugin::PluginContext& context);

    Status load();
    Status set(const std::string& topic, const std::string& group, ModeSetting setting);
    [[nodiscard]] std::optional<ModeSetting> find(std::string_view topic, std::string_view group) const;

private:
    using Groups = std::map<std::string, ModeSetting, std::less<>>;
    using Topics = std::map<std::string, Groups, std::less<>>;

    [[nodiscard]] static std::string encode(const Topics& topics);
    [[nodiscard]] static Result<Topics> decode(std::string_view text);

    plugin::PluginContext& context_;
    const std::string path_;
    std::mutex writing_;         // one change at a time; taken before mutex_
    mutable std::mutex mutex_;
    Topics topics_;              // guarded by mutex_
};

/// "PULL", "POP".
[[nodiscard]] std::string_view toString(RequestMode mode) noexcept;
[[nodiscard]] std::optional<RequestMode> requestModeOf(std::string_view name) noexcept;

}  // namespace patchbay::plugins::rebalance

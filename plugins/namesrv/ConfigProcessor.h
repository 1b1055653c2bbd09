// ConfigProcessor: the key-value table and the configuration, for administrators.
#pragma once

#include "KvConfig.h"

#include "patchbay/plugin/Config.h"
#include "patchbay/plugin/LocalOnly.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/plugin/Processor.h"

#include <utility>

namespace patchbay::plugins::namesrv {

/// Serves 100, 101, 102, 219, 318 and 319 on an executor: changes wait for the disk. Owned by the plugin.
class ConfigProcessor final : public plugin::Processor {
public:
    ConfigProcessor(KvConfig& kv, plugin::RuntimeConfig& config, plugin::Logger& log, plugin::LocalOnly localOnly)
        : kv_(kv), config_(config), log_(log), localOnly_(std::move(localOnly)) {}

    void process(plugin::Request request) override;

private:
    [[nodiscard]] plugin::Response answer(const plugin::Request& request);
    [[nodiscard]] plugin::Response put(const protocol::CommandView& command);
    [[nodiscard]] plugin::Response get(const protocol::CommandView& command) const;
    [[nodiscard]] plugin::Response remove(const protocol::CommandView& command);
    [[nodiscard]] plugin::Response list(const protocol::CommandView& command) const;
    [[nodiscard]] plugin::Response updateConfig(const plugin::Request& request);
    [[nodiscard]] plugin::Response showConfig() const;

    KvConfig& kv_;
    plugin::RuntimeConfig& config_;
    plugin::Logger& log_;
    const plugin::LocalOnly localOnly_;
};

}  // namespace patchbay::plugins::namesrv

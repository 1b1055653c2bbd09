// SqlitePlugin: the SQLite store as a plugin.
#pragma once

#include "ConfigCopy.h"
#include "SqliteConfig.h"
#include "SqliteStore.h"

#include "patchbay/plugin/Plugin.h"

#include <memory>

namespace patchbay::plugins::sqlite {

/// Owned by the kernel. The store lives from init() to destruction, because borrowers may ask it until their own stop; it is open
/// from start() to stop().
class SqlitePlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return SqliteConfig::keys(); }
    Status configure(const plugin::ConfigView& view) override;
    Status init(plugin::PluginContext& context) override;
    Status start() override;
    Status reconfigure(const plugin::ConfigView& view, std::span<const std::string_view> changed) override;
    void stop() noexcept override;

private:
    Status putConfigBack();
    void copyConfig();

    SqliteConfig config_;
    plugin::PluginContext* context_ = nullptr;
    std::unique_ptr<SqliteStore> store_;
    std::unique_ptr<ConfigCopy> copy_;
};

}  // namespace patchbay::plugins::sqlite

// FilterPlugin: SQL92 expressions over the properties of messages.
#pragma once

#include "FilterConfig.h"
#include "FilterTable.h"
#include "Filters.h"

#include "patchbay/plugin/Plugin.h"

#include <memory>

namespace patchbay::plugins::filter {

/// Owned by the kernel. The service lives from init() to destruction, because borrowers may ask it until their own stop.
class FilterPlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return FilterConfig::keys(); }
    Status configure(const plugin::ConfigView& view) override;
    Status init(plugin::PluginContext& context) override;
    Status start() override;
    Status reconfigure(const plugin::ConfigView& view, std::span<const std::string_view> changed) override;
    void stop() noexcept override;

private:
    void persist() noexcept;

    FilterConfig config_;
    plugin::PluginContext* context_ = nullptr;
    std::unique_ptr<FilterTable> table_;
    std::unique_ptr<Filters> filters_;
    bool loaded_ = false;
};

}  // namespace patchbay::plugins::filter

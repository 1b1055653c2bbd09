// OffsetsPlugin: how far each group has consumed.
#pragma once

#include "OffsetProcessor.h"
#include "OffsetService.h"
#include "OffsetsConfig.h"

#include "patchbay/plugin/Plugin.h"

#include <memory>

namespace patchbay::plugins::consumer_offsets {

/// Owned by the kernel. The service lives from init() to destruction, because borrowers may ask it until their own stop.
class OffsetsPlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return OffsetsConfig::keys(); }
    Status configure(const plugin::ConfigView& view) override;
    Status init(plugin::PluginContext& context) override;
    Status start() override;
    void stop() noexcept override;

private:
    OffsetsConfig config_;
    std::unique_ptr<OffsetService> offsets_;
    std::unique_ptr<OffsetProcessor> processor_;
};

}  // namespace patchbay::plugins::consumer_offsets

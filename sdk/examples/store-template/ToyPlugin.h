// ToyPlugin: offers the store to the broker.
#pragma once

#include "ToyStore.h"

#include "patchbay/plugin/Plugin.h"

#include <memory>

namespace toy {

/// Owned by the kernel. The store lives from init() on, because others may hold it until their own stop; it is open from start()
/// to stop().
class ToyPlugin final : public patchbay::plugin::Plugin {
public:
    [[nodiscard]] std::span<const patchbay::plugin::ConfigKey> configKeys() const noexcept override;
    patchbay::Status configure(const patchbay::plugin::ConfigView& view) override;
    patchbay::Status init(patchbay::plugin::PluginContext& context) override;
    patchbay::Status start() override;
    void stop() noexcept override;

private:
    bool syncFlush_ = false;
    patchbay::plugin::Logger* log_ = nullptr;
    std::unique_ptr<ToyStore> store_;
};

}  // namespace toy

// SchemaCheck: refuses messages whose bodies are not what their topic promises.
#pragma once

#include "Schemas.h"
#include "patchbay/plugin/Plugin.h"

#include <cstddef>
#include <memory>
#include <string>

namespace schema_check {

/// Looks at sends of single messages before they are stored. What it cannot read, a compressed body or a batch, is refused for topics with a
/// schema, because it would pass unseen otherwise; so are bodies above `schemaBytesMax`, because checking them would hold up the I/O
/// loop. Schemas are read at the start; a reload reads them anew. Owned by the kernel.
class SchemaCheck final : public patchbay::plugin::Plugin, private patchbay::plugin::Interceptor {
public:
    std::span<const patchbay::plugin::ConfigKey> configKeys() const noexcept override;
    patchbay::Status configure(const patchbay::plugin::ConfigView& config) override;
    patchbay::Status init(patchbay::plugin::PluginContext& context) override;
    patchbay::Status start() override;

private:
    patchbay::plugin::Verdict intercept(const patchbay::plugin::Interception& at) override;
    [[nodiscard]] patchbay::Status look(const patchbay::protocol::CommandView& command, std::string_view topic) const;

    std::string directory_;
    std::size_t bytesMax_ = 0;
    patchbay::plugin::PluginContext* context_ = nullptr;
    patchbay::plugin::Counter* refused_ = nullptr;
    std::unique_ptr<const Schemas> schemas_;
};

}  // namespace schema_check

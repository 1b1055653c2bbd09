#include "RebalancePlugin.h"

#include <array>

namespace patchbay::plugins::rebalance {

Status RebalancePlugin::configure(const plugin::ConfigView& config) {
    config_ = RebalanceConfig::from(config);
    if (config_.standard.mode == RequestMode::Pop && !config_.popAllowed) {
        return {StatusCode::InvalidArgument, "defaultMessageRequestMode: POP needs popRequestModeEnable"};
    }
    return Status::ok();
}

Status RebalancePlugin::init(plugin::PluginContext& context) {
    plugin::Services& services = context.services();
    if (Status found = services.require(services_.topics); !found) return found;
    if (Status found = services.require(services_.groups); !found) return found;
    if (Status found = services.require(services_.clients); !found) return found;
    modes_ = std::make_unique<RequestModes>(context);
    processor_ = std::make_unique<AssignmentProcessor>(services_, context, config_, *modes_);

    static constexpr std::array kQueries{protocol::RequestCode::QueryAssignment};
    static constexpr std::array kChanges{protocol::RequestCode::SetMessageRequestMode};
    plugin::BindOptions options;
    options.executor.name = "rebalance";
    if (Status bound = context.processors().bind(kChanges, *processor_, options); !bound) return bound;
    options.loopSafe = true;
    return context.processors().bind(kQueries, *processor_, options);
}

void RebalancePlugin::stop() noexcept {
    processor_.reset();
    modes_.reset();
    services_ = {};
}

}  // namespace patchbay::plugins::rebalance

#include "ControlPlugin.h"

#include "patchbay/plugin/Administration.h"
#include "patchbay/protocol/PrivateCode.h"

namespace patchbay::plugins::control {

namespace {

using protocol::PrivateCode;

constexpr plugin::ConfigKey kKeys[] = {
    {"controlLocalOnlyCodes", plugin::ConfigType::Text, "29002 29003 29004 29005 29006",
     "Codes that only peers of this machine may ask for: what changes plugins and configuration. Empty: everybody who reaches a port."},
};

constexpr protocol::RequestCode code(PrivateCode one) noexcept {
    return static_cast<protocol::RequestCode>(one);
}

constexpr protocol::RequestCode kCodes[] = {
    code(PrivateCode::ListPlugins),   code(PrivateCode::InspectPlugin),       code(PrivateCode::ReloadPlugin), code(PrivateCode::EnablePlugin),
    code(PrivateCode::DisablePlugin), code(PrivateCode::ReloadConfiguration), code(PrivateCode::UnsetConfiguration),
    code(PrivateCode::GetMetrics),    code(PrivateCode::CompareConfiguration), code(PrivateCode::CheckConfiguration)};

}  // namespace

std::span<const plugin::ConfigKey> ControlPlugin::configKeys() const noexcept {
    return kKeys;
}

Status ControlPlugin::configure(const plugin::ConfigView& view) {
    auto localOnly = plugin::LocalOnly::parse(kKeys[0].name, view.text(kKeys[0].name));
    if (!localOnly) return localOnly.error();
    localOnly_ = std::move(*localOnly);
    return Status::ok();
}

Status ControlPlugin::init(plugin::PluginContext& context) {
    Services borrowed{{}, {}, {}, context.metrics(), context.clock()};
    if (auto status = context.services().require(borrowed.plugins); !status) return status;
    if (auto status = context.services().require(borrowed.config); !status) return status;
    if (auto status = context.services().require(borrowed.observation); !status) return status;
    processor_ = std::make_unique<ControlProcessor>(std::move(borrowed), localOnly_);
    return bind(context.processors());
}

Status ControlPlugin::bind(plugin::Processors& processors) {
    Status last;
    bool bound = false;
    for (const std::string_view listener : {plugin::kAdminListener, std::string_view("broker"), std::string_view("namesrv")}) {
        plugin::BindOptions options;
        options.listener = listener;
        options.executor = {"control", 1, 100, std::chrono::milliseconds(0)};
        last = processors.bind(kCodes, *processor_, options);
        if (!last && last.code() != StatusCode::NotFound) return last;
        if (last && listener == plugin::kAdminListener) return last;   // and nowhere else
        bound = bound || last;
    }
    return bound ? Status::ok() : last;
}

}  // namespace patchbay::plugins::control

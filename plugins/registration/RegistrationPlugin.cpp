#include "RegistrationPlugin.h"

namespace patchbay::plugins::registration {

Status RegistrationPlugin::configure(const plugin::ConfigView& config) {
    config_ = RegistrationConfig::from(config);
    return Status::ok();
}

Status RegistrationPlugin::init(plugin::PluginContext& context) {
    auto topics = context.services().require<service::TopicConfigs>();
    if (!topics) return topics.error();
    registrar_ = Ref<Registrar>::adopt(new Registrar(context, std::move(*topics), config_));
    return context.services().publish<service::Registration>(*registrar_);
}

Status RegistrationPlugin::start() {
    registrar_->start();
    return Status::ok();
}

Status RegistrationPlugin::reconfigure(const plugin::ConfigView& config, std::span<const std::string_view>) {
    config_ = RegistrationConfig::from(config);
    registrar_->reconfigure(config_);
    return Status::ok();
}

void RegistrationPlugin::drain() noexcept {
    if (registrar_) registrar_->unregister();
}

void RegistrationPlugin::stop() noexcept {
    if (!registrar_) return;
    registrar_->unregister();
    registrar_->close();
    registrar_.reset();
}

}  // namespace patchbay::plugins::registration

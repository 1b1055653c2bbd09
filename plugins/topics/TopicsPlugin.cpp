#include "TopicsPlugin.h"

namespace patchbay::plugins::topics {

Status TopicsPlugin::configure(const plugin::ConfigView& view) {
    config_ = TopicsConfig::from(view);
    return config_.check();
}

Status TopicsPlugin::init(plugin::PluginContext& context) {
    topics_ = std::make_unique<TopicTable>(context, config_);
    groups_ = std::make_unique<GroupTable>(context, config_);
    if (Status published = context.services().publish<service::TopicConfigs>(*topics_); !published) return published;
    return context.services().publish<service::SubscriptionGroups>(*groups_);
}

Status TopicsPlugin::start() {
    if (Status started = topics_->start(); !started) return started;
    return groups_->start();
}

Status TopicsPlugin::reconfigure(const plugin::ConfigView& view, std::span<const std::string_view>) {
    config_ = TopicsConfig::from(view);
    topics_->setAutoCreate(config_.autoCreateTopic);
    groups_->setAutoCreate(config_.autoCreateGroup, config_.createSystemGroup);
    return Status::ok();
}

void TopicsPlugin::stop() noexcept {
    if (topics_) topics_->stop();
    if (groups_) groups_->stop();
}

}  // namespace patchbay::plugins::topics

#include "ClientsPlugin.h"

#include <array>

namespace patchbay::plugins::clients {

Status ClientsPlugin::configure(const plugin::ConfigView& view) {
    config_ = ClientsConfig::from(view);
    return Status::ok();
}

Status ClientsPlugin::init(plugin::PluginContext& context) {
    context_ = &context;
    auto topics = context.services().require<service::TopicConfigs>();
    if (!topics) return topics.error();
    auto groups = context.services().require<service::SubscriptionGroups>();
    if (!groups) return groups.error();
    topics_ = std::move(*topics);
    groups_ = std::move(*groups);
    registry_ = std::make_unique<Registry>(context, config_, *groups_);
    locks_ = std::make_unique<QueueLocks>(context.clock(), config_.lockLife, config_.queueLocksMax);
    filters_ = context.services().want<service::MessageFilter>();
    processor_ = std::make_unique<ClientProcessor>(context, config_, *registry_, *locks_, *topics_, *groups_,
                                                   filters_ ? &*filters_ : nullptr);
    if (Status published = context.services().publish<service::ClientRegistry>(*registry_); !published) return published;
    if (Status published = context.services().publish<service::QueueLocks>(*locks_); !published) return published;

    using protocol::RequestCode;
    static constexpr std::array kCodes{RequestCode::HeartBeat,         RequestCode::UnregisterClient, RequestCode::GetConsumerListByGroup,
                                       RequestCode::CheckClientConfig, RequestCode::LockBatchMq,      RequestCode::UnlockBatchMq};
    plugin::BindOptions options;
    options.loopSafe = true;
    return context.processors().bind(kCodes, *processor_, options);
}

Status ClientsPlugin::start() {
    context_->addPeerListener(*registry_);
    context_->timers().every(config_.scanInterval, config_.scanInterval, [this] {
        registry_->expire();
        locks_->expire();
    });
    return Status::ok();
}

void ClientsPlugin::stop() noexcept {
    if (!processor_) return;
    context_->removePeerListener(*registry_);
    processor_.reset();
    // Connections that the registry still holds would otherwise outlive the loops that own them.
    registry_->clear();
    groups_.reset();
    topics_.reset();
    filters_.reset();
}

}  // namespace patchbay::plugins::clients

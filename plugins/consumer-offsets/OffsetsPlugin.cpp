#include "OffsetsPlugin.h"

#include <array>

namespace patchbay::plugins::consumer_offsets {

Status OffsetsPlugin::configure(const plugin::ConfigView& view) {
    config_ = OffsetsConfig::from(view);
    return Status::ok();
}

Status OffsetsPlugin::init(plugin::PluginContext& context) {
    auto topics = context.services().require<service::TopicConfigs>();
    if (!topics) return topics.error();
    auto groups = context.services().require<service::SubscriptionGroups>();
    if (!groups) return groups.error();
    offsets_ = std::make_unique<OffsetService>(context, config_);
    processor_ = std::make_unique<OffsetProcessor>(
        *offsets_, OffsetServices{std::move(*topics), std::move(*groups), context.services().want<service::MessageStore>()});
    if (Status published = context.services().publish<service::ConsumerOffsets>(*offsets_); !published) return published;

    static constexpr std::array kCodes{protocol::RequestCode::QueryConsumerOffset, protocol::RequestCode::UpdateConsumerOffset};
    plugin::BindOptions options;
    options.loopSafe = true;
    options.executor.name = "consumer-offsets";   // for questions that come before their queue was looked at
    return context.processors().bind(kCodes, *processor_, options);
}

Status OffsetsPlugin::start() {
    OffsetServices& services = processor_->services();
    return offsets_->start(*services.topics, services.store ? &*services.store : nullptr);
}

void OffsetsPlugin::stop() noexcept {
    if (!processor_) return;
    offsets_->stop(*processor_->services().topics);
    processor_.reset();
}

}  // namespace patchbay::plugins::consumer_offsets

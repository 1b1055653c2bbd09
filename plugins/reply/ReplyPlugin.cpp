#include "ReplyPlugin.h"

#include <array>

namespace patchbay::plugins::reply {

Status ReplyPlugin::configure(const plugin::ConfigView& view) {
    config_ = ReplyConfig::from(view);
    return Status::ok();
}

Status ReplyPlugin::init(plugin::PluginContext& context) {
    ReplyServices services;
    if (auto found = context.services().require(services.store); !found) return found;
    if (auto found = context.services().require(services.topics); !found) return found;
    if (auto found = context.services().require(services.clients); !found) return found;
    processor_ = std::make_unique<ReplyProcessor>(std::move(services), context, config_);

    static constexpr std::array kCodes{protocol::RequestCode::SendReplyMessage, protocol::RequestCode::SendReplyMessageV2};
    plugin::BindOptions options;
    options.loopSafe = true;
    return context.processors().bind(kCodes, *processor_, options);
}

void ReplyPlugin::stop() noexcept {
    if (processor_) processor_->awaitIdle();
    processor_.reset();
}

}  // namespace patchbay::plugins::reply

// The send plugin: what it registers.
#include "SendProcessor.h"

#include <array>

namespace patchbay::plugins::send {

class SendPlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return SendConfig::keys(); }

    Status configure(const plugin::ConfigView& config) override {
        config_.traceOn = config.flag("traceOn");
        config_.set(config);
        return Status::ok();
    }

    Status reconfigure(const plugin::ConfigView& config, std::span<const std::string_view>) override {
        config_.set(config);
        return Status::ok();
    }

    Status init(plugin::PluginContext& context) override {
        auto store = context.services().require<service::MessageStore>();
        if (!store) return store.error();
        auto topics = context.services().require<service::TopicConfigs>();
        if (!topics) return topics.error();
        SendServices services{std::move(*store), std::move(*topics), context.services().want<service::DelaySchedule>(),
                              context.services().want<service::RetryPolicy>(),
                              context.services().want<service::TransactionStore>()};
        processor_ = std::make_unique<SendProcessor>(std::move(services), context, config_);

        static constexpr std::array kCodes{protocol::RequestCode::SendMessage, protocol::RequestCode::SendMessageV2,
                                           protocol::RequestCode::SendBatchMessage};
        plugin::BindOptions options;
        options.loopSafe = true;
        return context.processors().bind(kCodes, *processor_, options);
    }

    void stop() noexcept override {
        if (processor_) processor_->awaitIdle();
        processor_.reset();
    }

private:
    SendConfig config_;
    std::unique_ptr<SendProcessor> processor_;
};

}  // namespace patchbay::plugins::send

PATCHBAY_PLUGIN(patchbay::plugins::send::SendPlugin, "send", "1.0.0", "Takes messages from producers.",
                patchbay::plugin::kConcurrentGenerations, "", "patchbay.MessageStore/1 patchbay.TopicConfigs/1",
                "patchbay.DelaySchedule/1 patchbay.RetryPolicy/1 patchbay.TransactionStore/1")

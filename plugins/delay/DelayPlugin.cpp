#include "DelayPlugin.h"

#include <array>

namespace patchbay::plugins::delay {

void DelayOffsetProcessor::process(plugin::Request request) {
    plugin::Response response;
    response.setBody(progress_.toJson(json::Dialect::Fastjson));
    std::move(request).respond(std::move(response));
}

Status DelayPlugin::configure(const plugin::ConfigView& view) {
    auto config = DelayConfig::from(view);
    if (!config) return config.error();
    config_ = std::move(*config);
    return Status::ok();
}

Status DelayPlugin::init(plugin::PluginContext& context) {
    context_ = &context;
    if (Status found = context.services().require(store_); !found) return found;
    timers_ = context.services().want<service::TimerSchedule>();
    progress_ = std::make_unique<DelayProgress>(context.files(), context.clock(),
                                                context.identity().storeRoot + "/config/delayOffset.json", config_->versionStep);
    rewrite_ = std::make_unique<DelayRewrite>(config_->levels, context.clock(), timers_ ? &*timers_ : nullptr, *progress_);
    processor_ = std::make_unique<DelayOffsetProcessor>(*progress_);
    if (Status published = context.services().publish<service::DelaySchedule>(*rewrite_); !published) return published;

    static constexpr std::array kCodes{protocol::RequestCode::GetAllDelayOffset};
    plugin::BindOptions options;
    options.loopSafe = true;
    return context.processors().bind(kCodes, *processor_, options);
}

Status DelayPlugin::start() {
    if (Status loaded = progress_->load(context_->log()); !loaded) return loaded;
    if (context_->identity().brokerId != 0) return Status::ok();
    auto& metrics = context_->metrics();
    const LevelContext shared{*store_, *progress_, context_->clock(), context_->log(),
                              metrics.counter("delay_delivered_total", "Delayed messages that were delivered."),
                              metrics.counter("delay_undeliverable_total", "Delayed messages that were passed over.")};
    delivery_ = std::make_unique<Delivery>(shared, context_->timers(), config_->levels);
    delivery_->start();
    context_->timers().every(config_->flushInterval, config_->flushInterval, [this] { persist(); });
    return Status::ok();
}

void DelayPlugin::persist() noexcept {
    if (Status done = progress_->persist(*store_); !done) {
        context_->log().limited(plugin::LogLevel::Error, "delivery progress cannot be written", {{"problem", done.message()}});
    }
}

void DelayPlugin::drain() noexcept {
    if (delivery_) delivery_->drain();
}

void DelayPlugin::stop() noexcept {
    if (delivery_) {
        delivery_->stop();
        persist();
    }
    delivery_.reset();
    store_.reset();
    timers_.reset();
}

}  // namespace patchbay::plugins::delay

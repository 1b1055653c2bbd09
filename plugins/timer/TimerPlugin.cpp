#include "TimerPlugin.h"

#include <array>

namespace patchbay::plugins::timer {

Status TimerPlugin::configure(const plugin::ConfigView& view) {
    config_ = TimerConfig::from(view);
    return Status::ok();
}

Status TimerPlugin::init(plugin::PluginContext& context) {
    context_ = &context;
    if (Status found = context.services().require(store_); !found) return found;
    if (Status found = context.services().require(topics_); !found) return found;
    rewrite_ = std::make_unique<TimerRewrite>(config_, context.clock());
    recalls_ = std::make_unique<Recalls>(config_.pendingMax);
    progress_ = std::make_unique<TimerProgress>(context.files(), context.clock(), context.identity().storeRoot + "/config/timercheck");
    processor_ = std::make_unique<RecallProcessor>(context, config_, *store_, *topics_, *recalls_, *rewrite_);
    if (Status published = context.services().publish<service::TimerSchedule>(*rewrite_); !published) return published;

    static constexpr std::array kCodes{protocol::RequestCode::RecallMessage};
    plugin::BindOptions options;
    options.loopSafe = true;
    return context.processors().bind(kCodes, *processor_, options);
}

Status TimerPlugin::start() {
    if (context_->identity().brokerId != 0) return Status::ok();
    if (Status loaded = progress_->load(context_->log()); !loaded) return loaded;
    auto& metrics = context_->metrics();
    const DeliveryContext shared{*store_, *recalls_, *rewrite_, config_, context_->timers(), context_->clock(), context_->log(),
                                 metrics.counter("timer_delivered_total", "Timed messages that were delivered."),
                                 metrics.counter("timer_recalled_total", "Timed messages that were called back."),
                                 metrics.counter("timer_rolled_total", "Timed messages that were stored anew to wait on."),
                                 metrics.counter("timer_undeliverable_total", "Timed messages that were passed over.")};
    delivery_ = std::make_unique<Delivery>(shared, progress_->mark());
    delivery_->start();
    context_->timers().every(config_.flushInterval, config_.flushInterval, [this] {
        persist();
        recalls_->forgetOld();
    });
    return Status::ok();
}

void TimerPlugin::persist() noexcept {
    if (Status done = progress_->persist(delivery_->mark(), *store_); !done) {
        context_->log().limited(plugin::LogLevel::Error, "timer progress cannot be written", {{"problem", done.message()}});
    }
}

void TimerPlugin::drain() noexcept {
    if (delivery_) delivery_->drain();
}

void TimerPlugin::stop() noexcept {
    if (processor_) processor_->awaitIdle();
    if (delivery_) {
        delivery_->stop();
        persist();
    }
    delivery_.reset();
    processor_.reset();
    topics_.reset();
    store_.reset();
}

}  // namespace patchbay::plugins::timer

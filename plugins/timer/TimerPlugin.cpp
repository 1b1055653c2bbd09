#include "TimerPlugin.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace patchbay::plugins::timer {

namespace {

constexpr std::chrono::seconds kCountsInterval{10};

}  // namespace

Status TimerPlugin::configure(const plugin::ConfigView& view) {
    config_ = TimerConfig::from(view);
    return Status::ok();
}

Status TimerPlugin::reconfigure(const plugin::ConfigView& view, std::span<const std::string_view>) {
    processor_->setPermission(TimerConfig::from(view).permission);
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
    const auto mark = openFiles();
    if (!mark) return mark.error();
    auto& metrics = context_->metrics();
    const DeliveryContext shared{*store_, *recalls_, *rewrite_, files_.get(), counts_.get(), config_, context_->timers(),
                                 context_->clock(), context_->log(),
                                 metrics.counter("timer_delivered_total", "Timed messages that were delivered."),
                                 metrics.counter("timer_recalled_total", "Timed messages that were called back."),
                                 metrics.counter("timer_rolled_total", "Timed messages that were stored anew to wait on."),
                                 metrics.counter("timer_undeliverable_total", "Timed messages that were passed over.")};
    delivery_ = std::make_unique<Delivery>(shared, *mark);
    delivery_->start();
    context_->timers().every(config_.flushInterval, config_.flushInterval, [this] {
        persist();
        recalls_->forgetOld();
    });
    return Status::ok();
}

Result<TimerMark> TimerPlugin::openFiles() {
    const TimerMark& mark = progress_->mark();
    // RocketMQ's timer files say where in the commit log messages lie.
    if (!store_->capabilities().commitLog) {
        return mark.timerLog == 0 ? mark : TimerMark{mark.deliveredMs, 0, mark.replayFrom, 0};
    }
    const std::string& root = context_->identity().storeRoot;
    config_.rollAfterMs = std::min(config_.rollAfterMs, TimerWheel::kSlotsAhead * config_.precisionMs);
    files_ = std::make_unique<TimerFiles>(context_->files(), context_->log(), *store_, root, config_);
    counts_ = std::make_unique<TimerCounts>(context_->files(), context_->clock(), root + "/config/timermetrics");
    counts_->load(context_->log());
    return files_->recover(mark);
}

Status TimerPlugin::persistAll() {
    const TimerMark mark = delivery_->mark();
    // Before the progress that counts on them.
    if (Status done = files_ ? persistFiles() : Status::ok(); !done) return done;
    return progress_->persist(mark, *store_);
}

Status TimerPlugin::persistFiles() {
    if (Status flushed = files_->flush(); !flushed) return flushed;
    const MonotonicTime now = context_->clock().now();
    if (now - countsAt_ < kCountsInterval && delivery_->isRunning()) return Status::ok();
    countsAt_ = now;
    if (delivery_->isDone()) counts_->clear();
    // Figures for operators; nothing waits for them.
    if (Status counted = counts_->persist(); !counted) {
        context_->log().limited(plugin::LogLevel::Warn, "the counts of timed messages cannot be written", {{"problem", counted.message()}});
    }
    return files_->removeOld();
}

void TimerPlugin::persist() noexcept {
    if (Status done = persistAll(); !done) {
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
    counts_.reset();
    files_.reset();
    processor_.reset();
    topics_.reset();
    store_.reset();
}

}  // namespace patchbay::plugins::timer

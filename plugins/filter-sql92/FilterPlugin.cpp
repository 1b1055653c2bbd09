#include "FilterPlugin.h"

namespace patchbay::plugins::filter {

Status FilterPlugin::configure(const plugin::ConfigView& view) {
    config_ = FilterConfig::from(view);
    return Status::ok();
}

Status FilterPlugin::init(plugin::PluginContext& context) {
    context_ = &context;
    table_ = std::make_unique<FilterTable>(context.files(), context.clock(), context.log(),
                                           context.identity().storeRoot + "/config/consumerFilter.json", config_.silence,
                                           config_.keepDead);
    filters_ = std::make_unique<Filters>(config_, *table_, context.log(),
                                         context.metrics().counter("filter_expressions_refused_total",
                                                                   "Filter expressions that did not compile."));
    return context.services().publish<service::MessageFilter>(*filters_);
}

Status FilterPlugin::start() {
    if (Status loaded = table_->load(); !loaded) return loaded;
    loaded_ = true;
    context_->timers().every(config_.flushInterval, config_.flushInterval, [this] { persist(); });
    return Status::ok();
}

Status FilterPlugin::reconfigure(const plugin::ConfigView& view, std::span<const std::string_view>) {
    filters_->enable(view.flag("enablePropertyFilter"));
    return Status::ok();
}

void FilterPlugin::persist() noexcept {
    if (Status done = table_->persist(); !done) {
        context_->log().limited(plugin::LogLevel::Error, "consumer filters cannot be written", {{"problem", done.message()}});
    }
}

void FilterPlugin::stop() noexcept {
    // What was not read must not replace what is there.
    if (loaded_) persist();
}

}  // namespace patchbay::plugins::filter

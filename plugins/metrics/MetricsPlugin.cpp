#include "MetricsPlugin.h"

#include "Exposition.h"
#include "Health.h"

#include <optional>

namespace patchbay::plugins::metrics {

namespace {

constexpr plugin::ConfigKey kKeys[] = {
    {"metricsPromExporterHost", plugin::ConfigType::Text, "127.0.0.1", "Numeric address that /metrics and /health are served on."},
    {"metricsPromExporterPort", plugin::ConfigType::Int, "5557", "Port of these. 0 takes a free one, which the log names.", 0, 0, 65535},
};

}  // namespace

std::span<const plugin::ConfigKey> MetricsPlugin::configKeys() const noexcept {
    return kKeys;
}

Status MetricsPlugin::configure(const plugin::ConfigView& view) {
    host_ = view.text("metricsPromExporterHost");
    port_ = static_cast<std::uint16_t>(view.integer("metricsPromExporterPort"));
    // RocketMQ's files leave it empty for all addresses.
    if (host_.empty()) return {StatusCode::InvalidArgument, "metricsPromExporterHost: empty; write 0.0.0.0 to serve everybody"};
    return Status::ok();
}

Status MetricsPlugin::init(plugin::PluginContext& context) {
    counters_ = &context.metrics();
    log_ = &context.log();
    store_ = context.services().want<service::MessageStore>();
    return context.services().require(observation_);
}

Status MetricsPlugin::start() {
    const auto port = endpoint_.start(host_, port_, [this](const std::string& path) { return answer(path); });
    if (!port) return {port.error().code(), port.error().message() + " (metricsPromExporterHost, metricsPromExporterPort)"};
    log_->info("metrics are served", {{"host", host_}, {"port", *port}});
    return Status::ok();
}

void MetricsPlugin::stop() noexcept {
    endpoint_.stop();
    store_.reset();
    observation_.reset();
}

HttpAnswer MetricsPlugin::answer(const std::string& path) const {
    const service::MessageStore* store = store_ ? &*store_ : nullptr;
    if (path == "/metrics") return {200, "text/plain; version=0.0.4", exposition(*observation_, *counters_, store)};
    if (path == "/health/live") return {200, "text/plain", "ok\n"};
    if (path == "/health/ready") {
        const auto stats = store != nullptr ? std::optional(store->stats()) : std::nullopt;
        const auto reasons = reasonsNotReady(observation_->process(), stats ? &*stats : nullptr);
        return {reasons.empty() ? 200 : 503, "application/json", readyBody(reasons)};
    }
    return {404, "text/plain", "there are /metrics, /health/live and /health/ready\n"};
}

}  // namespace patchbay::plugins::metrics

#include "MetricsPlugin.h"

#include "Exposition.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <utility>

namespace patchbay::plugins::metrics {

namespace {

constexpr plugin::ConfigKey kOwnKeys[] = {
    {"metricsPromExporterHost", plugin::ConfigType::Text, "127.0.0.1", "Numeric address that /metrics and /health are served on."},
    {"metricsPromExporterPort", plugin::ConfigType::Int, "5557", "Port of these. 0 takes a free one, which the log names.", 0, 0, 65535},
    {"readyBrokerCodes", plugin::ConfigType::Text, "34 310 11",
     "Request codes that a plugin has to serve on the broker's port, or /health/ready is 503: heartbeats, sending and pulling. Empty: none."},
    {"readyNamesrvCodes", plugin::ConfigType::Text, "103 105",
     "The same of the name server's port: registering brokers, and routes."},
};

}  // namespace

std::span<const plugin::ConfigKey> MetricsPlugin::configKeys() const noexcept {
    static const auto kKeys = [] {
        std::array<plugin::ConfigKey, std::size(kOwnKeys) + RocketmqFamilies::kKeyCount> all;
        std::ranges::copy(RocketmqFamilies::keys(), std::ranges::copy(kOwnKeys, all.begin()).out);
        return all;
    }();
    return kKeys;
}

Status MetricsPlugin::configure(const plugin::ConfigView& view) {
    host_ = view.text("metricsPromExporterHost");
    port_ = static_cast<std::uint16_t>(view.integer("metricsPromExporterPort"));
    auto families = RocketmqFamilies::from(view);
    if (!families) return families.error();
    families_ = std::move(*families);
    // RocketMQ's files leave it empty for all addresses.
    if (host_.empty()) return {StatusCode::InvalidArgument, "metricsPromExporterHost: empty; write 0.0.0.0 to serve everybody"};
    auto broker = parseCodes("readyBrokerCodes", view.text("readyBrokerCodes"));
    if (!broker) return broker.error();
    auto namesrv = parseCodes("readyNamesrvCodes", view.text("readyNamesrvCodes"));
    if (!namesrv) return namesrv.error();
    needed_ = {std::move(*broker), std::move(*namesrv)};
    return Status::ok();
}

Status MetricsPlugin::init(plugin::PluginContext& context) {
    counters_ = &context.metrics();
    log_ = &context.log();
    context_ = &context;
    store_ = context.services().want<service::MessageStore>();
    sources_.want(context.services());
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
    sources_ = {};
    observation_.reset();
}

std::string MetricsPlugin::figures() const {
    const service::MessageStore* store = store_ ? &*store_ : nullptr;
    std::string text = exposition(*observation_, *counters_, store);
    // They are a broker's.
    if (store == nullptr) return text;
    BrokerFacts facts{context_->identity(), context_->identity().permission, context_->clock().wallMs()};
    for (const auto& entry : context_->runtimeConfig().snapshot("broker")) {
        if (entry.key == "brokerPermission") facts.permission = std::strtoll(entry.value.c_str(), nullptr, 10);
    }
    return text + rocketmqExposition(families_, sources_, *observation_, *store, facts);
}

HttpAnswer MetricsPlugin::answer(const std::string& path) const {
    const service::MessageStore* store = store_ ? &*store_ : nullptr;
    if (path == "/metrics") return {200, "text/plain; version=0.0.4", figures()};
    if (path == "/health/live") return {200, "text/plain", "ok\n"};
    if (path == "/health/ready") {
        const auto stats = store != nullptr ? std::optional(store->stats()) : std::nullopt;
        const auto reasons = reasonsNotReady(*observation_, stats ? &*stats : nullptr, needed_);
        return {reasons.empty() ? 200 : 503, "application/json", readyBody(reasons)};
    }
    return {404, "text/plain", "there are /metrics, /health/live and /health/ready\n"};
}

}  // namespace patchbay::plugins::metrics

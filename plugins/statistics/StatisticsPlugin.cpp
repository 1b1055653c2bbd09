#include "StatisticsPlugin.h"

#include "patchbay/plugin/Administration.h"
#include "patchbay/protocol/json/Writer.h"

#include <array>
#include <string>

namespace patchbay::plugins::statistics {

namespace {

constexpr plugin::ConfigKey kKeys[] = {
    {"enableDetailStat", plugin::ConfigType::Bool, "false",
     "Counts queues, too (QUEUE_PUT_NUMS, QUEUE_GET_SIZE and so on; RocketMQ's default): some 3 KB for each queue with traffic, and for each group that reads it."},
};

void writeWindow(json::Writer& out, std::string_view name, const service::TrafficStats::Window& window) {
    out.key(name);
    out.beginObject();
    out.member("avgpt", window.avgpt);
    out.member("sum", window.sum);
    out.member("tps", window.tps);
    out.endObject();
}

}  // namespace

void StatsProcessor::process(plugin::Request request) {
    std::string name(request.command().find("statsName").value_or(std::string_view()));
    std::string key(request.command().find("statsKey").value_or(std::string_view()));
    const auto figures = traffic_.find(name, key);
    if (!figures) {
        std::move(request).respond(protocol::ResponseCode::SystemError, "The stats <" + name + "> <" + key + "> not exist");
        return;
    }
    std::string body;
    json::Writer out(body);
    out.beginObject();
    writeWindow(out, "statsDay", figures->day);
    writeWindow(out, "statsHour", figures->hour);
    writeWindow(out, "statsMinute", figures->minute);
    out.endObject();
    plugin::Response response;
    response.setBody(std::move(body));
    std::move(request).respond(std::move(response));
}

std::span<const plugin::ConfigKey> StatisticsPlugin::configKeys() const noexcept { return kKeys; }

Status StatisticsPlugin::configure(const plugin::ConfigView& view) {
    detail_ = view.flag("enableDetailStat");
    return Status::ok();
}

Status StatisticsPlugin::init(plugin::PluginContext& context) {
    context_ = &context;
    auto& services = context.services();
    Status result;
    if (result = services.require(sources_.store); !result) return result;
    if (result = services.require(sources_.topics); !result) return result;
    if (result = services.require(sources_.groups); !result) return result;
    if (result = services.require(sources_.offsets); !result) return result;
    if (result = services.require(sources_.clients); !result) return result;
    traffic_ = std::make_unique<Traffic>(context.clock(), context.identity().clusterName, detail_);
    processor_ = std::make_unique<StatsProcessor>(*traffic_);
    if (result = services.publish<service::TrafficStats>(*traffic_); !result) return result;
    static constexpr std::array kCodes{protocol::RequestCode::ViewBrokerStatsData};
    plugin::BindOptions options;
    options.executor = {"statistics", 1, 1'000, std::chrono::milliseconds(0)};
    return plugin::bindAdministration(context.processors(), kCodes, *processor_, options);
}

Status StatisticsPlugin::start() {
    sources_.store->addListener(*traffic_);
    listening_ = true;
    traffic_->sample(sources_);
    context_->timers().every(kInterval, kInterval, [this] { traffic_->sample(sources_); });
    return Status::ok();
}

void StatisticsPlugin::stop() noexcept {
    if (listening_) sources_.store->removeListener(*traffic_);
    listening_ = false;
    processor_.reset();
    sources_ = {};
}

}  // namespace patchbay::plugins::statistics

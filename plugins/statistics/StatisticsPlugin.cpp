#include "StatisticsPlugin.h"

#include "patchbay/protocol/json/Writer.h"

#include <array>
#include <string>

namespace patchbay::plugins::statistics {

namespace {

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

Status StatisticsPlugin::init(plugin::PluginContext& context) {
    context_ = &context;
    auto& services = context.services();
    Status result;
    if (result = services.require(store_); !result) return result;
    if (result = services.require(topics_); !result) return result;
    if (result = services.require(groups_); !result) return result;
    traffic_ = std::make_unique<Traffic>(context.clock(), context.identity().clusterName);
    processor_ = std::make_unique<StatsProcessor>(*traffic_);
    if (result = services.publish<service::TrafficStats>(*traffic_); !result) return result;
    if (result = context.interceptors().add("broker", plugin::Phase::Responding, 0, *traffic_); !result) return result;
    static constexpr std::array kCodes{protocol::RequestCode::ViewBrokerStatsData};
    plugin::BindOptions options;
    options.executor = {"statistics", 1, 1'000, std::chrono::milliseconds(0)};
    return context.processors().bind(kCodes, *processor_, options);
}

Status StatisticsPlugin::start() {
    store_->addListener(*traffic_);
    listening_ = true;
    traffic_->sample(*topics_, *groups_);
    context_->timers().every(kInterval, kInterval, [this] { traffic_->sample(*topics_, *groups_); });
    return Status::ok();
}

void StatisticsPlugin::stop() noexcept {
    if (listening_) store_->removeListener(*traffic_);
    listening_ = false;
    processor_.reset();
    store_.reset();
    topics_.reset();
    groups_.reset();
}

}  // namespace patchbay::plugins::statistics

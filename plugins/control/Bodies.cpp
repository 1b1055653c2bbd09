#include "Bodies.h"

#include "patchbay/protocol/json/Writer.h"

namespace patchbay::plugins::control {

namespace {

using json::Writer;

std::int64_t number(std::uint64_t value) noexcept {
    return static_cast<std::int64_t>(value);
}

void texts(Writer& out, std::string_view name, const std::vector<std::string>& list) {
    out.key(name);
    out.beginArray();
    for (const auto& text : list) out.string(text);
    out.endArray();
}

void histogram(Writer& out, std::string_view name, const service::TimeHistogram& times) {
    out.key(name);
    out.beginObject();
    out.key("counts");
    out.beginArray();
    for (const auto count : times.counts) out.integer(number(count));
    out.endArray();
    out.member("sumUs", number(times.sumUs));
    out.endObject();
}

void plugin(Writer& out, const service::PluginInfo& info) {
    out.beginObject();
    out.member("name", info.name);
    out.member("version", info.version);
    out.member("description", info.description);
    out.member("state", info.state);
    out.member("why", info.why);
    out.member("file", info.file);
    out.member("library", info.library);
    out.member("generation", info.generation);
    out.member("startedMs", info.startedWallMs);
    out.member("concurrent", info.concurrent);
    texts(out, "provides", info.provides);
    texts(out, "uses", info.uses);
    texts(out, "usedBy", info.usedBy);
    out.key("codes");
    out.beginArray();
    for (const auto& [listener, code] : info.codes) {
        out.beginObject();
        out.member("listener", listener);
        out.member("code", code);
        out.endObject();
    }
    out.endArray();
    out.endObject();
}

void requests(Writer& out, const service::Observation& observation) {
    out.key("requests");
    out.beginArray();
    for (const auto& one : observation.requests()) {
        out.beginObject();
        out.member("listener", one.listener);
        out.member("plugin", one.plugin);
        out.member("code", one.code);
        out.member("calls", number(one.calls));
        out.member("answered", number(one.answered));
        out.member("errors", number(one.errors));
        out.member("busy", number(one.busy));
        histogram(out, "latency", one.latency);
        histogram(out, "wait", one.wait);
        out.member("queued", number(one.queued));
        out.endObject();
    }
    out.endArray();
}

void executors(Writer& out, const service::Observation& observation) {
    out.key("executors");
    out.beginArray();
    for (const auto& one : observation.executors()) {
        out.beginObject();
        out.member("name", one.name);
        out.member("threads", one.threads);
        out.member("queueCapacity", one.queueCapacity);
        out.member("queueBytesMax", number(one.queueBytesMax));
        out.member("maxQueueWaitMs", one.maxQueueWaitMs);
        out.member("queued", number(one.queued));
        out.member("queuedBytes", number(one.queuedBytes));
        out.member("refusedFull", number(one.refusedFull));
        out.member("refusedLate", number(one.refusedLate));
        out.member("headWaitMs", one.headWaitMs);
        out.endObject();
    }
    out.endArray();
}

void faults(Writer& out, const service::Observation& observation) {
    out.key("faults");
    out.beginArray();
    for (const auto& one : observation.faults()) {
        out.beginObject();
        out.member("plugin", one.plugin);
        out.member("exceptions", number(one.exceptions));
        out.member("dropped", number(one.dropped));
        out.member("twice", number(one.twice));
        out.member("oversize", number(one.oversize));
        out.member("undeliverable", number(one.undeliverable));
        out.member("slowCalls", number(one.slowCalls));
        out.endObject();
    }
    out.endArray();
}

}  // namespace

std::string pluginsBody(const std::vector<service::PluginInfo>& plugins) {
    std::string body;
    Writer out(body);
    out.beginObject();
    out.key("plugins");
    out.beginArray();
    for (const auto& one : plugins) plugin(out, one);
    out.endArray();
    out.endObject();
    return body;
}

std::string inspectionBody(const service::PluginInspection& inspection) {
    std::string body;
    Writer out(body);
    out.beginObject();
    out.member("path", inspection.path);
    out.member("manifest", inspection.manifest);
    texts(out, "problems", inspection.problems);
    out.endObject();
    return body;
}

std::string metricsBody(const service::Observation& observation, const plugin::Metrics& counters, std::int64_t nowMs) {
    std::string body;
    Writer out(body);
    const auto process = observation.process();
    out.beginObject();
    out.key("process");
    out.beginObject();
    out.member("startedMs", process.startedWallMs);
    out.member("nowMs", nowMs);
    out.member("connections", number(process.connections));
    out.member("activeRequests", number(process.activeRequests));
    out.member("heldRequests", number(process.heldRequests));
    out.member("logLinesDropped", number(process.logLinesDropped));
    out.member("serving", process.serving);
    out.endObject();
    out.key("boundsUs");
    out.beginArray();
    for (const auto bound : service::TimeHistogram::kBoundsUs) out.integer(bound);
    out.endArray();
    requests(out, observation);
    executors(out, observation);
    faults(out, observation);
    out.key("counters");
    out.beginObject();
    counters.visit([&](std::string_view name, std::string_view, std::uint64_t value) { out.member(name, number(value)); });
    out.endObject();
    out.endObject();
    return body;
}

std::string configurationBody(const std::vector<service::ConfigFact>& facts) {
    std::string body;
    Writer out(body);
    out.beginObject();
    out.key("keys");
    out.beginArray();
    for (const auto& fact : facts) {
        out.beginObject();
        out.member("owner", fact.owner);
        out.member("key", fact.key);
        out.member("doc", fact.doc);
        out.member("type", fact.type);
        out.member("default", fact.defaultValue);
        out.member("value", fact.value);
        out.member("origin", fact.origin);
        out.member("where", fact.where);
        out.member("fileValue", fact.fileValue);
        out.member("fileWhere", fact.fileWhere);
        out.member("live", fact.live);
        out.member("differs", fact.differs);
        out.endObject();
    }
    out.endArray();
    out.endObject();
    return body;
}

}  // namespace patchbay::plugins::control

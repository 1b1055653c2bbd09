#include "Exposition.h"

#include "Families.h"

#include <prometheus/text_serializer.h>
#include <utility>
#include <vector>

namespace patchbay::plugins::metrics {

namespace {

Labels labelsOf(const service::RequestStats& one) {
    return {{"listener", one.listener}, {"plugin", one.plugin}, {"code", std::to_string(one.code)}};
}

void addRequests(Families& out, const std::vector<service::RequestStats>& requests) {
    using Stats = service::RequestStats;
    const auto family = [&](const char* name, const char* help, MetricType type, std::uint64_t (*of)(const Stats&)) {
        out.begin(name, help, type);
        for (const auto& one : requests) out.value(labelsOf(one), of(one));
    };
    family("patchbay_code_calls_total", "Requests that were routed to a plugin.", MetricType::Counter, [](const Stats& s) { return s.calls; });
    family("patchbay_code_errors_total", "Requests that were answered SYSTEM_ERROR.", MetricType::Counter, [](const Stats& s) { return s.errors; });
    family("patchbay_code_busy_total", "Requests that were answered SYSTEM_BUSY.", MetricType::Counter, [](const Stats& s) { return s.busy; });
    family("patchbay_code_in_work", "Requests that are served, queued or held now.", MetricType::Gauge,
           [](const Stats& s) { return s.calls > s.answered ? s.calls - s.answered : 0; });
    family("patchbay_code_queued", "Requests in an executor's queue now.", MetricType::Gauge, [](const Stats& s) { return s.queued; });
    out.begin("patchbay_code_seconds", "Time from the last byte of a request to its answer, held time included.", MetricType::Histogram);
    for (const auto& one : requests) out.histogram(labelsOf(one), one.latency);
    out.begin("patchbay_code_queue_wait_seconds", "Time that requests waited for a thread of an executor.", MetricType::Histogram);
    for (const auto& one : requests) out.histogram(labelsOf(one), one.wait);
}

void addExecutors(Families& out, const std::vector<service::ExecutorStats>& executors) {
    using Stats = service::ExecutorStats;
    const auto family = [&](const char* name, const char* help, MetricType type, std::uint64_t (*of)(const Stats&)) {
        out.begin(name, help, type);
        for (const auto& one : executors) out.value({{"executor", one.name}}, of(one));
    };
    family("patchbay_executor_queued", "Requests in the queue now.", MetricType::Gauge, [](const Stats& s) { return s.queued; });
    family("patchbay_executor_queued_bytes", "Bytes of these.", MetricType::Gauge, [](const Stats& s) { return s.queuedBytes; });
    family("patchbay_executor_queue_capacity", "Requests that the queue takes.", MetricType::Gauge,
           [](const Stats& s) { return std::uint64_t{s.queueCapacity}; });
    family("patchbay_executor_threads", "Threads.", MetricType::Gauge, [](const Stats& s) { return std::uint64_t{s.threads}; });
    out.begin("patchbay_executor_refused_total", "Requests that were refused.", MetricType::Counter);
    for (const auto& one : executors) {
        out.value({{"executor", one.name}, {"reason", "full"}}, one.refusedFull);
        out.value({{"executor", one.name}, {"reason", "late"}}, one.refusedLate);
    }
}

void addFaults(Families& out, const std::vector<service::PluginFaults>& faults) {
    out.begin("patchbay_plugin_faults_by_kind_total", "What plugins did wrong; undeliverable answers are none of their faults.", MetricType::Counter);
    for (const auto& one : faults) {
        const std::pair<const char*, std::uint64_t> kinds[] = {{"exception", one.exceptions}, {"dropped", one.dropped},
                                                                {"twice", one.twice},          {"oversize", one.oversize},
                                                                {"slow", one.slowCalls},       {"undeliverable", one.undeliverable}};
        for (const auto& [kind, count] : kinds) out.value({{"plugin", one.plugin}, {"kind", kind}}, count);
    }
}

void addProcess(Families& out, const service::ProcessStats& process) {
    const auto gauge = [&](const char* name, const char* help, double value) { out.single(name, help, MetricType::Gauge, value); };
    gauge("patchbay_start_time_seconds", "When the process began, seconds since the epoch.", static_cast<double>(process.startedWallMs) / 1000);
    gauge("patchbay_connections", "Connections of all listeners.", static_cast<double>(process.connections));
    gauge("patchbay_active_requests", "Requests that have come and not been answered.", static_cast<double>(process.activeRequests));
    gauge("patchbay_held_requests", "Of these, the ones that wait for plugins to be exchanged.", static_cast<double>(process.heldRequests));
    gauge("patchbay_serving", "1 while clients may come.", process.serving ? 1 : 0);
    out.single("patchbay_log_lines_dropped_total", "Lines that the log lost.", MetricType::Counter, static_cast<double>(process.logLinesDropped));
}

void addStore(Families& out, const service::StoreStats& stats) {
    const auto counter = [&](const char* name, const char* help, std::int64_t value) { out.single(name, help, MetricType::Counter, static_cast<double>(value)); };
    const auto gauge = [&](const char* name, const char* help, double value) { out.single(name, help, MetricType::Gauge, value); };
    counter("patchbay_store_messages_appended_total", "Messages that were stored.", stats.messagesAppended);
    counter("patchbay_store_bytes_appended_total", "Bytes of these.", stats.bytesAppended);
    counter("patchbay_store_messages_read_total", "Messages that were read.", stats.messagesRead);
    gauge("patchbay_store_behind_flush_bytes", "Bytes that are stored and not yet durable.", static_cast<double>(stats.behindFlushBytes));
    gauge("patchbay_store_disk_used_ratio", "Used share of the disk under the store.", stats.diskRatio);
    gauge("patchbay_store_queues", "Queues.", static_cast<double>(stats.queues));
    gauge("patchbay_store_writable", "1 while it takes messages.", stats.writable ? 1 : 0);
}

}  // namespace

std::string exposition(const service::Observation& observation, const plugin::Metrics& counters, const service::MessageStore* store) {
    Families out;
    addProcess(out, observation.process());
    addRequests(out, observation.requests());
    addExecutors(out, observation.executors());
    addFaults(out, observation.faults());
    if (store != nullptr) addStore(out, store->stats());
    counters.visit([&](std::string_view name, std::string_view help, std::uint64_t value) {
        out.single(std::string(name), std::string(help), MetricType::Counter, static_cast<double>(value));
    });
    return prometheus::TextSerializer().Serialize(out.list());
}

}  // namespace patchbay::plugins::metrics

#include "RocketmqMetrics.h"

#include "Families.h"

#include "patchbay/protocol/Language.h"
#include "patchbay/protocol/RequestCode.h"
#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <prometheus/text_serializer.h>
#include <set>
#include <string_view>
#include <tuple>

namespace patchbay::plugins::metrics {

namespace {

using protocol::RequestCode;

constexpr std::array<plugin::ConfigKey, RocketmqFamilies::kKeyCount> kKeys{{
    {"enableStatsMetrics", plugin::ConfigType::Bool, "true", "/metrics has in RocketMQ 5's names what waits in queues of requests, the permission, and how many topics and groups there are."},
    {"enableConnectionMetrics", plugin::ConfigType::Bool, "true", "The same of producers and consumers that are connected."},
    {"enableLagAndDlqMetrics", plugin::ConfigType::Bool, "true", "The same of consumers' lag and of dead letters. Costs a look at every queue of every group on line."},
    {"enableRequestMetrics", plugin::ConfigType::Bool, "true", "The same of what goes in and out of topics."},
    {"enableRemotingMetrics", plugin::ConfigType::Bool, "true", "The same of the times of requests."},
    {"enableMessageStoreMetrics", plugin::ConfigType::Bool, "true", "The same of the store and of timed messages."},
    {"metricsOtelCardinalityLimit", plugin::ConfigType::Int, "50000", "Series that each of RocketMQ 5's metrics may have; the others are left out and counted.", 0, 1,
     10'000'000},
    {"metricsLabel", plugin::ConfigType::Text, "", "Labels of all of RocketMQ 5's metrics besides cluster, node_type and node_id: name:value,name:value."},
}};

/// Labels that series have anyway. Prometheus refuses a whole answer in which one series has a label twice.
constexpr std::array<std::string_view, 19> kOwnLabels{"cluster", "node_type", "node_id", "processor", "topic", "message_type", "is_system", "consumer_group",
                                                      "is_retry", "language", "version", "protocol_type", "consume_mode", "request_code", "plugin", "listener",
                                                      "storage_type", "storage_medium", "le"};

std::string lower(std::string_view text) {
    std::string result(text);
    std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

std::string textOf(bool value) { return value ? "true" : "false"; }

bool isCode(const service::RequestStats& one, std::initializer_list<RequestCode> codes) {
    return std::ranges::any_of(codes, [&](RequestCode code) { return one.code == static_cast<std::int32_t>(code); });
}

/// One answer in the making.
class Writer {
public:
    Writer(const RocketmqFamilies& wanted, const BrokerSources& sources, const service::Observation& observation, const service::MessageStore& store,
           const BrokerFacts& facts)
        : wanted_(wanted), from_(sources), observation_(observation), store_(store), facts_(facts), out_(baseLabels(wanted, facts), wanted.seriesMax) {}

    std::string text() {
        if (wanted_.stats) {
            node();
            watermarks();
        }
        if (wanted_.requests && from_.traffic && from_.topics) putTraffic();
        if (from_.groups && from_.offsets && from_.clients && from_.topics) {
            if (wanted_.requests) getTraffic();
            if (wanted_.lag) lag();
        }
        if (wanted_.connections && from_.clients) connections();
        if (wanted_.lag && from_.traffic && from_.topics) deadLetters();
        if (wanted_.remoting) latencies();
        if (wanted_.store) storage();
        // Without base labels: it is ours.
        Families own;
        own.single("patchbay_rocketmq_series_dropped", "Series of RocketMQ's metrics that metricsOtelCardinalityLimit left out of this answer.", MetricType::Gauge,
                   static_cast<double>(out_.dropped()));
        return prometheus::TextSerializer().Serialize(out_.list()) + prometheus::TextSerializer().Serialize(own.list());
    }

private:
    static Labels baseLabels(const RocketmqFamilies& wanted, const BrokerFacts& facts) {
        Labels labels{{"cluster", facts.identity.clusterName}, {"node_type", "broker"}, {"node_id", facts.identity.brokerName}};
        labels.insert(labels.end(), wanted.labels.begin(), wanted.labels.end());
        return labels;
    }

    void node() {
        out_.single("rocketmq_broker_permission", "2 write, 4 read, 6 both.", MetricType::Gauge, static_cast<double>(facts_.permission));
        if (from_.topics) {
            out_.single("rocketmq_topic_number", "Topics.", MetricType::Gauge, static_cast<double>(from_.topics->all().size()));
        }
        if (from_.groups) {
            out_.single("rocketmq_consumer_group_number", "Consumer groups.", MetricType::Gauge, static_cast<double>(from_.groups->all().size()));
        }
    }

    void watermarks() {
        std::map<std::string, std::uint64_t, std::less<>> queued;
        // Sends, replies, heartbeats and so on run where they arrive; of sends and replies those count that are not answered.
        for (const char* name : {"send", "async_put", "pull", "lite_pull", "ack", "query_message", "client_manager", "heartbeat", "consumer_manager", "transaction",
                                 "admin", "reply"}) {
            queued[name] = 0;
        }
        for (const auto& one : observation_.requests()) {
            const std::uint64_t open = one.calls > one.answered ? one.calls - one.answered : 0;
            if (isCode(one, {RequestCode::SendMessage, RequestCode::SendMessageV2, RequestCode::SendBatchMessage})) queued["send"] += open;
            if (isCode(one, {RequestCode::SendReplyMessage, RequestCode::SendReplyMessageV2})) queued["reply"] += open;
            if (isCode(one, {RequestCode::PullMessage})) queued["pull"] += one.queued;
            if (isCode(one, {RequestCode::LitePullMessage})) queued["lite_pull"] += one.queued;
        }
        for (const auto& executor : observation_.executors()) {
            if (executor.name == "query") queued["query_message"] = executor.queued;
            if (executor.name == "admin" || executor.name == "transaction") queued[executor.name] = executor.queued;
        }
        out_.begin("rocketmq_processor_watermark", "Requests that wait.", MetricType::Gauge);
        for (const auto& [name, count] : queued) out_.value({{"processor", name}}, count);
    }

    [[nodiscard]] bool isSystem(const std::string& topic, std::string_view group = {}) const {
        return from_.topics->isSystem(topic) || (!group.empty() && protocol::isSystemGroup(group));
    }

    void putTraffic() {
        std::map<std::string, std::string, std::less<>> types;
        for (const auto& config : from_.topics->all()) {
            const auto type = config.attributes.find("message.type");
            if (type != config.attributes.end()) types[config.topicName] = lower(type->second);
        }
        const auto topics = from_.traffic->topics();
        const auto labelsOf = [&](const std::string& topic) {
            const auto type = types.find(topic);
            return Labels{{"topic", topic}, {"message_type", type == types.end() ? "normal" : type->second}, {"is_system", textOf(isSystem(topic))}};
        };
        out_.begin("rocketmq_messages_in_total", "Messages that were stored.", MetricType::Counter);
        for (const auto& one : topics) out_.value(labelsOf(one.topic), one.messages);
        out_.begin("rocketmq_throughput_in_total", "Bytes of these.", MetricType::Counter);
        for (const auto& one : topics) out_.value(labelsOf(one.topic), one.bytes);
        out_.begin("rocketmq_message_size", "Bytes of a stored message, with all that is stored with it.", MetricType::Histogram);
        for (const auto& one : topics) {
            out_.histogram(labelsOf(one.topic), one.sizes, service::TrafficStats::TopicTotals::kSizeBounds, 1, static_cast<double>(one.bytes));
        }
    }

    void getTraffic() {
        struct Read {
            Labels labels;
            std::int64_t messages = 0;
            std::int64_t bytes = 0;
        };
        std::vector<Read> reads;
        for (const auto& group : from_.groups->all()) {
            std::set<std::string> topics;
            for (auto& topic : from_.offsets->topicsOf(group.groupName)) topics.insert(std::move(topic));
            for (const auto& subscription : from_.clients->subscriptions(group.groupName)) topics.insert(subscription.topic);
            for (const auto& topic : topics) {
                Read read{labelsOf(group.groupName, topic)};
                for (const auto& queue : from_.offsets->progress(group.groupName, topic)) {
                    read.messages += queue.pull.delivered;
                    read.bytes += queue.pull.bytes;
                }
                if (read.messages > 0) reads.push_back(std::move(read));
            }
        }
        out_.begin("rocketmq_messages_out_total", "Messages that were handed to consumers.", MetricType::Counter);
        for (const auto& one : reads) out_.value(one.labels, one.messages);
        out_.begin("rocketmq_throughput_out_total", "Bytes of these.", MetricType::Counter);
        for (const auto& one : reads) out_.value(one.labels, one.bytes);
    }

    [[nodiscard]] Labels labelsOf(const std::string& group, const std::string& topic) const {
        return {{"consumer_group", group}, {"topic", topic}, {"is_retry", textOf(protocol::isRetryTopic(topic))}, {"is_system", textOf(isSystem(topic, group))}};
    }

    struct Lag {
        Labels labels;
        std::int64_t behind = 0;      ///< not consumed
        std::int64_t inFlight = 0;    ///< of these, handed out
        std::int64_t ready = 0;       ///< not handed out
        std::int64_t behindMs = 0;    ///< how long the first message waits that is not consumed
        std::int64_t readyMs = 0;     ///< that is not handed out
    };

    void addQueue(Lag& lag, const std::string& group, const std::string& topic, std::int32_t queue) const {
        const auto range = store_.range(topic, queue);
        std::int64_t consumed = from_.offsets->query(group, topic, queue);
        // What a group has never told is no lag, as RocketMQ has it.
        if (consumed < 0) consumed = range.max;
        consumed = std::clamp(consumed, range.min, range.max);
        const std::int64_t pulled = std::clamp(from_.offsets->queryPull(group, topic, queue), consumed, range.max);
        const auto waits = [&](std::int64_t offset) {
            if (offset >= range.max) return std::int64_t{0};
            const auto stored = store_.storeTimeAt(topic, queue, offset);
            return stored ? std::max<std::int64_t>(facts_.nowMs - *stored, 0) : 0;
        };
        lag.behind += range.max - consumed;
        lag.inFlight += pulled - consumed;
        lag.ready += range.max - pulled;
        lag.behindMs = std::max(lag.behindMs, waits(consumed));
        lag.readyMs = std::max(lag.readyMs, waits(pulled));
    }

    void lag() {
        std::vector<Lag> lags;
        for (const auto& group : from_.clients->consumerGroups()) {
            for (const auto& subscription : from_.clients->subscriptions(group)) {
                // RocketMQ tells no lag of them, and its alerts add up what it tells.
                if (protocol::isRetryTopic(subscription.topic)) continue;
                service::TopicFacts facts;
                if (!from_.topics->find(subscription.topic, facts)) continue;
                Lag lag;
                lag.labels = labelsOf(group, subscription.topic);
                for (std::int32_t queue = 0; queue < facts.readQueueNums; ++queue) addQueue(lag, group, subscription.topic, queue);
                lags.push_back(std::move(lag));
            }
        }
        const auto gauge = [&](const char* name, const char* help, std::int64_t Lag::*figure) {
            out_.begin(name, help, MetricType::Gauge);
            for (const auto& lag : lags) out_.value(lag.labels, lag.*figure);
        };
        gauge("rocketmq_consumer_lag_messages", "Messages that a group on line has not consumed.", &Lag::behind);
        gauge("rocketmq_consumer_lag_latency_milliseconds", "How long the first of them has been stored.", &Lag::behindMs);
        gauge("rocketmq_consumer_inflight_messages", "Those of them that were handed out.", &Lag::inFlight);
        gauge("rocketmq_consumer_ready_messages", "Those of them that were not.", &Lag::ready);
        gauge("rocketmq_consumer_queueing_latency_milliseconds", "How long the first of the latter has been stored.", &Lag::readyMs);
    }

    void connections() {
        using Kind = std::pair<std::string, std::string>;   // language, version
        const auto kindOf = [](const service::ClientInfo& client) {
            return Kind{lower(protocol::toString(static_cast<protocol::Language>(client.language))), lower(versionText(client.version))};
        };
        std::map<Kind, std::uint64_t> producers;
        for (const auto& group : from_.clients->producerGroups()) {
            for (const auto& client : from_.clients->producers(group)) ++producers[kindOf(client)];
        }
        out_.begin("rocketmq_producer_connections", "Producers that are connected, by group and connection.", MetricType::Gauge);
        for (const auto& [kind, count] : producers) {
            out_.value({{"language", kind.first}, {"version", kind.second}, {"protocol_type", "remoting"}}, count);
        }
        out_.begin("rocketmq_consumer_connections", "Consumers that are connected.", MetricType::Gauge);
        for (const auto& group : from_.clients->consumerGroups()) {
            const auto type = from_.clients->group(group).consumeType;
            const char* const mode = type == service::ConsumeType::Actively ? "pull" : type == service::ConsumeType::Passively ? "push" : "pop";
            std::map<Kind, std::uint64_t> consumers;
            for (const auto& client : from_.clients->consumers(group)) ++consumers[kindOf(client)];
            for (const auto& [kind, count] : consumers) {
                out_.value({{"consumer_group", group}, {"language", kind.first}, {"version", kind.second}, {"consume_mode", mode}, {"protocol_type", "remoting"},
                            {"is_system", textOf(protocol::isSystemGroup(group))}}, count);
            }
        }
    }

    void deadLetters() {
        out_.begin("rocketmq_send_to_dlq_messages_total", "Messages that became dead letters.", MetricType::Counter);
        for (const auto& one : from_.traffic->topics()) {
            if (!one.topic.starts_with(protocol::kDlqTopicPrefix)) continue;
            const std::string group = one.topic.substr(protocol::kDlqTopicPrefix.size());
            out_.value({{"consumer_group", group}, {"topic", one.topic}, {"is_system", textOf(isSystem(one.topic, group))}}, one.messages);
        }
    }

    void latencies() {
        out_.begin("rocketmq_rpc_latency_milliseconds", "Time from the last byte of a request to its answer, held time included.", MetricType::Histogram);
        for (const auto& one : observation_.requests()) {
            if (one.listener == "namesrv" || one.calls == 0) continue;
            const auto name = protocol::toString(static_cast<RequestCode>(one.code));
            out_.histogram({{"protocol_type", "remoting"}, {"request_code", name.empty() ? std::to_string(one.code) : lower(name)}, {"plugin", one.plugin},
                            {"listener", one.listener}}, one.latency, 1e3);
        }
    }

    void storage() {
        const auto stats = store_.stats();
        const Labels local{{"storage_type", "local"}, {"storage_medium", "disk"}};
        const auto gauge = [&](const char* name, const char* help, std::int64_t value) {
            out_.begin(name, help, MetricType::Gauge);
            out_.value(local, value);
        };
        gauge("rocketmq_storage_size_bytes", "Bytes of messages.", stats.maxPhysicalOffset - stats.minPhysicalOffset);
        gauge("rocketmq_storage_flush_behind_bytes", "Bytes that are stored and not yet durable.", stats.behindFlushBytes);
        const auto behind = std::ranges::find(stats.runtimeInfo, "dispatchBehindBytes", &std::pair<std::string, std::string>::first);
        gauge("rocketmq_storage_dispatch_behind_bytes", "Bytes that are stored and not yet visible.",
              behind == stats.runtimeInfo.end() ? 0 : std::strtoll(behind->second.c_str(), nullptr, 10));
        gauge("rocketmq_storage_message_reserve_time_milliseconds", "How long the oldest message has been stored.",
              stats.earliestMessageMs < 0 ? 0 : std::max<std::int64_t>(facts_.nowMs - stats.earliestMessageMs, 0));
        if (!from_.timers) return;
        const auto timers = from_.timers->figures();
        gauge("rocketmq_timer_enqueue_lag", "Timed messages that are not taken yet.", timers.unread);
        gauge("rocketmq_timer_dequeue_latency_milliseconds", "How long ago the first message was due that is not delivered.", timers.behindMs);
        gauge("rocketmq_timing_messages", "Timed messages that wait.", timers.waiting);
        out_.begin("rocketmq_timer_enqueue_total", "Timed messages that were taken.", MetricType::Counter);
        out_.value(local, timers.taken);
        out_.begin("rocketmq_timer_dequeue_total", "Timed messages that were delivered.", MetricType::Counter);
        out_.value(local, timers.delivered);
    }

    const RocketmqFamilies& wanted_;
    const BrokerSources& from_;
    const service::Observation& observation_;
    const service::MessageStore& store_;
    const BrokerFacts& facts_;
    Families out_;
};

Result<std::vector<std::pair<std::string, std::string>>> parseLabels(std::string_view text) {
    std::vector<std::pair<std::string, std::string>> labels;
    while (!text.empty()) {
        const auto end = std::min(text.find(','), text.size());
        const std::string_view one = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const auto colon = one.find(':');
        const std::string_view name = one.substr(0, colon);
        const bool named = !name.empty() && (std::isdigit(static_cast<unsigned char>(name.front())) == 0) &&
                           std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
        if (!named || colon == std::string_view::npos) {
            return Status(StatusCode::InvalidArgument, "metricsLabel: '" + std::string(one) + "' is not name:value, with a name of letters, digits and _");
        }
        if (name.starts_with("__") || std::ranges::find(kOwnLabels, name) != kOwnLabels.end()) {
            return Status(StatusCode::InvalidArgument, "metricsLabel: '" + std::string(name) + "' is a label that these metrics or Prometheus have anyway");
        }
        if (std::ranges::find(labels, name, &std::pair<std::string, std::string>::first) != labels.end()) {
            return Status(StatusCode::InvalidArgument, "metricsLabel: '" + std::string(name) + "' is named twice");
        }
        labels.emplace_back(name, one.substr(colon + 1));
    }
    return labels;
}

}  // namespace

void BrokerSources::want(plugin::Services& services) {
    topics = services.want<service::TopicConfigs>();
    groups = services.want<service::SubscriptionGroups>();
    offsets = services.want<service::ConsumerOffsets>();
    clients = services.want<service::ClientRegistry>();
    traffic = services.want<service::TrafficStats>();
    timers = services.want<service::TimerSchedule>();
}

std::span<const plugin::ConfigKey> RocketmqFamilies::keys() noexcept { return kKeys; }

Result<RocketmqFamilies> RocketmqFamilies::from(const plugin::ConfigView& view) {
    RocketmqFamilies families;
    families.stats = view.flag("enableStatsMetrics");
    families.connections = view.flag("enableConnectionMetrics");
    families.lag = view.flag("enableLagAndDlqMetrics");
    families.requests = view.flag("enableRequestMetrics");
    families.remoting = view.flag("enableRemotingMetrics");
    families.store = view.flag("enableMessageStoreMetrics");
    families.seriesMax = static_cast<std::size_t>(view.integer("metricsOtelCardinalityLimit"));
    auto labels = parseLabels(view.text("metricsLabel"));
    if (!labels) return labels.error();
    families.labels = std::move(*labels);
    return families;
}

std::string rocketmqExposition(const RocketmqFamilies& wanted, const BrokerSources& sources, const service::Observation& observation,
                               const service::MessageStore& store, const BrokerFacts& facts) {
    return Writer(wanted, sources, observation, store, facts).text();
}

std::string versionText(std::int32_t version) {
    // Of 3.0.0 each step towards it had a number of its own.
    constexpr std::array<std::string_view, 16> kFirst{
        "V3_0_0_SNAPSHOT", "V3_0_0_ALPHA1", "V3_0_0_BETA1", "V3_0_0_BETA2",
        "V3_0_0_BETA3", "V3_0_0_BETA4", "V3_0_0_BETA5", "V3_0_0_BETA6_SNAPSHOT",
        "V3_0_0_BETA6", "V3_0_0_BETA7_SNAPSHOT", "V3_0_0_BETA7", "V3_0_0_BETA8_SNAPSHOT",
        "V3_0_0_BETA8", "V3_0_0_BETA9_SNAPSHOT", "V3_0_0_BETA9", "V3_0_0_FINAL"};
    // Since then each version has two, the first of which is its snapshot's.
    struct Range {
        std::int32_t end;
        std::int32_t major, minor, patch;    // of its first
        std::int32_t minors, patches;        // that a major version has, and a minor one
    };
    constexpr std::array<Range, 4> kRanges{{{46, 3, 0, 1, 1, 15}, {86, 3, 1, 0, 2, 10}, {212, 3, 3, 1, 7, 9}, {612, 4, 0, 0, 10, 10}}};
    // A client may say any number: what it says must not make a series of its own.
    if (version < 0) return std::string(kFirst.front());
    if (version < static_cast<std::int32_t>(kFirst.size())) return std::string(kFirst.at(static_cast<std::size_t>(version)));
    std::int32_t begin = static_cast<std::int32_t>(kFirst.size());
    for (const auto& range : kRanges) {
        if (version < range.end) {
            const std::int32_t number = (version - begin) / 2;
            return "V" + std::to_string(range.major + number / (range.minors * range.patches)) + "_" +
                   std::to_string(range.minor + number / range.patches % range.minors) + "_" + std::to_string(range.patch + number % range.patches) +
                   (version % 2 == 0 ? "_SNAPSHOT" : "");
        }
        begin = range.end;
    }
    return "HIGHER_VERSION";
}

}  // namespace patchbay::plugins::metrics

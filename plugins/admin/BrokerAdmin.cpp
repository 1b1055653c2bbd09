#include "BrokerAdmin.h"

#include "patchbay/protocol/Limits.h"
#include "patchbay/protocol/headers/Admin.h"
#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/protocol/route/ConfigText.h"
#include "patchbay/protocol/route/DataVersion.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace patchbay::plugins::admin {

using plugin::Response;
using protocol::RequestCode;
using protocol::ResponseCode;

namespace {

// The release whose behaviour this broker follows, in the words of RocketMQ's tools.
constexpr const char* kVersionName = "V5_3_3";

std::string uptime(std::int64_t ms) {
    const std::int64_t seconds = ms / 1000;
    char text[96];
    std::snprintf(text, sizeof text, "[ %lld days, %lld hours, %lld minutes, %lld seconds ]",
                  static_cast<long long>(seconds / 86'400), static_cast<long long>(seconds / 3600 % 24),
                  static_cast<long long>(seconds / 60 % 60), static_cast<long long>(seconds % 60));
    return text;
}

// Tools abort their row when one of these numbers is missing. This is what they are where nothing of the kind exists; what exists
// follows. Nobody fills a dispatch buffer, here or in RocketMQ 5.
constexpr std::pair<const char*, const char*> kWithout[] = {
    {"sendThreadPoolQueueSize", "0"}, {"pullThreadPoolQueueSize", "0"}, {"pullThreadPoolQueueHeadWaitTimeMills", "0"},
    {"litePullThreadPoolQueueSize", "0"}, {"litePullThreadPoolQueueHeadWaitTimeMills", "0"}, {"queryThreadPoolQueueSize", "0"},
    {"queryThreadPoolQueueHeadWaitTimeMills", "0"}, {"ackThreadPoolQueueSize", "0"}, {"ackThreadPoolQueueHeadWaitTimeMills", "0"},
    {"ackThreadPoolQueueCapacity", "0"}, {"EndTransactionQueueSize", "0"}, {"EndTransactionThreadPoolQueueCapacity", "0"},
    {"pageCacheLockTimeMills", "0"}, {"dispatchBehindBytes", "0"}, {"dispatchMaxBuffer", "0"}, {"remainTransientStoreBufferNumbs", "2147483647"},
    {"remainHowManyDataToCommit", "0 B"}, {"startAcceptSendRequestTimeStamp", "0"}};

// RocketMQ's words for the steps of service::StoreTimeFigures.
constexpr const char* kAppendSteps[] = {"[<=0ms]",     "[0~10ms]", "[10~50ms]", "[50~100ms]", "[100~200ms]", "[200~500ms]", "[500ms~1s]",
                                        "[1~2s]",      "[2~3s]",   "[3~4s]",    "[4~5s]",     "[5~10s]",     "[10s~]"};
static_assert(std::size(kAppendSteps) == std::tuple_size_v<decltype(service::StoreTimeFigures::appends)>);

std::string stepsText(const decltype(service::StoreTimeFigures::appends)& counts) {
    std::string text;
    for (std::size_t i = 0; i < counts.size(); ++i) text += kAppendSteps[i] + (":" + std::to_string(counts[i])) + " ";
    return text;
}

bool isSend(std::int32_t code) noexcept {
    return code == static_cast<std::int32_t>(RequestCode::SendMessage) || code == static_cast<std::int32_t>(RequestCode::SendMessageV2) ||
           code == static_cast<std::int32_t>(RequestCode::SendBatchMessage);
}

/// The least bound in ms that this share of the sends were answered within, as RocketMQ writes it; beyond the last bound, that bound.
std::string sendQuantile(const std::vector<service::RequestStats>& requests, double share) {
    using service::TimeHistogram;
    std::array<std::uint64_t, TimeHistogram::kBoundsUs.size() + 1> counts{};
    std::uint64_t all = 0;
    for (const auto& request : requests) {
        if (!isSend(request.code)) continue;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            counts[i] += request.latency.counts[i];
            all += request.latency.counts[i];
        }
    }
    std::int64_t bound = 0;
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < counts.size() && static_cast<double>(below) < static_cast<double>(all) * share; ++i) {
        below += counts[i];
        bound = TimeHistogram::kBoundsUs[std::min(i, TimeHistogram::kBoundsUs.size() - 1)];
    }
    char text[48];
    std::snprintf(text, sizeof text, "%.2f", static_cast<double>(bound) / 1000.0);
    return text;
}

/// Keys that nobody changes from afar, also those that no table of keys shows: of plugins and services, and what the operator listed.
bool isBlackListed(std::string_view key, const std::vector<plugin::ConfigEntry>& known) {
    static constexpr std::string_view kNames[] = {"brokerConfigPath", "configBlackList", "rocketmqHome"};
    static constexpr std::string_view kBeginnings[] = {"plugin.", "service.", "executor."};
    if (std::ranges::find(kNames, key) != std::end(kNames)) return true;
    if (std::ranges::any_of(kBeginnings, [key](std::string_view beginning) { return key.starts_with(beginning); })) return true;
    const auto list = std::ranges::find(known, "configBlackList", &plugin::ConfigEntry::key);
    return list != known.end() && (";" + list->value + ";").find(";" + std::string(key) + ";") != std::string::npos;
}

Response blackListed() { return refusal(ResponseCode::NoPermission, "Can not update config in black list."); }

}  // namespace

Response BrokerAdmin::answer(const plugin::Request& request) {
    switch (static_cast<RequestCode>(request.command().code)) {
        case RequestCode::UpdateBrokerConfig: return updateConfig(request);
        case RequestCode::GetBrokerConfig: return config();
        default: return runtimeInfo();
    }
}

Response BrokerAdmin::updateConfig(const plugin::Request& request) {
    const auto table = protocol::parseConfigText(request.body());
    if (!table) return refusal(ResponseCode::SystemError, table.error().message());
    const auto known = context_.runtimeConfig().snapshot("broker");
    std::vector<plugin::ConfigEntry> changes;
    for (const auto& [key, value] : *table) {
        if (isBlackListed(key, known)) return blackListed();
        if (std::ranges::find(known, key, &plugin::ConfigEntry::key) != known.end()) {
            changes.push_back({key, value, false, false});
        } else {
            // RocketMQ passes over keys it does not know, and scripts send such to all brokers of a cluster.
            context_.log().warn("an administrator's change of an unknown key is passed over",
                                {{"key", key}, {"peer", request.peer().remote().toString()}});
        }
    }
    if (changes.empty()) return Response(ResponseCode::Success);
    const auto before = context_.runtimeConfig().changeCount();
    const Status applied = context_.runtimeConfig().apply("broker", changes);
    if (applied.code() == StatusCode::Denied) return blackListed();
    // An error may be that of a change in force that could not be kept.
    if (services_.registration && (applied || context_.runtimeConfig().changeCount() != before)) services_.registration->registerSoon();
    if (!applied) return refusal(ResponseCode::SystemError, applied.message());
    return Response(ResponseCode::Success);
}

Response BrokerAdmin::config() const {
    protocol::ConfigTable table;
    for (const auto& entry : context_.runtimeConfig().snapshot("broker")) table[entry.key] = entry.value;
    const std::string version = protocol::DataVersion{context_.runtimeConfig().changeCount(), 0,
                                                      context_.identity().startedWallMs}.toJson();
    Response response = withBody(protocol::configText(table));
    protocol::GetBrokerConfigResponse{version}.write(response.fields());
    return response;
}

void BrokerAdmin::addObserved(std::map<std::string, std::string, std::less<>>& table) const {
    if (!services_.observation) return;
    const auto requests = services_.observation->requests();
    table["putLatency99"] = sendQuantile(requests, 0.99);
    table["putLatency999"] = sendQuantile(requests, 0.999);
    // Sends run where they arrive; what waits is what the store has not ended.
    std::uint64_t sends = 0;
    for (const auto& request : requests) sends += isSend(request.code) && request.calls > request.answered ? request.calls - request.answered : 0;
    table["sendThreadPoolQueueSize"] = std::to_string(sends);
    for (const auto& executor : services_.observation->executors()) {
        for (const std::string_view pool : {"pullThreadPoolQueue", "litePullThreadPoolQueue", "queryThreadPoolQueue"}) {
            // RocketMQ has another pool for lite pulls.
            const std::string_view mine = pool == "queryThreadPoolQueue" ? "query" : "pull";
            if (executor.name != mine) continue;
            table[std::string(pool) + "Size"] = std::to_string(executor.queued);
            table[std::string(pool) + "Capacity"] = std::to_string(executor.queueCapacity);
            table[std::string(pool) + "HeadWaitTimeMills"] = std::to_string(executor.headWaitMs);
        }
        // Ends of transactions whose half message has to be read from the disk; the others run where they arrive.
        if (executor.name != "transaction") continue;
        table["EndTransactionQueueSize"] = std::to_string(executor.queued);
        table["EndTransactionThreadPoolQueueCapacity"] = std::to_string(executor.queueCapacity);
    }
}

void BrokerAdmin::addStoreTimes(std::map<std::string, std::string, std::less<>>& table, const service::StoreStats& store) const {
    table["putMessageFailedTimes"] = std::to_string(store.messagesRefused);
    table["sendThreadPoolQueueHeadWaitTimeMills"] = std::to_string(store.oldestAppendMs);
    if (!store.times) return;
    table["putMessageEntireTimeMax"] = std::to_string(store.times->appendMaxMs);
    table["putMessageDistributeTime"] = stepsText(stats_.appendsOfMinute(*store.times));
    table["getMessageEntireTimeMax"] = std::to_string(store.times->readMaxMs);
}

void BrokerAdmin::addDelays(std::map<std::string, std::string, std::less<>>& table) const {
    if (!services_.delays) return;
    for (const auto& level : services_.delays->progress()) {
        const std::int64_t end = services_.store->range(level.queue.topic, level.queue.queueId).max;
        if (end == 0 && level.delivered == 0) continue;
        table["scheduleMessageOffset_" + std::to_string(level.level)] = std::to_string(level.delivered) + "," + std::to_string(end);
    }
}

void BrokerAdmin::addTimers(std::map<std::string, std::string, std::less<>>& table, const RuntimeStats::Rates& rates) const {
    const service::TimerFigures figures = services_.timers ? services_.timers->figures() : service::TimerFigures{};
    const auto rate = [](double perSecond) {
        char text[48];
        std::snprintf(text, sizeof text, "%.1f", perSecond);
        return std::string(text);
    };
    table["timerReadBehind"] = std::to_string(figures.behindMs / 1000);
    table["timerOffsetBehind"] = std::to_string(figures.unread);
    table["timerCongestNum"] = std::to_string(figures.waiting);
    table["timerEnqueueTps"] = rate(rates.timersTaken);
    table["timerDequeueTps"] = rate(rates.timersDelivered);
}

void BrokerAdmin::addDisk(std::map<std::string, std::string, std::less<>>& table) const {
    const auto space = context_.files().space(context_.identity().storeRoot);
    if (!space) return;
    table["commitLogDirCapacity"] = "Total : " + protocol::byteCountText(static_cast<std::int64_t>(space->totalBytes)) + ", Free : " +
                                    protocol::byteCountText(static_cast<std::int64_t>(space->freeBytes)) + ".";
}

Response BrokerAdmin::runtimeInfo() const {
    const auto store = services_.store->stats();
    const auto rates = stats_.rates();
    const auto days = stats_.days();
    const auto& identity = context_.identity();
    protocol::KvTable info;
    auto& table = info.table;
    for (const auto& [name, value] : kWithout) table[name] = value;
    addTimers(table, rates);
    addStoreTimes(table, store);
    addDelays(table);
    table["brokerActive"] = identity.brokerId == 0 ? "true" : "false";   // serves what only a master does
    table["brokerVersionDesc"] = kVersionName;
    table["brokerVersion"] = std::to_string(protocol::kVersion);
    table["bootTimestamp"] = std::to_string(identity.startedWallMs);
    table["runtime"] = uptime(context_.clock().wallMs() - identity.startedWallMs);
    table["putTps"] = rates.put;
    table["getTransferredTps"] = rates.got;
    table["getFoundTps"] = rates.found;
    table["getMissTps"] = rates.missed;
    table["getTotalTps"] = rates.reads;
    table["putMessageTimesTotal"] = std::to_string(store.messagesAppended);
    table["putMessageSizeTotal"] = std::to_string(store.bytesAppended);
    table["putMessageAverageSize"] = std::to_string(store.messagesAppended > 0 ? static_cast<double>(store.bytesAppended) /
                                                    static_cast<double>(store.messagesAppended) : 0.0);
    table["msgPutTotalYesterdayMorning"] = std::to_string(days.putYesterday);
    table["msgPutTotalTodayMorning"] = std::to_string(days.putToday);
    table["msgPutTotalTodayNow"] = std::to_string(store.messagesAppended);
    table["msgGetTotalYesterdayMorning"] = std::to_string(days.gotYesterday);
    table["msgGetTotalTodayMorning"] = std::to_string(days.gotToday);
    table["msgGetTotalTodayNow"] = std::to_string(store.messagesRead);
    table["commitLogDiskRatio"] = table["consumeQueueDiskRatio"] = std::to_string(store.diskRatio);
    table["commitLogMinOffset"] = std::to_string(store.minPhysicalOffset);
    table["commitLogMaxOffset"] = std::to_string(store.maxPhysicalOffset);
    table["earliestMessageTimeStamp"] = std::to_string(store.earliestMessageMs);
    table["remainHowManyDataToFlush"] = protocol::byteCountText(store.behindFlushBytes);
    for (const auto& entry : context_.runtimeConfig().snapshot("broker")) {
        if (entry.key == "startAcceptSendRequestTimeStamp" || entry.key == "sendThreadPoolQueueCapacity") table[entry.key] = entry.value;
    }
    addObserved(table);
    addDisk(table);
    for (const auto& [key, value] : store.runtimeInfo) table[key] = value;
    return withBody(info.toJson());
}

}  // namespace patchbay::plugins::admin

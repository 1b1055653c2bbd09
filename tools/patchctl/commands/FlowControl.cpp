#include "commands/FlowControl.h"

#include <string_view>

namespace patchbay::patchctl {

namespace {

struct Limit {
    std::string_view property;
    std::int64_t byDefault;
};

constexpr Limit kMessages{"pullThresholdForQueue", 1000};
constexpr Limit kMebibytes{"pullThresholdSizeForQueue", 100};
constexpr Limit kSpan{"consumeConcurrentlyMaxSpan", 2000};

/// As clients do before each pull, in their order.
std::string exceeded(const CachedQueue& queue, std::int64_t span, const json::Value& properties) {
    const auto beyond = [&properties](std::int64_t value, const Limit& limit, std::string_view what) {
        const std::int64_t most = properties[limit.property].integer().value_or(limit.byDefault);
        if (value <= most) return std::string();
        return std::to_string(value) + std::string(what) + ", " + std::string(limit.property) + " is " + std::to_string(most);
    };
    std::string text = beyond(queue.messages, kMessages, " messages are in its cache");
    if (text.empty()) text = beyond(queue.mebibytes, kMebibytes, " MiB are in its cache");
    const bool orderly = properties["PROP_CONSUMEORDERLY"].boolean().value_or(false);
    if (text.empty() && !orderly) text = beyond(span, kSpan, " offsets lie between the oldest and the newest in its cache");
    return text;
}

}  // namespace

std::vector<CachedQueue> cachedQueues(const json::Value& runningInfo) {
    std::vector<CachedQueue> found;
    const json::Value properties = runningInfo["properties"];
    for (const auto item : runningInfo["mqTable"]) {
        const auto name = json::Document::parse(item.key);  // the queue, as an object
        const json::Value state = item.value;
        if (!name || state["droped"].boolean().value_or(false)) continue;
        CachedQueue queue;
        queue.broker = name->root()["brokerName"].text().value_or("");
        queue.topic = name->root()["topic"].text().value_or("");
        queue.queueId = name->root()["queueId"].integer().value_or(0);
        queue.messages = state["cachedMsgCount"].integer().value_or(0);
        queue.mebibytes = state["cachedMsgSizeInMiB"].integer().value_or(0);
        queue.lastConsumeMs = state["lastConsumeTimestamp"].integer().value_or(0);
        if (queue.messages == 0) continue;
        const std::int64_t span = state["cachedMsgMaxOffset"].integer().value_or(0) - state["cachedMsgMinOffset"].integer().value_or(0);
        queue.limit = exceeded(queue, span, properties);
        found.push_back(std::move(queue));
    }
    return found;
}

}  // namespace patchbay::patchctl

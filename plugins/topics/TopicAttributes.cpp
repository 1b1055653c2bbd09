#include "TopicAttributes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string>
#include <string_view>

namespace patchbay::plugins::topics {

namespace {

struct Rule {
    std::string_view name;
    bool changeable;
    std::span<const std::string_view> values;  ///< empty: a number from -1 on
};

// In the order in which RocketMQ's refusals list them.
constexpr std::array<std::string_view, 2> kQueueTypes{"SimpleCQ", "BatchCQ"};
constexpr std::array<std::string_view, 2> kCleanupPolicies{"DELETE", "COMPACTION"};
constexpr std::array<std::string_view, 6> kMessageTypes{"UNSPECIFIED", "MIXED", "TRANSACTION", "FIFO", "DELAY", "NORMAL"};
constexpr std::array<Rule, 4> kRules{{
    {"queue.type", false, kQueueTypes},
    {"cleanup.policy", false, kCleanupPolicies},
    {"message.type", true, kMessageTypes},
    {"reserve.time", true, {}},
}};

/// Tools show these texts, so they are RocketMQ's.
Status invalid(std::string_view why, std::string_view name) {
    return {StatusCode::InvalidArgument, std::string(why) + std::string(name)};
}

Status checkValue(const Rule& rule, std::string_view value) {
    if (!rule.values.empty()) {
        if (std::find(rule.values.begin(), rule.values.end(), value) != rule.values.end()) return Status::ok();
        std::string allowed;
        for (const auto& one : rule.values) allowed += (allowed.empty() ? "" : ", ") + std::string(one);
        return invalid("value is not in set: [", allowed + "]");
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc{} && end == value.data() + value.size() && number >= -1) return Status::ok();
    return {StatusCode::InvalidArgument, "value is not in range(-1, 9223372036854775807)"};
}

Status applyOne(protocol::Attributes& result, char sign, std::string_view name, std::string_view value, bool creating) {
    const auto stored = result.find(name);
    if (sign == '-' && creating) return invalid("only add attribute is supported while creating topic. key: ", name);
    if (sign == '-' && stored == result.end()) return invalid("attempt to delete a nonexistent key: ", name);
    const auto rule = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& r) { return r.name == name; });
    if (rule == kRules.end()) return invalid("unsupported key: ", name);
    if (!creating && !rule->changeable) return invalid("attempt to update an unchangeable attribute. key: ", name);
    if (sign == '-') {
        result.erase(stored);
        return Status::ok();
    }
    if (Status good = checkValue(*rule, value); !good) return good;
    result.insert_or_assign(std::string(name), std::string(value));
    return Status::ok();
}

}  // namespace

Result<protocol::Attributes> changeAttributes(const protocol::Attributes& stored, const protocol::Attributes& changes, bool creating) {
    protocol::Attributes result = stored;
    for (const auto& [signedName, value] : changes) {
        const char sign = signedName.empty() ? '\0' : signedName.front();
        if (sign != '+' && sign != '-') {
            const auto at = stored.find(signedName);
            if (at != stored.end() && at->second == value) continue;
            return invalid("wrong format key: ", signedName);
        }
        const std::string_view name = std::string_view(signedName).substr(1);
        if (changes.contains((sign == '+' ? '-' : '+') + std::string(name))) return invalid("alter duplication key. key: ", name);
        if (Status done = applyOne(result, sign, name, value, creating); !done) return done;
    }
    return result;
}

}  // namespace patchbay::plugins::topics

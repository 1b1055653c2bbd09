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

constexpr std::array<std::string_view, 2> kQueueTypes{"BatchCQ", "SimpleCQ"};
constexpr std::array<std::string_view, 2> kCleanupPolicies{"DELETE", "COMPACTION"};
constexpr std::array<std::string_view, 6> kMessageTypes{"UNSPECIFIED", "NORMAL", "FIFO", "DELAY", "TRANSACTION", "MIXED"};
constexpr std::array<Rule, 4> kRules{{
    {"queue.type", false, kQueueTypes},
    {"cleanup.policy", false, kCleanupPolicies},
    {"message.type", true, kMessageTypes},
    {"reserve.time", true, {}},
}};

Status invalid(std::string_view name, std::string_view why) {
    return {StatusCode::InvalidArgument, "topic attribute " + std::string(name) + " " + std::string(why)};
}

Status checkValue(const Rule& rule, std::string_view value) {
    if (!rule.values.empty()) {
        if (std::find(rule.values.begin(), rule.values.end(), value) != rule.values.end()) return Status::ok();
        std::string allowed;
        for (const auto& one : rule.values) allowed += (allowed.empty() ? "" : ", ") + std::string(one);
        return invalid(rule.name, "cannot be '" + std::string(value) + "'; it is one of " + allowed);
    }
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc{} && end == value.data() + value.size() && number >= -1) return Status::ok();
    return invalid(rule.name, "cannot be '" + std::string(value) + "'; it is a number from -1 on");
}

Status applyOne(protocol::Attributes& result, char sign, std::string_view name, std::string_view value, bool creating) {
    const auto rule = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& r) { return r.name == name; });
    if (rule == kRules.end()) return invalid(name, "is not known");
    if (!creating && !rule->changeable) return invalid(name, "can only be set when the topic is created");
    if (sign == '-') {
        if (creating) return invalid(name, "cannot be removed from a topic that is being created");
        const auto at = result.find(name);
        if (at == result.end()) return invalid(name, "is not set and cannot be removed");
        result.erase(at);
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
            return invalid(signedName, "needs a sign: +name=value or -name");
        }
        const std::string_view name = std::string_view(signedName).substr(1);
        if (changes.contains((sign == '+' ? '-' : '+') + std::string(name))) return invalid(name, "is set and removed at once");
        if (Status done = applyOne(result, sign, name, value, creating); !done) return done;
    }
    return result;
}

}  // namespace patchbay::plugins::topics

#include "AuditLog.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace audit_log {

using namespace patchbay;

namespace {

constexpr plugin::ConfigKey kKeys[] = {
    {"auditCodes", plugin::ConfigType::Text, "17 18 25 100 102 200 205 207 215 216 222 225 318 327 29002 29003 29004 29005",
     "Request codes that are logged, separated by blanks; by default those that change something."},
};

// What such requests say of their object, in the order in which it is logged.
constexpr std::string_view kObjects[] = {"topic", "group", "groupName", "consumerGroup", "brokerName", "name", "key"};

}  // namespace

std::span<const plugin::ConfigKey> AuditLog::configKeys() const noexcept {
    return kKeys;
}

Status AuditLog::configure(const plugin::ConfigView& config) {
    auto rest = config.text("auditCodes");
    while (!rest.empty()) {
        const auto end = std::min(rest.find(' '), rest.size());
        const auto word = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (word.empty()) continue;
        std::int32_t code = 0;
        const auto read = std::from_chars(word.data(), word.data() + word.size(), code);
        if (read.ec != std::errc() || read.ptr != word.data() + word.size()) {
            return {StatusCode::InvalidArgument, "auditCodes: '" + std::string(word) + "' is not a number"};
        }
        codes_.insert(code);
    }
    return Status::ok();
}

Status AuditLog::init(plugin::PluginContext& context) {
    log_ = &context.log();
    bool added = false;
    Status last;
    for (const std::string_view listener : {"broker", "namesrv"}) {
        last = context.interceptors().add(listener, plugin::Phase::Responding, 0, *this);
        if (!last && last.code() != StatusCode::NotFound) return last;   // this process has not every listener
        added = added || last;
    }
    return added ? Status::ok() : last;
}

plugin::Verdict AuditLog::intercept(const plugin::Interception& at) {
    const auto& command = *at.core.command;
    if (!codes_.contains(command.code)) return {};
    std::string object;
    for (const auto name : kObjects) {
        if (const auto value = command.find(name)) object += (object.empty() ? "" : ",") + std::string(name) + ":" + std::string(*value);
    }
    log_->info("audit", {{"from", at.core.peer->remote().toString()}, {"listener", at.core.peer->listener()}, {"code", command.code}, {"object", object},
                         {"answer", static_cast<std::int32_t>(at.response->code)}, {"remark", at.response->remark}});
    return {};
}

}  // namespace audit_log

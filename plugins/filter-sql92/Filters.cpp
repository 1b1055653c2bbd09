#include "Filters.h"

#include "Compiler.h"

#include <algorithm>
#include <vector>

namespace patchbay::plugins::filter {

using protocol::ResponseCode;

namespace {

// Clients show it as it is; the beginning is RocketMQ's.
std::string invalid(std::string_view problem) { return "Invalid MessageSelector. " + std::string(problem); }

}  // namespace

service::FilterVerdict Filters::compile(std::string_view type, std::string_view expression) {
    if (type != protocol::kExpressionTypeSql92 || !enabled_.load(std::memory_order_relaxed)) {
        return {ResponseCode::SystemError, "The broker does not support consumer to filter message by " + std::string(type), {}};
    }
    if (auto program = cached(expression)) return {ResponseCode::Success, {}, std::move(program)};
    if (expression.size() > config_.expressionBytesMax) {
        refused_.add();
        return {ResponseCode::SubscriptionParseFailed,
                invalid("it has " + std::to_string(expression.size()) + " bytes, allowed are " +
                        std::to_string(config_.expressionBytesMax) + " (filterExpressionBytesMax)"), {}};
    }
    auto compiled = Compiler::compile(expression);
    if (!compiled) {
        refused_.add();
        return {ResponseCode::SubscriptionParseFailed, invalid(compiled.error().message()), {}};
    }
    if (!compiled->ignored.empty()) {
        log_.limited(plugin::LogLevel::Warn, "the end of a filter expression is ignored, as by RocketMQ",
                     {{"expression", expression}, {"ignored", compiled->ignored}});
    }
    keep(expression, compiled->program);
    return {ResponseCode::Success, {}, std::move(compiled->program)};
}

Ref<service::PropertyFilter> Filters::cached(std::string_view expression) const {
    const std::shared_lock lock(mutex_);
    const auto found = programs_.find(expression);
    return found == programs_.end() ? Ref<Program>() : found->second;
}

void Filters::keep(std::string_view expression, const Ref<Program>& program) {
    const std::unique_lock lock(mutex_);
    if (programs_.size() >= config_.cachedMax) {
        std::erase_if(programs_, [](const auto& entry) { return entry.second->unique(); });
        // All are in use: this one is compiled again for each request.
        if (programs_.size() >= config_.cachedMax) return;
    }
    programs_.try_emplace(std::string(expression), program);
}

void Filters::subscribed(std::string_view group, std::span<const protocol::SubscriptionData> subscriptions) {
    const auto isTag = [](const auto& data) { return protocol::isTagExpression(data.expressionType); };
    if (std::ranges::all_of(subscriptions, isTag) && !table_.knows(group)) return;
    std::vector<const protocol::SubscriptionData*> expressions;
    for (const auto& data : subscriptions) {
        if (isTag(data)) continue;
        const auto verdict = compile(data.expressionType, data.subString);
        if (verdict.filter) {
            expressions.push_back(&data);
            continue;
        }
        log_.limited(plugin::LogLevel::Warn, "a group subscribes by an expression that is not served; its pulls are refused",
                     {{"group", group}, {"topic", data.topic}, {"expression", data.subString}, {"problem", verdict.remark}});
    }
    table_.subscribed(group, expressions);
}

}  // namespace patchbay::plugins::filter

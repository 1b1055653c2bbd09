#include "RateLimiter.h"

#include <algorithm>
#include <functional>

namespace rate_limit {

using namespace patchbay;
using protocol::RequestCode;

namespace {

constexpr plugin::ConfigKey kKeys[] = {
    {"rateLimitPerSecond", plugin::ConfigType::Int, "1000", "Sends a second that a client may direct to a topic; 0 is no limit.", plugin::kReloadable, 0, 1'000'000'000},
    {"rateLimitBurst", plugin::ConfigType::Int, "2000", "Sends that may come at once after a pause.", plugin::kReloadable, 1, 1'000'000'000},
    {"rateLimitPairsMax", plugin::ConfigType::Int, "100000", "Pairs of client and topic that are remembered.", 0, 1, 10'000'000},
};

constexpr std::chrono::seconds kForgetInterval{10};

/// The topic of a send, whose short form has letters for names; empty for other codes.
std::string_view topicOf(const protocol::CommandView& command) {
    switch (static_cast<RequestCode>(command.code)) {
        case RequestCode::SendMessage: return command.find("topic").value_or(std::string_view());
        case RequestCode::SendMessageV2:
        case RequestCode::SendBatchMessage: return command.find("b").value_or(std::string_view());
        default: return {};
    }
}

}  // namespace

std::span<const plugin::ConfigKey> RateLimiter::configKeys() const noexcept {
    return kKeys;
}

Status RateLimiter::configure(const plugin::ConfigView& config) {
    pairsMax_ = static_cast<std::size_t>(config.integer("rateLimitPairsMax"));
    return reconfigure(config, {});
}

Status RateLimiter::reconfigure(const plugin::ConfigView& config, std::span<const std::string_view>) {
    perSecond_.store(config.integer("rateLimitPerSecond"), std::memory_order_relaxed);
    burst_.store(config.integer("rateLimitBurst"), std::memory_order_relaxed);
    return Status::ok();
}

Status RateLimiter::init(plugin::PluginContext& context) {
    context_ = &context;
    refused_ = &context.metrics().counter("rate_limit_refused_total", "Sends that were refused.");
    unknown_ = &context.metrics().counter("rate_limit_unknown_total", "Sends that passed because too many pairs are remembered already.");
    return context.interceptors().add("broker", plugin::Phase::Limit, 0, *this);
}

Status RateLimiter::start() {
    context_->timers().every(kForgetInterval, kForgetInterval, [this] { forgetFullOnes(); });
    return Status::ok();
}

plugin::Verdict RateLimiter::intercept(const plugin::Interception& at) {
    const auto topic = topicOf(*at.core.command);
    if (topic.empty() || perSecond_.load(std::memory_order_relaxed) == 0) return {};
    std::string pair(at.core.peer->remote().ipBytes());
    pair += topic;
    if (takes(pair)) return {};
    refused_->add();
    return {plugin::Verdict::Kind::Answer,
            plugin::Response(protocol::ResponseCode::SystemBusy, "[FLOW]more than " + std::to_string(perSecond_.load(std::memory_order_relaxed)) +
                                                                     " sends a second to topic " + std::string(topic) + ", limit rateLimitPerSecond")};
}

bool RateLimiter::takes(const std::string& pair) {
    const auto now = context_->clock().now();
    const auto rate = static_cast<double>(perSecond_.load(std::memory_order_relaxed));
    const auto full = static_cast<double>(burst_.load(std::memory_order_relaxed));
    auto& shard = shards_[std::hash<std::string>()(pair) % kShards];
    const std::lock_guard lock(shard.mutex);
    auto found = shard.buckets.find(pair);
    if (found == shard.buckets.end()) {
        if (shard.buckets.size() >= std::max<std::size_t>(1, pairsMax_ / kShards)) {
            unknown_->add();
            return true;
        }
        found = shard.buckets.emplace(pair, Bucket{full, now}).first;
    }
    auto& bucket = found->second;
    bucket.tokens = std::min(full, bucket.tokens + rate * std::chrono::duration<double>(now - bucket.filled).count());
    bucket.filled = now;
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
}

void RateLimiter::forgetFullOnes() {
    const auto now = context_->clock().now();
    const auto rate = static_cast<double>(perSecond_.load(std::memory_order_relaxed));
    const auto full = static_cast<double>(burst_.load(std::memory_order_relaxed));
    for (auto& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        std::erase_if(shard.buckets, [&](const auto& entry) {
            return entry.second.tokens + rate * std::chrono::duration<double>(now - entry.second.filled).count() >= full;
        });
    }
}

}  // namespace rate_limit

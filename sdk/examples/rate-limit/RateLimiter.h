// RateLimiter: so many requests a second for each pair of client address and topic.
#pragma once

#include "patchbay/plugin/Plugin.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

namespace rate_limit {

/// A bucket fills with `rateLimitPerSecond` and holds `rateLimitBurst`; a send takes one out of the bucket of its client's IP address and
/// topic, and is answered SYSTEM_BUSY, which producers retry elsewhere, when that is empty. Buckets are kept in 16 shards with a lock each
/// and are bounded: beyond `rateLimitPairsMax` unknown pairs are let pass, and counted. Owned by the kernel.
class RateLimiter final : public patchbay::plugin::Plugin, private patchbay::plugin::Interceptor {
public:
    std::span<const patchbay::plugin::ConfigKey> configKeys() const noexcept override;
    patchbay::Status configure(const patchbay::plugin::ConfigView& config) override;
    patchbay::Status reconfigure(const patchbay::plugin::ConfigView& config, std::span<const std::string_view> changed) override;
    patchbay::Status init(patchbay::plugin::PluginContext& context) override;
    patchbay::Status start() override;

private:
    struct Bucket {
        double tokens;
        patchbay::MonotonicTime filled;
    };
    struct Shard {
        std::mutex mutex;
        std::unordered_map<std::string, Bucket> buckets;   // guarded by mutex
    };
    static constexpr std::size_t kShards = 16;

    patchbay::plugin::Verdict intercept(const patchbay::plugin::Interception& at) override;
    [[nodiscard]] bool takes(const std::string& pair);
    /// Full buckets are as good as none.
    void forgetFullOnes();

    std::atomic<std::int64_t> perSecond_{0};
    std::atomic<std::int64_t> burst_{1};
    std::size_t pairsMax_ = 0;
    patchbay::plugin::PluginContext* context_ = nullptr;
    patchbay::plugin::Counter* refused_ = nullptr;
    patchbay::plugin::Counter* unknown_ = nullptr;
    std::array<Shard, kShards> shards_;
};

}  // namespace rate_limit

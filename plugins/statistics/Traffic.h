// Traffic: counts of what is stored and read, by topic and by group.
#pragma once

#include "Windows.h"

#include "patchbay/base/Clock.h"
#include "patchbay/base/NameMap.h"
#include "patchbay/plugin/Interceptor.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/SubscriptionGroups.h"
#include "patchbay/service/TopicConfigs.h"
#include "patchbay/service/TrafficStats.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::plugins::statistics {

/// One count: relaxed numbers that the hot path adds to, and their windows.
struct Count {
    std::atomic<std::int64_t> calls{0};
    std::atomic<std::int64_t> messages{0};
    std::atomic<std::int64_t> bytes{0};
    Windows messageWindows;   // guarded by Traffic::windows_
    Windows byteWindows;      // guarded by Traffic::windows_

    void add(std::int64_t n, std::int64_t size) noexcept {
        calls.fetch_add(1, std::memory_order_relaxed);
        messages.fetch_add(n, std::memory_order_relaxed);
        bytes.fetch_add(size, std::memory_order_relaxed);
    }
};

/// The TrafficStats service. Owned by the plugin, from init() to its destruction. Stores are listened to for what is written, answers
/// of pulls and send-backs are looked at on their way out: one look-up of a name for each run of messages of one topic, then relaxed
/// additions. sample() runs on the control executor. Memory only; what cannot be allocated is not counted.
class Traffic final : public service::TrafficStats, public service::AppendListener, public plugin::Interceptor {
public:
    Traffic(const Clock& clock, std::string clusterName) : clock_(clock), cluster_(std::move(clusterName)) {}

    void appended(std::span<const service::AppendedRecord> records) noexcept override;
    plugin::Verdict intercept(const plugin::Interception& at) override;
    [[nodiscard]] std::optional<Figures> find(std::string_view name, std::string_view key) const override;

    /// Every 10 s: a sample of every count; counts of topics and groups that are gone are forgotten.
    void sample(const service::TopicConfigs& topics, const service::SubscriptionGroups& groups);

private:
    using Counts = NameMap<std::unique_ptr<Count>>;
    /// What a name of RocketMQ's means here.
    struct Meaning {
        const Count* count = nullptr;
        bool bytes = false;
    };

    void add(Counts& counts, std::string_view key, std::int64_t messages, std::int64_t bytes) noexcept;
    void addPair(Counts& counts, std::string_view topic, std::string_view group, std::int64_t messages, std::int64_t bytes) noexcept;
    [[nodiscard]] Meaning meaning(std::string_view name, std::string_view key) const;
    void take(Count& count, std::int64_t wallMs) const;
    void forget(Counts& counts, const service::TopicConfigs& topics, const service::SubscriptionGroups& groups);

    const Clock& clock_;
    const std::string cluster_;

    mutable std::shared_mutex mutex_;  // guards the maps, not the counts in them
    Counts puts_;       // by topic
    Counts gets_;       // by topic@group
    Counts sendBacks_;  // by topic@group
    std::atomic<std::int64_t> brokerPut_{0};
    std::atomic<std::int64_t> brokerGot_{0};

    mutable std::mutex windows_;       // taken inside mutex_; guards what follows and all windows
    Windows brokerPutWindows_;
    Windows brokerGotWindows_;
    std::uint64_t tick_ = 0;
};

}  // namespace patchbay::plugins::statistics

// Traffic: counts of what is stored and read, by topic and by group.
#pragma once

#include "Windows.h"

#include "patchbay/base/Clock.h"
#include "patchbay/base/NameMap.h"
#include "patchbay/service/ClientRegistry.h"
#include "patchbay/service/ConsumerOffsets.h"
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
#include <vector>

namespace patchbay::plugins::statistics {

/// Where figures come from that others count anyway. Valid as long as the traffic is sampled.
struct Sources {
    plugin::ServiceRef<service::MessageStore> store;
    plugin::ServiceRef<service::TopicConfigs> topics;
    plugin::ServiceRef<service::SubscriptionGroups> groups;
    plugin::ServiceRef<service::ConsumerOffsets> offsets;
    plugin::ServiceRef<service::ClientRegistry> clients;
};

/// What is stored in one topic: relaxed numbers that the store's thread adds to, and their windows.
struct Stored {
    std::atomic<std::int64_t> messages{0};
    std::atomic<std::int64_t> bytes{0};
    Windows messageWindows;   // guarded by Traffic::windows_
    Windows byteWindows;      // guarded by Traffic::windows_
};

/// A count that somebody else keeps, and that may begin anew when its owner does.
class Followed {
public:
    void take(std::int64_t raw, std::int64_t wallMs, std::uint64_t tick) {
        total_ += raw >= seen_ ? raw - seen_ : raw;
        seen_ = raw;
        tick_ = tick;
        windows_.take({wallMs, 0, total_}, tick);
    }
    [[nodiscard]] service::TrafficStats::Figures figures() const noexcept { return windows_.figures(); }
    [[nodiscard]] std::uint64_t tick() const noexcept { return tick_; }

private:
    std::int64_t seen_ = 0;
    std::int64_t total_ = 0;
    std::uint64_t tick_ = 0;
    Windows windows_;
};

/// The TrafficStats service. Owned by the plugin, from init() to its destruction. The store is listened to for what is written: one
/// look-up of a name for each run of messages of one topic, then relaxed additions. What is read is counted where pulls are noted; it is
/// only asked for. sample() runs on the control executor. Memory only; what cannot be allocated is not counted.
class Traffic final : public service::TrafficStats, public service::AppendListener {
public:
    Traffic(const Clock& clock, std::string clusterName) : clock_(clock), cluster_(std::move(clusterName)) {}

    void appended(std::span<const service::AppendedRecord> records) noexcept override;
    [[nodiscard]] std::optional<Figures> find(std::string_view name, std::string_view key) const override;

    /// Every 10 s: a sample of every count; counts of topics and groups that are gone are forgotten.
    void sample(const Sources& from);

private:
    /// A topic with its counts; both stay as long as sample() does not forget the topic.
    struct Counted {
        const std::string* topic;
        Stored* stored;
    };
    struct Read {
        std::string key;   // topic@group
        std::int64_t delivered;
    };

    void add(std::string_view topic, std::int64_t messages, std::int64_t bytes) noexcept;
    [[nodiscard]] std::vector<Counted> counted() const;
    [[nodiscard]] static std::vector<Read> readsOf(const Sources& from);
    void forgetTopics(const Sources& from, const std::vector<Counted>& counted);

    const Clock& clock_;
    const std::string cluster_;

    mutable std::shared_mutex mutex_;  // guards the map, not the counts in it; appends wait for it
    NameMap<std::shared_ptr<Stored>> puts_;  // nobody but sample() takes something out
    std::atomic<std::int64_t> brokerPut_{0};

    mutable std::mutex windows_;       // guards what follows and all windows
    NameMap<Followed> gets_;           // by topic@group
    Windows brokerPutWindows_;
    Followed brokerGot_;
    std::uint64_t tick_ = 0;
};

}  // namespace patchbay::plugins::statistics

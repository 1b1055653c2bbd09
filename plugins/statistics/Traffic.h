// Traffic: counts of what is stored and read, by topic, queue and group.
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

#include <array>
#include <atomic>
#include <map>
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

/// What is stored in one queue: relaxed numbers that the store's thread adds to, and their windows.
struct StoredInQueue {
    std::atomic<std::int64_t> messages{0};
    std::atomic<std::int64_t> bytes{0};
    std::atomic<std::int64_t> delayMs{0};   ///< from the time of storing until readers see them, all together
    Windows messageWindows;                 // guarded by Traffic::windows_, like those below
    Windows byteWindows;
    Windows delayWindows;
};

/// The same of a topic.
struct Stored {
    std::atomic<std::int64_t> messages{0};
    std::atomic<std::int64_t> bytes{0};
    std::array<std::atomic<std::int64_t>, service::TrafficStats::TopicTotals::kSizeBounds.size() + 1> sizes{};
    std::vector<std::unique_ptr<StoredInQueue>> queues;   ///< by id, null without traffic; guarded by Traffic::mutex_
    std::int64_t sampled = 0;                             ///< messages at the last sample; guarded by Traffic::windows_
    Windows messageWindows;
    Windows byteWindows;
};

/// A count that somebody else keeps, and that may begin anew when its owner does.
class Followed {
public:
    void take(std::int64_t rawCalls, std::int64_t rawSum, std::int64_t wallMs, std::uint64_t tick) {
        calls_ += rawCalls >= seenCalls_ ? rawCalls - seenCalls_ : rawCalls;
        total_ += rawSum >= seen_ ? rawSum - seen_ : rawSum;
        seenCalls_ = rawCalls;
        seen_ = rawSum;
        windows_.take({wallMs, calls_, total_}, tick);
    }
    [[nodiscard]] service::TrafficStats::Figures figures() const noexcept { return windows_.figures(); }
    [[nodiscard]] std::int64_t total() const noexcept { return total_; }

private:
    std::int64_t seenCalls_ = 0;
    std::int64_t seen_ = 0;
    std::int64_t calls_ = 0;
    std::int64_t total_ = 0;
    Windows windows_;
};

/// The TrafficStats service. Owned by the plugin, from init() to its destruction. The store is listened to for what is written: one
/// look-up of a name for each run of messages of one topic, then relaxed additions. What is read is counted where pulls are noted; it is
/// only asked for. sample() runs on the control executor. Memory only; what cannot be allocated is not counted.
class Traffic final : public service::TrafficStats, public service::AppendListener {
public:
    /// `detail`: queues are counted, too.
    Traffic(const Clock& clock, std::string clusterName, bool detail = true)
        : clock_(clock), cluster_(std::move(clusterName)), detail_(detail) {}

    void appended(std::span<const service::AppendedRecord> records) noexcept override;
    [[nodiscard]] std::optional<Figures> find(std::string_view name, std::string_view key) const override;
    [[nodiscard]] std::vector<TopicTotals> topics() const override;
    void count(std::string_view name, std::string_view key, std::int64_t sum) override;
    [[nodiscard]] std::vector<Counted> counted() const override;

    /// Every 10 s: a sample of every count; counts of topics and groups that are gone are forgotten.
    void sample(const Sources& from);

private:
    /// A topic with its counts; both stay as long as sample() does not forget the topic.
    struct Known {
        const std::string* topic = nullptr;
        Stored* stored = nullptr;
        std::vector<StoredInQueue*> queues;
        bool system = false;
    };
    struct Read {
        std::string key;   // topic@group
        bool system = false;
        service::PullNote all;
        std::vector<service::QueueProgress> queues;
    };
    struct ReadQueue {
        Followed messages;
        Followed bytes;
        Followed milliseconds;
    };
    struct Reads : ReadQueue {
        std::map<std::int32_t, ReadQueue> queues;
        std::uint64_t tick = 0;
    };
    struct Told {
        std::int64_t calls = 0;
        std::int64_t sum = 0;
        Windows windows;
    };

    void countRun(std::string_view topic, std::span<const service::AppendedRecord> run, std::int64_t now) noexcept;
    [[nodiscard]] static bool hasQueues(const Stored& stored, std::span<const service::AppendedRecord> run) noexcept;
    static void makeQueues(Stored& stored, std::span<const service::AppendedRecord> run);
    static void add(Stored& stored, std::span<const service::AppendedRecord> run, std::int64_t now, bool detail) noexcept;
    [[nodiscard]] std::optional<Figures> findPut(std::string_view name, std::string_view key) const;
    [[nodiscard]] std::optional<Figures> findGet(std::string_view name, std::string_view key) const;   // with windows_ held
    [[nodiscard]] std::vector<Known> known() const;
    [[nodiscard]] std::vector<Read> readsOf(const Sources& from) const;
    void take(const Read& one, std::int64_t now);   // with windows_ held
    void forgetTopics(const Sources& from, const std::vector<Known>& all);
    void forgetTold(const Sources& from);

    const Clock& clock_;
    const std::string cluster_;
    const bool detail_;

    mutable std::shared_mutex mutex_;  // guards the map and the lists of queues, not the counts in them; appends wait for it
    NameMap<std::shared_ptr<Stored>> puts_;  // nobody but sample() takes something out
    std::atomic<std::int64_t> brokerPut_{0};

    mutable std::mutex windows_;       // guards what follows and all windows
    NameMap<Reads> gets_;              // by topic@group
    std::map<std::pair<std::string, std::string>, Told, std::less<>> told_;   // by name and key
    Windows brokerPutWindows_;
    Windows userPutWindows_;           // without system topics
    Windows userGetWindows_;
    Followed brokerGot_;
    std::int64_t userPut_ = 0;
    std::int64_t userGot_ = 0;
    std::uint64_t tick_ = 0;
};

}  // namespace patchbay::plugins::statistics

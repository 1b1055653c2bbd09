// FilterTable: which expressions groups have registered, with the file that RocketMQ keeps of them.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/FileSystem.h"
#include "patchbay/base/NameMap.h"
#include "patchbay/plugin/Logger.h"
#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/route/SubscriptionData.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace patchbay::plugins::filter {

/// One expression of a group over a topic, as consumerFilter.json has it.
struct RegisteredFilter {
    std::string expression;
    std::string type;
    std::int64_t bornMs = 0;
    std::int64_t deadMs = 0;          ///< since when nobody subscribes it; 0 = somebody does
    std::int64_t clientVersion = 0;
    std::int64_t lastSeenMs = 0;      ///< not in the file
};

/// By RocketMQ's rules: a newer version replaces, the same one revives, an older one changes nothing. A record for RocketMQ and for
/// people: what a pull filters by is what the client registry says. Owned by the plugin. Any thread; only load() and persist() touch
/// the disk.
class FilterTable {
public:
    FilterTable(FileSystem& files, const Clock& clock, plugin::Logger& log, std::string path, std::chrono::milliseconds silence,
                std::chrono::milliseconds keepDead)
        : files_(files), clock_(clock), log_(log), path_(std::move(path)), silence_(silence), keepDead_(keepDead) {}

    /// Takes over the file or its backup. Fails when both are damaged.
    Status load();
    /// A heartbeat with all subscriptions of a group, of which those that do not compile were left out.
    void subscribed(std::string_view group, std::span<const protocol::SubscriptionData* const> expressions);
    /// False for a group of which nothing is known, so that most heartbeats cost no more than this.
    [[nodiscard]] bool knows(std::string_view group) const;
    /// Marks what nobody has subscribed for a while as dead, forgets what is dead for long, and writes the file when something changed.
    Status persist();
    [[nodiscard]] std::string toJson() const;

private:
    using Topics = std::map<std::string, RegisteredFilter, std::less<>>;

    Status accept(std::string_view text);
    Status acceptTopic(std::string_view topic, json::Value groups, NameMap<Topics>& into) const;
    void take(std::string_view group, RegisteredFilter& known, const protocol::SubscriptionData& data, std::int64_t now);
    void age(std::int64_t now);
    [[nodiscard]] std::string encode() const;   // with the lock held

    FileSystem& files_;
    const Clock& clock_;
    plugin::Logger& log_;
    const std::string path_;
    const std::chrono::milliseconds silence_;
    const std::chrono::milliseconds keepDead_;

    mutable std::mutex mutex_;
    // Guarded by mutex_.
    NameMap<Topics> groups_;
    std::uint64_t changes_ = 0;
    std::uint64_t persisted_ = 0;
};

}  // namespace patchbay::plugins::filter

// GroupReport: what is known of a consumer group, and in one sentence what is wrong with it.
#pragma once

#include "Answers.h"

#include "patchbay/base/Clock.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugins::consumer_admin {

/// One queue of a topic that the group consumes. Ages are milliseconds; -1: never, or not since the broker started.
struct QueueReport {
    std::int32_t queueId = 0;
    service::OffsetRange range;
    service::QueueProgress progress;
    std::int64_t lag = 0;            ///< messages behind the committed offset
    std::int64_t inHand = 0;         ///< messages that were pulled and not committed
    std::int64_t pullAgeMs = -1;
    std::int64_t commitAgeMs = -1;
    std::string owner;               ///< client id of the member that pulled last; empty: none that is on line
    std::string ownerAddress;
    std::string lockHolder;          ///< client id; empty: not locked
    std::int64_t lockAgeMs = -1;     ///< since it was refreshed
    std::string problem;             ///< empty: nothing wrong
    bool untold = false;             ///< consumed by broadcasting, and nobody tells how far; `lag` is behind the last pull then
};

struct TopicReport {
    std::string topic;
    std::string expression;          ///< what the group wants of it; empty: it subscribes it no more
    std::string problem;
    std::vector<QueueReport> queues;
};

/// A value; made by a Reporter at one moment.
struct GroupReport {
    std::string group;
    service::GroupFacts facts;
    bool exists = false;
    service::GroupState state;
    std::vector<service::ClientInfo> members;
    std::vector<service::GroupConflict> conflicts;
    std::vector<TopicReport> topics;
    std::int64_t lag = 0;            ///< of all topics that it subscribes
    std::int64_t deadLetters = 0;    ///< that are still stored
    std::string sentence;            ///< the worst of it, for a person
};

/// Collects reports. Owned by WhyStuck; stateless, any thread. Reads from services only, no messages.
class Reporter {
public:
    Reporter(const Services& services, const Clock& clock) : services_(services), clock_(clock) {}
    [[nodiscard]] GroupReport report(std::string_view group) const;

private:
    void addTopics(GroupReport& report) const;
    [[nodiscard]] TopicReport topic(const GroupReport& group, const std::string& name, const std::vector<service::QueueLock>& locks) const;
    void addOwner(const GroupReport& group, QueueReport& queue) const;
    [[nodiscard]] std::string problemOf(const GroupReport& group, const QueueReport& queue) const;
    [[nodiscard]] std::string sentence(const GroupReport& report) const;
    [[nodiscard]] std::int64_t ageMs(MonotonicTime then) const noexcept;

    const Services& services_;
    const Clock& clock_;
};

}  // namespace patchbay::plugins::consumer_admin

#include "GroupReport.h"

#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <set>

namespace patchbay::plugins::consumer_admin {

namespace {

// A member that is well asks again at the latest when its long poll ends, which clients wish for 15 to 20 s.
constexpr std::int64_t kQuietMs = 40'000;

std::string counted(std::int64_t count, std::string_view noun) {
    return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string seconds(std::int64_t ms) { return counted(ms / 1000, "second"); }

std::string names(const service::GroupConflict& conflict) {
    std::string text;
    for (const auto& party : conflict.parties) {
        if (!text.empty()) text += ", ";
        text += party.clientId + " at " + party.address;
        if (conflict.kind != service::GroupConflict::Kind::ClientIds) text += " wants " + (party.says.empty() ? "nothing of it" : party.says);
    }
    return text;
}

std::string told(const service::GroupConflict& conflict) {
    switch (conflict.kind) {
        case service::GroupConflict::Kind::ClientIds:
            return "connections share a client id, so some queues are consumed by nobody or twice: " + names(conflict);
        case service::GroupConflict::Kind::Topics:
            return "its members subscribe different topics and undo each other's subscription of " + conflict.topic + ": " + names(conflict);
        case service::GroupConflict::Kind::Expressions: break;
    }
    return "its members want different messages of " + conflict.topic + ", and the newest wish counts for all: " + names(conflict);
}

}  // namespace

std::int64_t Reporter::ageMs(MonotonicTime then) const noexcept {
    if (then == MonotonicTime{}) return -1;
    return std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - then).count();
}

GroupReport Reporter::report(std::string_view group) const {
    GroupReport report;
    report.group = group;
    report.exists = services_.groups->find(group, report.facts);
    report.state = services_.clients->group(group);
    report.members = services_.clients->consumers(group);
    report.conflicts = services_.clients->conflicts(group);
    // The worst first: without an id of its own no member can be right.
    std::ranges::stable_sort(report.conflicts, {}, [](const auto& conflict) { return conflict.kind != service::GroupConflict::Kind::ClientIds; });
    addTopics(report);
    const auto dead = services_.store->range(protocol::dlqTopic(group), 0);
    report.deadLetters = dead.max - dead.min;
    report.sentence = sentence(report);
    return report;
}

void Reporter::addTopics(GroupReport& report) const {
    std::set<std::string> names;
    for (const auto& subscription : services_.clients->subscriptions(report.group)) names.insert(subscription.topic);
    for (auto& topic : services_.offsets->topicsOf(report.group)) names.insert(std::move(topic));
    const auto locks = services_.locks->held(report.group);
    for (const auto& name : names) {
        auto topic = this->topic(report, name, locks);
        for (const auto& queue : topic.queues) {
            if (!topic.expression.empty() || !report.state.online) report.lag += queue.lag;
        }
        report.topics.push_back(std::move(topic));
    }
}

TopicReport Reporter::topic(const GroupReport& group, const std::string& name, const std::vector<service::QueueLock>& locks) const {
    TopicReport report;
    report.topic = name;
    if (const auto subscription = services_.clients->subscription(group.group, name)) {
        report.expression = subscription->subString.empty() ? std::string(protocol::kSubscribeAll) : subscription->subString;
    }
    service::TopicFacts facts;
    if (!services_.topics->find(name, facts)) {
        report.problem = "the topic does not exist here";
        return report;
    }
    if (!protocol::isReadable(static_cast<std::uint32_t>(facts.perm))) report.problem = "the topic's permission forbids reading";
    if (services_.groups->readForbidden(group.group, name)) report.problem = "the group is forbidden to read the topic";

    const bool broadcasting = group.state.model == service::MessageModel::Broadcasting && group.state.online;
    const auto progress = services_.offsets->progress(group.group, name);
    for (std::int32_t id = 0; id < facts.readQueueNums; ++id) {
        QueueReport& queue = report.queues.emplace_back();
        queue.queueId = id;
        queue.range = services_.store->range(name, id);
        if (const auto known = std::ranges::find(progress, id, &service::QueueProgress::queueId); known != progress.end()) queue.progress = *known;
        if (broadcasting) {
            queue.progress.committed = services_.offsets->query(group.group + "@broadcast", name, id);
            // Members that keep their offsets themselves; what was pulled last is all that is known.
            queue.untold = queue.progress.committed < 0;
        }
        const auto lock = std::ranges::find_if(locks, [&](const auto& held) { return held.queue.queueId == id && held.queue.topic == name; });
        if (lock != locks.end()) {
            queue.lockHolder = lock->clientId;
            queue.lockAgeMs = lock->ageMs;
        }
        // Without a commit the next message is the one that the member pulled first; nobody knows which, so all count.
        const bool pulls = queue.progress.pull.outcome != service::PullOutcome::None;
        const std::int64_t known = !queue.untold ? queue.progress.committed : pulls ? queue.progress.pull.nextOffset : queue.range.max;
        const std::int64_t done = std::clamp(known, queue.range.min, queue.range.max);
        queue.lag = queue.range.max - done;
        if (pulls) {
            queue.inHand = std::clamp<std::int64_t>(queue.progress.pull.nextOffset - done, 0, queue.lag);
        }
        queue.pullAgeMs = ageMs(queue.progress.pulledAt);
        queue.commitAgeMs = ageMs(queue.progress.committedAt);
        addOwner(group, queue);
        if (queue.progress.committed > queue.range.max && queue.progress.reset < 0) {
            queue.problem = "its offset " + std::to_string(queue.progress.committed) + " lies beyond the end, " + std::to_string(queue.range.max);
        } else if (queue.lag > 0 && report.problem.empty()) {
            queue.problem = problemOf(group, queue);
        }
    }
    return report;
}

void Reporter::addOwner(const GroupReport& group, QueueReport& queue) const {
    if (queue.pullAgeMs < 0) return;
    const auto owner = std::ranges::find_if(group.members, [&](const auto& member) { return member.peer->id() == queue.progress.pull.peer; });
    if (owner == group.members.end()) return;
    queue.owner = owner->clientId;
    queue.ownerAddress = owner->peer->remote().toString();
}

std::string Reporter::problemOf(const GroupReport& group, const QueueReport& queue) const {
    using service::PullOutcome;
    if (queue.progress.reset >= 0) return "a reset to " + std::to_string(queue.progress.reset) + " waits for the next pull";
    const bool lockedByOther = !queue.lockHolder.empty() && queue.lockHolder != queue.owner;
    if (queue.owner.empty()) {
        if (lockedByOther) {
            const bool known = std::ranges::find(group.members, queue.lockHolder, &service::ClientInfo::clientId) != group.members.end();
            return "nobody pulls it, while " + queue.lockHolder + (known ? "" : ", who is gone,") + " holds its lock";
        }
        if (queue.pullAgeMs >= 0) return "nobody pulls it, and who did, " + seconds(queue.pullAgeMs) + " ago, is not on line";
        return "nobody pulls it";
    }
    if (queue.pullAgeMs > kQuietMs) {
        if (queue.inHand > 0) {
            return queue.owner + " stopped pulling " + seconds(queue.pullAgeMs) + " ago with " + counted(queue.inHand, "message") +
                   " in hand: its handlers do not finish, or its cache is full";
        }
        return queue.owner + " has not pulled for " + seconds(queue.pullAgeMs);
    }
    if (lockedByOther) return queue.owner + " pulls it, while " + queue.lockHolder + " holds its lock";
    const bool seenNothing = queue.progress.pull.delivered == 0 && queue.progress.pull.filtered > 0;
    if (seenNothing) return "none of the " + counted(queue.progress.pull.filtered, "message") + " looked at is wanted by the group's expression";
    if (queue.inHand > 0 && (queue.commitAgeMs < 0 || queue.commitAgeMs > kQuietMs)) {
        return queue.owner + " has " + counted(queue.inHand, "message") + " in hand and commits nothing";
    }
    return {};
}

namespace {

std::string waits(std::int64_t lag) { return counted(lag, "message") + (lag == 1 ? " waits" : " wait"); }

/// A group that nobody consumes with at present.
std::string offline(const GroupReport& report) {
    if (report.lag > 0) return "no member is on line; " + waits(report.lag);
    // What it would begin with is decided by the first member.
    if (report.topics.empty()) return "no member is on line, and nobody has consumed with this group here: it has no offsets";
    return "no member is on line, and nothing waits";
}

/// What is no fault, but not what one may expect, of a group that gets on.
std::string remarks(const GroupReport& report) {
    std::string text;
    std::size_t most = 0;   // queues of the topic that has most of them
    for (const auto& topic : report.topics) {
        if (protocol::isRetryTopic(topic.topic)) continue;
        if (!topic.expression.empty()) {
            most = std::max(most, topic.queues.size());
            continue;
        }
        std::int64_t lag = 0;
        for (const auto& queue : topic.queues) lag += queue.lag;
        if (lag > 0) text += "; " + topic.topic + " is not subscribed any more, and " + waits(lag) + " there";
    }
    const bool shared = report.state.model != service::MessageModel::Broadcasting;
    if (shared && most > 0 && report.members.size() > most) {
        // Of other brokers' queues this one knows nothing.
        text += "; its " + std::to_string(report.members.size()) + " members are more than the " + counted(static_cast<std::int64_t>(most), "queue") +
                " that a topic has here at most: unless other brokers have more of them, " + std::to_string(report.members.size() - most) +
                " of the members can have none";
    }
    return text;
}

}  // namespace

std::string Reporter::sentence(const GroupReport& report) const {
    const auto close = [&report](std::string text) {
        if (report.deadLetters > 0) text += "; " + counted(report.deadLetters, "dead letter") + (report.deadLetters == 1 ? " lies in " : " lie in ") + protocol::dlqTopic(report.group);
        text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
        return text + ".";
    };
    if (!report.exists && !report.state.online) return "There is no such group on this broker.";
    if (!report.facts.consumeEnable) {
        return close("consumption is switched off for the group (consumeEnable)" + (report.lag > 0 ? "; " + waits(report.lag) : std::string()) +
                     (report.state.online ? "" : "; no member is on line either"));
    }
    if (!report.state.online) return close(offline(report));
    if (!report.facts.consumeBroadcastEnable && report.state.model == service::MessageModel::Broadcasting) {
        return "The group consumes by broadcasting, which is switched off for it (consumeBroadcastEnable).";
    }
    if (!report.conflicts.empty()) return close(told(report.conflicts.front()));
    const QueueReport* worst = nullptr;
    const TopicReport* of = nullptr;
    for (const auto& topic : report.topics) {
        if (!topic.problem.empty() && !topic.expression.empty()) return close(topic.topic + ": " + topic.problem);
        for (const auto& queue : topic.queues) {
            if (topic.expression.empty() || queue.problem.empty() || (worst != nullptr && worst->lag >= queue.lag)) continue;
            worst = &queue;
            of = &topic;
        }
    }
    if (worst != nullptr) {
        if (worst->lag == 0) return close("queue " + std::to_string(worst->queueId) + " of " + of->topic + ": " + worst->problem);
        return close("queue " + std::to_string(worst->queueId) + " of " + of->topic + " is " + counted(worst->lag, "message") + " behind: " +
                     worst->problem);
    }
    const bool untold = std::ranges::any_of(report.topics, [](const TopicReport& topic) {
        return !topic.expression.empty() && std::ranges::any_of(topic.queues, &QueueReport::untold);
    });
    if (untold) {
        return close("nothing is wrong as far as the broker sees: the group consumes by broadcasting, and its " + counted(static_cast<std::int64_t>(report.members.size()), "member") +
                     (report.members.size() == 1 ? " keeps its" : " keep their") + " own offsets" + remarks(report));
    }
    if (report.lag > 0) return close("nothing is wrong: the group is " + counted(report.lag, "message") + " behind and gets on" + remarks(report));
    return close("nothing is wrong: nothing waits" + remarks(report));
}

}  // namespace patchbay::plugins::consumer_admin

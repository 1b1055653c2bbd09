// The commands "group …" and "offset …".
#include "commands/Session.h"

#include "output/Text.h"

#include "patchbay/protocol/RequestCode.h"
#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace patchbay::patchctl {

namespace {

constexpr Argument kGroup[] = {{"GROUP", "name of the consumer group"}};
constexpr Argument kMember[] = {{"GROUP", "name of the consumer group"}, {"CLIENT", "client id, as 'group show' lists it"}};
constexpr Argument kClone[] = {{"FROM", "group whose offsets are taken"}, {"TO", "group that gets them"}};

constexpr Option kSettings[] = {
    {.name = "retry-max", .kind = Kind::Number, .value = "N", .doc = "tries before a message becomes a dead letter; Java clients send a number of their own, 16 by default, which goes before it", .letter = 'r', .min = -1, .max = 100'000},
    {.name = "retry-queues", .kind = Kind::Number, .value = "N", .doc = "queues of the retry topic", .min = 0, .max = 65'536},
    {.name = "consume", .kind = Kind::Choice, .value = "yes|no", .doc = "whether its members get messages at all", .choices = "yes no"},
    {.name = "broadcast", .kind = Kind::Choice, .value = "yes|no", .doc = "whether broadcasting is allowed", .choices = "yes no"},
    {.name = "orderly", .kind = Kind::Choice, .value = "yes|no", .doc = "whether it consumes in order", .choices = "yes no"},
};
constexpr Option kDelete[] = {{.name = "keep-offsets", .doc = "a group of the same name goes on where this one was"}};
constexpr Option kTopicOption[] = {{.name = "topic", .kind = Kind::Text, .value = "TOPIC", .doc = "only this topic", .letter = 't'}};
constexpr Option kReset[] = {
    {.name = "topic", .kind = Kind::Text, .value = "TOPIC", .doc = "topic whose offsets are set", .letter = 't'},
    {.name = "to", .kind = Kind::Text, .value = "WHERE", .doc = "first, last, a local time (\"2026-11-29 17:00\", -10m), or an offset with --queue", .fallback = "last"},
    {.name = "queue", .kind = Kind::Number, .value = "N", .doc = "only this queue of every broker; --to may be an offset then", .letter = 'q', .min = 0, .max = 65'536},
    {.name = "force", .doc = "sets an offset that lies outside the queue, too"},
};
constexpr Option kStack[] = {{.name = "stack", .doc = "with the stacks of its threads, where its language can"}};

/// The members that a broker knows; none when nobody is on line there.
Result<protocol::ConsumerConnection> membersAt(Session& session, const Target& broker, const std::string& group) {
    const auto answer = session.ask(broker.address, static_cast<std::int32_t>(protocol::RequestCode::GetConsumerConnectionList), {{"consumerGroup", group}});
    if (!answer && answer.error().code() == StatusCode::NotFound) return protocol::ConsumerConnection{};
    if (!answer) return answer.error();
    return protocol::ConsumerConnection::fromJson(answer->body);
}

Exit list(Session& session, const Arguments&) {
    auto brokers = session.masters();
    if (!brokers) return session.fail(brokers.error());
    struct Row {
        std::string brokers;
        std::int64_t retryMax = 0;
        std::int64_t retryQueues = 0;
        bool consume = true;
        bool broadcast = true;
        bool orderly = false;
        std::set<std::string> members;   // one is connected to several brokers
    };
    std::map<std::string, Row> rows;
    std::size_t silent = 0;
    for (const auto& broker : *brokers) {
        const auto groups = (*session.client())->groupConfigs(broker.address);
        if (!groups && session.isSilent(broker, groups.error())) {
            ++silent;
            continue;
        }
        if (!groups) return session.fail(groups.error());
        for (const auto& [name, group] : groups->subscriptionGroupTable) {
            auto& row = rows[name];
            row.brokers += (row.brokers.empty() ? "" : " ") + broker.name;
            row.retryMax = group.retryMaxTimes;
            row.retryQueues = group.retryQueueNums;
            row.consume = group.consumeEnable;
            row.broadcast = group.consumeBroadcastEnable;
            row.orderly = group.consumeMessageOrderly;
            const auto members = membersAt(session, broker, name);
            if (!members) continue;
            for (const auto& member : members->connectionSet) row.members.insert(member.clientId);
        }
    }
    Table table{{{"group", "GROUP"}, {"members", "MEMBERS"}, {"retryMax", "TRIES"}, {"retryQueues", "RETRY QUEUES"},
                 {"consume", "CONSUME"}, {"broadcast", "BROADCAST"}, {"orderly", "ORDERLY"}, {"brokers", "BROKERS"}}, {}};
    for (const auto& [name, row] : rows) {
        table.add({name, static_cast<std::int64_t>(row.members.size()), row.retryMax, row.retryQueues,
                   row.consume, row.broadcast, row.orderly, row.brokers});
    }
    if (silent == brokers->size()) return Exit::NoAnswer;
    session.out().print(table);
    return silent == 0 ? Exit::Done : Exit::Partly;
}

/// The group's settings on a broker without creating it there, which asking for one group does.
Result<std::optional<protocol::SubscriptionGroupConfig>> settingsOf(Session& session, const Target& broker, const std::string& name) {
    const auto groups = (*session.client())->groupConfigs(broker.address);
    if (!groups) return groups.error();
    const auto at = groups->subscriptionGroupTable.find(name);
    if (at == groups->subscriptionGroupTable.end()) return std::optional<protocol::SubscriptionGroupConfig>();
    return std::optional(at->second);
}

std::string settingsText(const protocol::SubscriptionGroupConfig& group) {
    const auto yes = [](bool flag) { return flag ? std::string("yes") : std::string("no"); };
    return "tries " + std::to_string(group.retryMaxTimes) + ", " + counted(group.retryQueueNums, "retry queue") + ", consume " + yes(group.consumeEnable) +
           ", broadcast " + yes(group.consumeBroadcastEnable) + ", orderly " + yes(group.consumeMessageOrderly);
}

Exit show(Session& session, const Arguments& arguments) {
    const std::string& group = arguments.at(0);
    const auto brokers = session.masters();
    if (!brokers) return session.fail(brokers.error());
    bool exists = false;
    std::map<std::string, std::vector<Cell>> rows;   // a member is connected to several brokers
    for (const auto& broker : *brokers) {
        const auto settings = settingsOf(session, broker, group);
        if (!settings) return session.fail(settings.error());
        const auto members = membersAt(session, broker, group);
        if (!members) return session.fail(members.error());
        if (settings->has_value()) session.out().say(broker.name + ": " + settingsText(**settings));
        exists = exists || settings->has_value() || !members->connectionSet.empty();
        std::string topics;
        for (const auto& [topic, subscription] : members->subscriptionTable) {
            topics += (topics.empty() ? "" : ", ") + topic + " (" + subscription.subString + ")";
        }
        for (const auto& member : members->connectionSet) {
            rows.insert_or_assign(member.clientId, std::vector<Cell>{member.clientId, member.clientAddr, member.language, std::int64_t{member.version}, topics});
        }
    }
    if (!exists) return session.fail({StatusCode::NotFound, "there is no group '" + group + "'"});
    Table table{{{"client", "CLIENT"}, {"address", "ADDRESS"}, {"language", "LANGUAGE"}, {"version", "VERSION"}, {"subscriptions", "GROUP SUBSCRIBES"}}, {}};
    for (auto& [client, row] : rows) table.add(std::move(row));
    if (!rows.empty() || session.out().json()) session.out().print(table);
    if (rows.empty()) session.out().say("no member is connected");
    return Exit::Done;
}

Exit client(Session& session, const Arguments& arguments) {
    auto admin = session.client();
    if (!admin) return session.fail(admin.error());
    const auto info = (*admin)->consumerRunningInfo(arguments.at(0), arguments.at(1), arguments.has("stack"));
    if (!info) return session.fail(info.error());
    if (!session.out().json()) {
        session.out().print(*info, *info);
        return Exit::Done;
    }
    // Clients answer in Java's dialect, with objects as keys.
    const auto document = json::Document::parse(*info);
    if (!document) return session.fail(document.error());
    session.out().print(strictJson(document->root()), {});
    return Exit::Done;
}

void apply(const Arguments& arguments, protocol::SubscriptionGroupConfig& group) {
    if (arguments.has("retry-max")) group.retryMaxTimes = static_cast<std::int32_t>(arguments.number("retry-max"));
    if (arguments.has("retry-queues")) group.retryQueueNums = static_cast<std::int32_t>(arguments.number("retry-queues"));
    if (arguments.has("consume")) group.consumeEnable = arguments.text("consume") == "yes";
    if (arguments.has("broadcast")) group.consumeBroadcastEnable = arguments.text("broadcast") == "yes";
    if (arguments.has("orderly")) group.consumeMessageOrderly = arguments.text("orderly") == "yes";
}

Exit change(Session& session, const Arguments& arguments, bool creates) {
    if (const auto valid = protocol::validateGroupName(arguments.at(0)); creates && !valid) return session.fail(valid);
    auto brokers = session.masters();
    if (!brokers) return session.fail(brokers.error());
    Outcomes outcomes(session);
    for (const auto& broker : *brokers) {
        auto known = settingsOf(session, broker, arguments.at(0));
        if (!known) {
            outcomes.add(broker, known.error());
        } else if (known->has_value() == creates) {
            outcomes.add(broker, creates ? Status(StatusCode::AlreadyExists, "exists; 'patchctl group set' changes it")
                                         : Status(StatusCode::NotFound, "there is no group '" + arguments.at(0) + "'"));
        } else {
            protocol::SubscriptionGroupConfig group = known->value_or(protocol::SubscriptionGroupConfig{});
            group.groupName = arguments.at(0);
            apply(arguments, group);
            outcomes.add(broker, (*session.client())->createGroup(broker.address, group));
        }
    }
    return outcomes.print(creates ? "created" : "changed");
}

Exit create(Session& session, const Arguments& arguments) { return change(session, arguments, true); }
Exit set(Session& session, const Arguments& arguments) { return change(session, arguments, false); }

Exit remove(Session& session, const Arguments& arguments) {
    auto brokers = session.masters();
    if (!brokers) return session.fail(brokers.error());
    if (const auto members = (*session.client())->consumers(arguments.at(0)); members && !members->connectionSet.empty()) {
        session.out().say(counted(static_cast<std::int64_t>(members->connectionSet.size()), "connected member") + "; brokers that create groups will do so again");
    }
    Outcomes outcomes(session);
    for (const auto& broker : *brokers) {
        const auto known = settingsOf(session, broker, arguments.at(0));
        if (!known) {
            outcomes.add(broker, known.error());
        } else if (!known->has_value()) {
            outcomes.add(broker, {StatusCode::NotFound, "there is no group '" + arguments.at(0) + "'"});
        } else {
            outcomes.add(broker, arguments.dryRun() ? Status::ok()
                                                    : (*session.client())->deleteGroup(broker.address, arguments.at(0), !arguments.has("keep-offsets")));
        }
    }
    return outcomes.print(arguments.dryRun() ? "would be deleted" : "deleted");
}

Exit offsets(Session& session, const Arguments& arguments) {
    const auto stats = session.consumeStats(arguments.at(0), arguments.text("topic"));
    if (!stats) return session.fail(stats.error());
    Table table{{{"topic", "TOPIC"}, {"broker", "BROKER"}, {"queue", "QUEUE"}, {"end", "END"}, {"committed", "COMMITTED"}, {"behind", "BEHIND"},
                 {"inFlight", "IN FLIGHT"}, {"lastMs", "LAST CONSUMED", Show::Time}}, {}};
    std::int64_t behind = 0;
    std::int64_t beyond = 0;
    for (const auto& [queue, entry] : stats->offsetTable) {
        // An offset beyond the end waits for nothing; it must not hide what waits in other queues.
        const std::int64_t waiting = std::max<std::int64_t>(entry.brokerOffset - entry.consumerOffset, 0);
        behind += waiting;
        if (entry.consumerOffset > entry.brokerOffset) ++beyond;
        table.add({queue.topic, queue.brokerName, std::int64_t{queue.queueId}, entry.brokerOffset, entry.consumerOffset, waiting,
                   std::max<std::int64_t>(entry.pullOffset - entry.consumerOffset, 0), entry.lastTimestamp});
    }
    session.out().print(table);
    session.out().say(counted(behind, "message") + " behind");
    if (beyond > 0) session.out().say(counted(beyond, "queue") + " with an offset beyond the end; 'patchctl offset reset' sets it back");
    return Exit::Done;
}

/// What --to says.
struct Goal {
    enum class Kind : std::uint8_t { First, Last, Time, Offset };
    Kind kind = Kind::Last;
    std::int64_t value = 0;   ///< ms since the epoch, or the offset
};

/// Numbers below it are no times of messages: as milliseconds they are before 2001. They are offsets or seconds that were given by mistake.
constexpr std::int64_t kFirstTimeMs = 1'000'000'000'000;

Result<Goal> goalOf(Session& session, const Arguments& arguments) {
    const std::string to = arguments.text("to");
    if (to == "first") return Goal{Goal::Kind::First, 0};
    if (to == "last") return Goal{Goal::Kind::Last, 0};
    std::int64_t number = 0;
    const auto read = std::from_chars(to.data(), to.data() + to.size(), number);
    const bool whole = read.ec == std::errc{} && read.ptr == to.data() + to.size();
    if (whole && number < 0) return Status(StatusCode::InvalidArgument, "--to: " + to + " is negative, and no offset is");
    if (whole && arguments.has("queue")) return Goal{Goal::Kind::Offset, number};
    if (whole && number < kFirstTimeMs) {
        return Status(StatusCode::InvalidArgument, "--to: " + to + " is an offset only with --queue, and a time only in milliseconds since the epoch");
    }
    const auto time = parseTime(to, session.clock().wallMs());
    if (!time) return time.error();
    return Goal{Goal::Kind::Time, *time};
}

/// The offset that the goal means in a queue.
Result<std::int64_t> offsetOf(Session& session, const Goal& goal, const client::MessageQueue& queue) {
    client::AdminClient& admin = **session.client();
    switch (goal.kind) {
        case Goal::Kind::First: return admin.minOffset(queue);
        case Goal::Kind::Last: return admin.maxOffset(queue);
        case Goal::Kind::Time: return admin.offsetAt(queue, goal.value);
        case Goal::Kind::Offset: break;
    }
    return goal.value;
}

/// Brokers take no offsets of groups that they do not have; this says so before anything is set.
Status groupIsWhereverItIsSet(Session& session, const std::string& group, const std::set<std::string>& brokerNames) {
    client::AdminClient& admin = **session.client();
    for (const auto& name : brokerNames) {
        const auto address = admin.masterOf(name);
        if (!address) return address.error();
        const auto known = settingsOf(session, {"", name, *address, 0}, group);
        if (!known) return known.error();
        if (!known->has_value()) return {StatusCode::NotFound, "there is no group '" + group + "' on " + name};
    }
    return Status::ok();
}

/// The chosen brokers tell the members, each for its own queues.
Status resetOnChosen(Session& session, const Arguments& arguments, std::int64_t timestampMs) {
    const auto brokers = session.masters();
    if (!brokers) return brokers.error();
    for (const auto& broker : *brokers) {
        const auto reset = session.ask(broker.address, static_cast<std::int32_t>(protocol::RequestCode::InvokeBrokerToResetOffset),
                                       {{"group", arguments.at(0)}, {"topic", arguments.text("topic")}, {"queueId", "-1"}, {"offset", "-1"},
                                        {"timestamp", std::to_string(timestampMs)}, {"isForce", "true"}});
        if (!reset && reset.error().code() != StatusCode::NotFound) return reset.error();
    }
    return Status::ok();
}

/// Whether the group has members, by the brokers that were chosen, or by the one that its clients would ask.
Result<bool> isOnline(Session& session, const std::string& group, const std::set<std::string>& brokerNames) {
    if (session.limited()) {
        const auto brokers = session.masters();
        if (!brokers) return brokers.error();
        for (const auto& broker : *brokers) {
            const auto members = membersAt(session, broker, group);
            if (!members) return members.error();
            if (!members->connectionSet.empty()) return true;
        }
        return false;
    }
    client::AdminClient& admin = **session.client();
    const auto members = admin.consumers(group);
    if (members) return true;
    if (members.error().code() == StatusCode::NotFound) return false;
    if (members.error().code() != StatusCode::Unsupported) return members.error();
    // A port for administration alone: members can be told from there only, but what clients ask says whether there are any.
    for (const auto& name : brokerNames) {
        const auto address = admin.masterOf(name);
        if (!address) return address.error();
        const auto listed = session.ask(*address, static_cast<std::int32_t>(protocol::RequestCode::GetConsumerListByGroup), {{"consumerGroup", group}});
        if (!listed) continue;   // nobody
        return Status(StatusCode::Unavailable, "the group is connected, and " + name + " keeps administration on a port of its own (adminListenPort); name it with -b, "
                                               "or stop the members");
    }
    return false;
}

/// Online members hear of a reset from the broker; a group that is not online only has offsets, and those are written.
Status resetQueues(Session& session, const Arguments& arguments, const Goal& goal, const std::map<client::MessageQueue, std::int64_t>& goals,
                   const std::set<std::string>& brokerNames) {
    client::AdminClient& admin = **session.client();
    const auto online = isOnline(session, arguments.at(0), brokerNames);
    if (!online) return online.error();
    if (*online && !arguments.has("queue")) {
        const std::int64_t time = goal.kind == Goal::Kind::Last ? -1 : goal.value;
        if (session.limited()) return resetOnChosen(session, arguments, time);
        const auto reset = admin.resetOffsets(arguments.at(0), arguments.text("topic"), time, true);
        return reset ? Status::ok() : reset.error();
    }
    if (*online) {
        return {StatusCode::Unavailable, "the group is connected, and its members would write their own offsets over it; stop them, or reset all queues"};
    }
    for (const auto& [queue, offset] : goals) {
        if (const auto written = admin.updateConsumerOffset(arguments.at(0), queue, offset); !written) return written;
    }
    return Status::ok();
}

Exit reset(Session& session, const Arguments& arguments) {
    auto admin = session.client();
    if (!admin) return session.fail(admin.error());
    if (!arguments.has("topic")) return session.misused({StatusCode::InvalidArgument, "--topic is missing: whose offsets are set"});
    const auto goal = goalOf(session, arguments);
    if (!goal) return session.misused(goal.error());
    const auto stats = session.topicStats(arguments.text("topic"));
    if (!stats) return session.fail(stats.error());
    std::map<client::MessageQueue, std::int64_t> goals;
    std::set<std::string> brokerNames;
    Table table{{{"broker", "BROKER"}, {"queue", "QUEUE"}, {"from", "FROM"}, {"to", "TO"}, {"again", "AGAIN"}, {"skipped", "SKIPPED"}}, {}};
    for (const auto& [queue, entry] : stats->offsetTable) {
        if (arguments.has("queue") && queue.queueId != arguments.number("queue")) continue;
        const auto to = offsetOf(session, *goal, queue);
        if (!to) return session.fail(to.error());
        if ((*to < entry.minOffset || *to > entry.maxOffset) && goal->kind == Goal::Kind::Offset && !arguments.has("force")) {
            return session.fail({StatusCode::OutOfRange, "queue " + std::to_string(queue.queueId) + " of " + queue.brokerName + " goes from " +
                                 std::to_string(entry.minOffset) + " to " + std::to_string(entry.maxOffset) + ", and " + std::to_string(*to) +
                                 " lies outside; --force sets it all the same"});
        }
        brokerNames.insert(queue.brokerName);
        const auto from = (*admin)->consumerOffset(arguments.at(0), queue);
        goals.emplace(queue, *to);
        // Only messages that exist can be consumed again or skipped.
        const std::int64_t first = std::max(from ? std::min(*from, entry.maxOffset) : entry.minOffset, entry.minOffset);
        const std::int64_t next = std::max(std::min(*to, entry.maxOffset), entry.minOffset);
        table.add({queue.brokerName, std::int64_t{queue.queueId}, from ? Cell(*from) : Cell(), *to, std::max<std::int64_t>(first - next, 0),
                   std::max<std::int64_t>(next - first, 0)});
    }
    if (goals.empty()) return session.fail({StatusCode::NotFound, "the topic has no such queue"});
    if (const auto there = groupIsWhereverItIsSet(session, arguments.at(0), brokerNames); !there) return session.fail(there);
    if (!arguments.dryRun()) {
        if (const auto done = resetQueues(session, arguments, *goal, goals, brokerNames); !done) return session.fail(done);
    }
    session.out().print(table);
    session.out().say(arguments.dryRun() ? "nothing was changed" : "set");
    return Exit::Done;
}

Exit clone(Session& session, const Arguments& arguments) {
    const auto stats = session.consumeStats(arguments.at(0), arguments.text("topic"));
    if (!stats) return session.fail(stats.error());
    std::set<std::string> brokerNames;
    for (const auto& [queue, entry] : stats->offsetTable) {
        if (!protocol::isRetryTopic(queue.topic)) brokerNames.insert(queue.brokerName);
    }
    if (const auto there = groupIsWhereverItIsSet(session, arguments.at(1), brokerNames); !there) return session.fail(there);
    Table table{{{"topic", "TOPIC"}, {"broker", "BROKER"}, {"queue", "QUEUE"}, {"offset", "OFFSET"}}, {}};
    for (const auto& [queue, entry] : stats->offsetTable) {
        if (protocol::isRetryTopic(queue.topic)) continue;   // those of the one group mean nothing to the other
        if (!arguments.dryRun()) {
            if (const auto written = (*session.client())->updateConsumerOffset(arguments.at(1), queue, entry.consumerOffset); !written) {
                return session.fail(written);
            }
        }
        table.add({queue.topic, queue.brokerName, std::int64_t{queue.queueId}, entry.consumerOffset});
    }
    session.out().print(table);
    return Exit::Done;
}

constexpr Command kGroups[] = {
    {.words = "group list", .summary = "Lists consumer groups", .example = "patchctl group list", .run = list},
    {.words = "group show", .summary = "Shows the settings of a group, who is connected for it, and what it subscribes",
     .text = "In JSON only the members; 'group list' has the settings.", .arguments = kGroup,
     .example = "patchctl group show billing", .run = show},
    {.words = "group client", .summary = "Asks one member of a group how it is", .text = "The answer is the client's own, as JSON.", .arguments = kMember,
     .options = kStack, .example = "patchctl group client billing 10.0.0.7@4711 --stack", .unlimited = true, .run = client},
    {.words = "group create", .summary = "Creates a consumer group on the chosen brokers", .arguments = kGroup, .options = kSettings,
     .example = "patchctl group create billing --retry-max 5", .run = create},
    {.words = "group set", .summary = "Changes the settings of a consumer group", .text = "What no option names stays as it is.", .arguments = kGroup,
     .options = kSettings, .example = "patchctl group set billing --consume no", .run = set},
    {.words = "group delete", .summary = "Deletes a consumer group and its offsets", .arguments = kGroup, .options = kDelete,
     .example = "patchctl group delete billing --dry-run", .destroys = true, .run = remove},
};
constexpr Command kOffsets[] = {
    {.words = "offset show", .summary = "Shows how far a group is in every queue", .arguments = kGroup, .options = kTopicOption,
     .example = "patchctl offset show billing --topic Orders", .run = offsets},
    {.words = "offset reset", .summary = "Sets the offsets of a group",
     .text = "Members that are connected go on from there at once. AGAIN counts messages that will be consumed a second time, SKIPPED those that will "
             "never be. --dry-run only shows both.",
     .arguments = kGroup, .options = kReset, .example = "patchctl offset reset billing --topic Orders --to -10m --dry-run", .destroys = true,
     .run = reset},
    {.words = "offset clone", .summary = "Gives one group the offsets of another", .arguments = kClone, .options = kTopicOption,
     .example = "patchctl offset clone billing billing-2 --topic Orders", .destroys = true, .run = clone},
};

}  // namespace

std::span<const Command> groupCommands() noexcept { return kGroups; }
std::span<const Command> offsetCommands() noexcept { return kOffsets; }

}  // namespace patchbay::patchctl

// The commands "topic …" and "route".
#include "commands/Session.h"

#include "patchbay/protocol/RequestCode.h"
#include "patchbay/protocol/json/Writer.h"
#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <set>
#include <thread>

namespace patchbay::patchctl {

namespace {

constexpr std::chrono::milliseconds kRoutePause{20};
constexpr Argument kTopic{"TOPIC", "name of the topic"};
constexpr Argument kOneTopic[] = {kTopic};

constexpr Option kSettings[] = {
    {.name = "queues", .kind = Kind::Number, .value = "N", .doc = "queues on each broker, for reading and writing", .fallback = "8", .letter = 'q', .min = 1, .max = 65'536},
    {.name = "perm", .kind = Kind::Number, .value = "BITS", .doc = "4 may be read, 2 may be written, 6 both", .fallback = "6", .letter = 'p', .min = 0, .max = 7},
    {.name = "order", .doc = "consumers keep the order of its queues"},
    {.name = "type", .kind = Kind::Choice, .value = "TYPE", .doc = "kind of its messages, fixed at creation", .choices = "NORMAL FIFO DELAY TRANSACTION"},
};
constexpr Option kChanges[] = {
    {.name = "queues", .kind = Kind::Number, .value = "N", .doc = "queues on each broker, for reading and writing", .letter = 'q', .min = 0, .max = 65'536},
    {.name = "perm", .kind = Kind::Number, .value = "BITS", .doc = "4 may be read, 2 may be written, 6 both", .letter = 'p', .min = 0, .max = 7},
};
constexpr Option kGroups[] = {{.name = "all", .doc = "also groups that were deleted and left offsets", .letter = 'a'}};
constexpr Option kList[] = {{.name = "all", .doc = "also those of retries, dead letters and the system", .letter = 'a'}};

bool isOwn(std::string_view topic) {
    return protocol::isRetryTopic(topic) || protocol::isDlqTopic(topic) || protocol::isSystemTopicName(topic);
}

/// The kind of its messages, where it was set.
std::string typeOf(const protocol::TopicConfig& topic) {
    const auto at = topic.attributes.find("message.type");
    return at == topic.attributes.end() ? std::string() : at->second;
}

Exit list(Session& session, const Arguments& arguments) {
    auto brokers = session.masters();
    if (!brokers) return session.fail(brokers.error());
    Table table{{{"topic", "TOPIC"}, {"broker", "BROKER"}, {"readQueues", "READ"}, {"writeQueues", "WRITE"}, {"perm", "PERM"},
                 {"order", "ORDER"}, {"type", "TYPE"}}, {}};
    std::size_t silent = 0;
    for (const auto& broker : *brokers) {
        const auto topics = (*session.client())->topicConfigs(broker.address);
        if (!topics && session.isSilent(broker, topics.error())) {
            ++silent;
            continue;
        }
        if (!topics) return session.fail(topics.error());
        for (const auto& [name, topic] : topics->topicConfigTable) {
            const bool ofServers = name == broker.name || name == broker.cluster || name.ends_with(protocol::kReplyTopicSuffix);
            if (!arguments.has("all") && (isOwn(name) || ofServers)) continue;
            table.add({name, broker.name, std::int64_t{topic.readQueueNums}, std::int64_t{topic.writeQueueNums},
                       protocol::permText(topic.perm), topic.order, typeOf(topic)});
        }
    }
    if (silent == brokers->size()) return Exit::NoAnswer;
    std::ranges::sort(table.rows);
    session.out().print(table);
    return silent == 0 ? Exit::Done : Exit::Partly;
}

Exit show(Session& session, const Arguments& arguments) {
    auto brokers = session.masters();
    if (!brokers) return session.fail(brokers.error());
    Table table{{{"broker", "BROKER"}, {"queue", "QUEUE"}, {"min", "FIRST"}, {"max", "END"}, {"messages", "MESSAGES"},
                 {"lastMs", "LAST", Show::Time}, {"perm", "PERM"}}, {}};
    Status missing(StatusCode::NotFound, "no broker has topic '" + arguments.at(0) + "'");
    bool silent = false;
    for (const auto& broker : *brokers) {
        const auto config = (*session.client())->topicConfig(broker.address, arguments.at(0));
        if (!config && session.isSilent(broker, config.error())) {
            silent = true;
            continue;
        }
        if (!config && config.error().code() == StatusCode::NotFound) continue;
        if (!config) return session.fail(config.error());
        missing = Status::ok();
        const auto stats = (*session.client())->topicStats(broker.address, arguments.at(0));
        if (!stats) return session.fail(stats.error());
        for (const auto& [queue, entry] : stats->offsetTable) {
            table.add({broker.name, std::int64_t{queue.queueId}, entry.minOffset, entry.maxOffset, entry.maxOffset - entry.minOffset,
                       entry.lastUpdateTimestamp, protocol::permText(config->perm)});
        }
    }
    if (!missing) return silent ? Exit::NoAnswer : session.fail(missing);
    session.out().print(table);
    return silent ? Exit::Partly : Exit::Done;
}

/// A broker answers before the name servers know the topic; whoever sends next should find it. Gives up after the time-out.
void awaitRoute(Session& session, const std::string& topic) {
    const MonotonicTime end = session.clock().now() + session.timeout();
    while (!(*session.client())->route(topic) && session.clock().now() < end) std::this_thread::sleep_for(kRoutePause);
}

Exit create(Session& session, const Arguments& arguments) {
    if (const auto valid = protocol::validateTopicName(arguments.at(0)); !valid) return session.fail(valid);
    auto brokers = session.masters();
    if (!brokers) return session.fail(brokers.error());
    protocol::TopicConfig topic;
    topic.topicName = arguments.at(0);
    topic.readQueueNums = topic.writeQueueNums = static_cast<std::int32_t>(arguments.number("queues"));
    topic.perm = static_cast<std::uint32_t>(arguments.number("perm"));
    topic.order = arguments.has("order");
    if (arguments.has("type")) topic.attributes.emplace("+message.type", arguments.text("type"));
    Outcomes outcomes(session);
    for (const auto& broker : *brokers) {
        const auto known = (*session.client())->topicConfig(broker.address, topic.topicName);
        if (known) {
            outcomes.add(broker, {StatusCode::AlreadyExists, "exists; 'patchctl topic set' changes it"});
            continue;
        }
        const Status made = known.error().code() == StatusCode::NotFound ? (*session.client())->createTopic(broker.address, topic)
                                                                         : known.error();
        outcomes.add(broker, made);
        if (made) awaitRoute(session, topic.topicName);
    }
    return outcomes.print("created");
}

/// Messages in queues with that number and above, which consumers do not see when the topic has no more queues.
std::int64_t messagesFrom(Session& session, const Target& broker, const std::string& topic, std::int32_t queues) {
    const auto stats = (*session.client())->topicStats(broker.address, topic);
    std::int64_t messages = 0;
    if (!stats) return messages;
    for (const auto& [queue, entry] : stats->offsetTable) {
        if (queue.queueId >= queues) messages += entry.maxOffset - entry.minOffset;
    }
    return messages;
}

Exit set(Session& session, const Arguments& arguments) {
    auto brokers = session.masters();
    if (!brokers) return session.fail(brokers.error());
    if (!arguments.has("queues") && !arguments.has("perm")) {
        return session.misused({StatusCode::InvalidArgument, "nothing to change: give --queues or --perm"});
    }
    Outcomes outcomes(session);
    for (const auto& broker : *brokers) {
        auto topic = (*session.client())->topicConfig(broker.address, arguments.at(0));
        if (!topic) {
            outcomes.add(broker, topic.error());
            continue;
        }
        if (arguments.has("queues")) topic->readQueueNums = topic->writeQueueNums = static_cast<std::int32_t>(arguments.number("queues"));
        if (arguments.has("perm")) topic->perm = static_cast<std::uint32_t>(arguments.number("perm"));
        topic->attributes.clear();   // on the wire they are changes, and there are none
        const std::int64_t hidden = arguments.has("queues") ? messagesFrom(session, broker, arguments.at(0), topic->readQueueNums) : 0;
        const std::string note = hidden == 0 ? std::string() : "; " + counted(hidden, "message") + " in queues from " + std::to_string(topic->readQueueNums) +
                                                                   " on " + (arguments.dryRun() ? "would not be read" : "are not read any more");
        outcomes.add(broker, arguments.dryRun() ? Status::ok() : (*session.client())->createTopic(broker.address, *topic), note);
    }
    return outcomes.print(arguments.dryRun() ? "would be changed" : "changed");
}

/// On the chosen brokers alone. The name servers forget the topic with the last broker that has it; before that, those that are left
/// keep it in its routes.
Status deleteOnChosen(Session& session, const std::string& topic) {
    const auto brokers = session.brokers();
    if (!brokers) return brokers.error();
    client::AdminClient& admin = **session.client();
    for (const auto& broker : *brokers) {
        const auto deleted = session.ask(broker.address, static_cast<std::int32_t>(protocol::RequestCode::DeleteTopicInBroker), {{"topic", topic}});
        if (!deleted) return deleted.error();
    }
    const auto all = admin.masters();
    if (!all) return all.error();
    for (const auto& address : *all) {
        const auto left = admin.topicConfig(address, topic);
        if (left || left.error().code() != StatusCode::NotFound) return Status::ok();
    }
    auto command = protocol::RemotingCommand::request(protocol::RequestCode::DeleteTopicInNamesrv);
    command.set("topic", topic);
    const auto forgotten = admin.invokeAllNameServers(command, session.timeout());
    return forgotten ? Status::ok() : forgotten.error();
}

/// Those of `groups` that were deleted: no broker that was chosen has them, and nobody is connected. What remains are offsets.
std::set<std::string> deletedOf(Session& session, const std::set<std::string>& groups) {
    std::set<std::string> gone = groups;
    const auto brokers = session.masters();
    if (!brokers) return {};
    for (const auto& broker : *brokers) {
        const auto known = (*session.client())->groupConfigs(broker.address);
        if (!known) return {};   // not known, so nobody is left out
        for (const auto& [group, config] : known->subscriptionGroupTable) gone.erase(group);
    }
    std::erase_if(gone, [&](const std::string& group) { return (*session.client())->consumers(group).has_value(); });
    return gone;
}

Exit remove(Session& session, const Arguments& arguments) {
    auto brokers = session.masters();
    if (!brokers) return session.fail(brokers.error());
    std::int64_t messages = 0;
    std::set<std::string> groups;
    bool known = false;
    for (const auto& broker : *brokers) {
        const auto stats = (*session.client())->topicStats(broker.address, arguments.at(0));
        if (!stats) continue;
        known = true;
        for (const auto& [queue, entry] : stats->offsetTable) messages += entry.maxOffset - entry.minOffset;
    }
    if (!known) return session.fail({StatusCode::NotFound, "no broker has topic '" + arguments.at(0) + "'"});
    if (protocol::isSystemTopicName(arguments.at(0))) {
        return session.fail({StatusCode::Denied, "'" + arguments.at(0) + "' is a topic of the servers, which brokers do not delete"});
    }
    if (const auto found = session.groupsOf(arguments.at(0))) {
        groups = *found;
        for (const auto& gone : deletedOf(session, groups)) groups.erase(gone);
    }
    if (!arguments.dryRun()) {
        const Status deleted = arguments.has("broker") ? deleteOnChosen(session, arguments.at(0))
                                                       : (*session.client())->deleteTopic(arguments.at(0), arguments.text("cluster"));
        if (!deleted) return session.fail(deleted);
    }
    std::string names;
    for (const auto& group : groups) names += (names.empty() ? "" : ", ") + group;
    Record record;
    record.add("topic", arguments.at(0));
    record.add("deleted", !arguments.dryRun());
    record.add("messages", messages);
    record.add("groups", names);
    session.out().print(record);
    return Exit::Done;
}

Exit groups(Session& session, const Arguments& arguments) {
    auto client = session.client();
    if (!client) return session.fail(client.error());
    const auto found = session.groupsOf(arguments.at(0));
    if (!found) return session.fail(found.error());
    const auto gone = arguments.has("all") ? std::set<std::string>() : deletedOf(session, *found);
    Table table{{{"group", "GROUP"}, {"members", "MEMBERS"}, {"behind", "BEHIND"}}, {}};
    for (const auto& group : *found) {
        if (gone.contains(group)) continue;
        const auto members = (*client)->consumers(group);
        const auto stats = session.consumeStats(group, arguments.at(0));
        std::int64_t behind = 0;
        if (stats) {
            for (const auto& [queue, entry] : stats->offsetTable) behind += std::max<std::int64_t>(entry.brokerOffset - entry.consumerOffset, 0);
        }
        table.add({group, std::int64_t{members ? static_cast<std::int64_t>(members->connectionSet.size()) : 0},
                   stats ? Cell(behind) : Cell()});
    }
    session.out().print(table);
    if (!gone.empty()) {
        session.out().say("left out: " + counted(static_cast<std::int64_t>(gone.size()), "group") + " that " + (gone.size() == 1 ? "was" : "were") +
                          " deleted and left offsets; --all shows " + (gone.size() == 1 ? "it" : "them"));
    }
    return Exit::Done;
}

Exit route(Session& session, const Arguments& arguments) {
    auto client = session.client();
    if (!client) return session.fail(client.error());
    const auto found = (*client)->route(arguments.at(0));
    if (!found) return session.fail(found.error());
    Table table{{{"broker", "BROKER"}, {"cluster", "CLUSTER"}, {"id", "ID"}, {"address", "ADDRESS"}, {"readQueues", "READ"},
                 {"writeQueues", "WRITE"}, {"perm", "PERM"}}, {}};
    for (const auto& queues : found->queueDatas) {
        for (const auto& broker : found->brokerDatas) {
            if (broker.brokerName != queues.brokerName) continue;
            for (const auto& [id, address] : broker.brokerAddrs) {
                table.add({broker.brokerName, broker.cluster, id, address, std::int64_t{queues.readQueueNums},
                           std::int64_t{queues.writeQueueNums}, protocol::permText(queues.perm)});
            }
        }
    }
    session.out().print(table);
    return Exit::Done;
}

constexpr Command kCommands[] = {
    {.words = "topic list", .summary = "Lists topics with their queues and permissions", .options = kList,
     .example = "patchctl topic list --all", .run = list},
    {.words = "topic show", .summary = "Shows the queues of a topic: first offset, end, time of the last message", .arguments = kOneTopic,
     .example = "patchctl topic show Orders", .run = show},
    {.words = "topic create", .summary = "Creates a topic on the chosen brokers", .text = "A topic that exists is left alone.",
     .arguments = kOneTopic, .options = kSettings, .example = "patchctl topic create Orders --queues 16", .run = create},
    {.words = "topic set", .summary = "Changes the queues or the permission of a topic",
     .text = "With fewer queues the messages of the others are not read any more; they are there again with as many queues as before.",
     .arguments = kOneTopic, .options = kChanges, .example = "patchctl topic set Orders --perm 4", .destroys = true, .run = set},
    {.words = "topic delete", .summary = "Deletes a topic, its messages and the offsets of its groups",
     .text = "Messages cannot be brought back. --dry-run tells how many there are and who consumes them.", .arguments = kOneTopic,
     .example = "patchctl topic delete Orders --dry-run", .destroys = true, .run = remove},
    {.words = "topic groups", .summary = "Lists the groups that consume a topic and how far they are behind", .arguments = kOneTopic,
     .options = kGroups, .example = "patchctl topic groups Orders", .run = groups},
    {.words = "route", .summary = "Shows what the name server tells clients of a topic", .arguments = kOneTopic,
     .example = "patchctl route Orders", .unlimited = true, .run = route},
};

}  // namespace

std::span<const Command> topicCommands() noexcept { return kCommands; }

}  // namespace patchbay::patchctl

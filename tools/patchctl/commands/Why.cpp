// The command "why-stuck".
#include "commands/FlowControl.h"
#include "commands/Session.h"

#include "patchbay/protocol/PrivateCode.h"
#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/json/Writer.h"

#include <set>

namespace patchbay::patchctl {

namespace {

constexpr std::size_t kAskedMax = 8;  // members; a group may have thousands

constexpr Argument kGroup[] = {{"GROUP", "consumer group that gets on badly"}};

Cell age(const json::Value& value) {
    const auto ms = value.integer();
    return ms && *ms >= 0 ? Cell(static_cast<double>(*ms) / 1000.0) : Cell();
}

std::string text(const json::Value& value) { return value.text().value_or(""); }

/// What a person reads: the sentence of each broker first, then its queues.
void tell(Session& session, const json::Value& report) {
    Output& out = session.out();
    out.say(text(report["broker"]) + ": " + text(report["sentence"]));
    for (const auto item : report["topics"]) {
        if (const auto problem = text(item.value["problem"]); !problem.empty()) out.say("  " + text(item.value["topic"]) + ": " + problem);
    }
    Table table{{{"topic", "TOPIC"}, {"queue", "QUEUE"}, {"lag", "BEHIND"}, {"inHand", "IN HAND"}, {"owner", "OWNER"}, {"lastPull", "LAST PULL"},
                 {"pullAge", "S AGO"}, {"commitAge", "COMMIT S AGO"}, {"lockHolder", "LOCK"}, {"problem", "PROBLEM"}}, {}};
    for (const auto topic : report["topics"]) {
        for (const auto item : topic.value["queues"]) {
            const auto queue = item.value;
            table.add({text(topic.value["topic"]), queue["queueId"].integer().value_or(0), queue["lag"].integer().value_or(0),
                       queue["inHand"].integer().value_or(0), text(queue["owner"]), text(queue["lastPull"]), age(queue["pullAgeMs"]),
                       age(queue["commitAgeMs"]), text(queue["lockHolder"]), text(queue["problem"])});
        }
    }
    if (!table.rows.empty()) out.print(table);
}

/// What the members that have messages of this broker in hand say of them. Whoever does not answer says nothing.
std::string askMembers(Session& session, const std::string& address, const std::string& group, const json::Value& report) {
    std::set<std::string> owners;
    for (const auto topic : report["topics"]) {
        for (const auto item : topic.value["queues"]) {
            auto owner = text(item.value["owner"]);
            if (!owner.empty() && item.value["inHand"].integer().value_or(0) > 0 && owners.size() < kAskedMax) owners.insert(std::move(owner));
        }
    }
    std::string all;
    json::Writer out(all, json::Dialect::Strict);
    out.beginArray();
    for (const auto& owner : owners) {
        const auto answer = session.ask(address, static_cast<std::int32_t>(protocol::RequestCode::GetConsumerRunningInfo),
                                        {{"consumerGroup", group}, {"clientId", owner}, {"jstackEnable", "false"}});
        if (!answer) continue;
        const auto info = json::Document::parse(answer->body);
        if (!info) continue;
        for (const auto& queue : cachedQueues(info->root())) {
            if (queue.broker != text(report["broker"])) continue;
            out.beginObject();
            out.member("clientId", owner);
            out.member("topic", queue.topic);
            out.member("queueId", queue.queueId);
            out.member("cached", queue.messages);
            out.member("cachedMiB", queue.mebibytes);
            out.member("lastConsumeMs", queue.lastConsumeMs);
            out.member("flowControl", queue.limit);
            out.endObject();
            if (session.out().json() || queue.limit.empty()) continue;
            session.out().say("  queue " + std::to_string(queue.queueId) + " of " + queue.topic + ": " + owner + " does not pull, by flow control: " + queue.limit);
        }
    }
    out.endArray();
    return all;
}

Exit whyStuck(Session& session, const Arguments& arguments) {
    auto brokers = session.masters();
    if (!brokers) return session.fail(brokers.error());
    std::string all = "[";
    bool exists = false;
    for (const auto& broker : *brokers) {
        const auto answer = session.ask(broker.address, static_cast<std::int32_t>(protocol::PrivateCode::WhyStuck), {{"group", arguments.at(0)}});
        if (!answer && answer.error().code() == StatusCode::Unsupported) {
            return session.fail({StatusCode::Unsupported, broker.address + " keeps no such record; only Patchbay with the plugin 'consumer-admin' does"});
        }
        if (!answer) return session.fail(answer.error());
        const auto document = json::Document::parse(answer->body);
        if (!document) return session.fail(document.error());
        const auto root = document->root();
        exists = exists || root["exists"].boolean().value_or(false) || root["online"].boolean().value_or(false);
        if (!session.out().json()) tell(session, root);
        const std::string inHand = askMembers(session, broker.address, arguments.at(0), root);
        const std::string_view body(answer->body);
        all += (all.size() > 1 ? "," : "") + std::string(body.substr(0, body.rfind('}'))) + ",\"inHand\":" + inHand + "}";
    }
    if (session.out().json()) session.out().print(all + "]", {});
    return exists ? Exit::Done : Exit::NotFound;
}

constexpr Command kCommands[] = {
    {.words = "why-stuck", .summary = "Tells in a sentence why a consumer group does not get on, and shows its queues",
     .text = "Who pulls which queue, when it did last, what it has in hand, who holds locks, which members contradict each other; and what members that can be asked say of their caches. Patchbay only.",
     .arguments = kGroup, .example = "patchctl why-stuck billing", .run = whyStuck},
};

}  // namespace

std::span<const Command> whyCommands() noexcept { return kCommands; }

}  // namespace patchbay::patchctl

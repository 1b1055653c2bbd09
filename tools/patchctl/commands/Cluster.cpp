// The commands "cluster …" and "broker …", and "top".
#include "commands/Session.h"

#include "patchbay/protocol/PrivateCode.h"
#include "patchbay/protocol/RequestCode.h"
#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/message/Names.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <thread>

namespace patchbay::patchctl {

namespace {

using Info = std::map<std::string, std::string, std::less<>>;

constexpr Argument kBrokerName[] = {{"BROKER", "name of the broker"}};
constexpr Option kTop[] = {
    {.name = "interval", .kind = Kind::Number, .value = "SECONDS", .doc = "time between two looks", .fallback = "2", .letter = 'i', .min = 1, .max = 3'600},
    {.name = "count", .kind = Kind::Number, .value = "N", .doc = "ends after so many looks; 0 goes on", .fallback = "0", .min = 0},
};

std::string valueOf(const Info& info, std::string_view key) {
    const auto at = info.find(key);
    return at == info.end() ? std::string() : at->second;
}

/// The first number of a text such as "1.5 2.0 3.5"; nothing when there is none.
Cell firstNumber(const std::string& text) {
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc{} ? Cell(number) : Cell();
}

Cell wholeNumber(const std::string& text) {
    std::int64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc{} ? Cell(number) : Cell();
}

Exit list(Session& session, const Arguments&) {
    auto brokers = session.brokers();
    if (!brokers) return session.fail(brokers.error());
    Table table{{{"cluster", "CLUSTER"}, {"broker", "BROKER"}, {"id", "ID"}, {"address", "ADDRESS"}, {"version", "VERSION"}, {"putRate", "IN/S"},
                 {"getRate", "OUT/S"}, {"diskRatio", "DISK"}, {"earliestMs", "OLDEST MESSAGE", Show::Time}}, {}};
    bool silent = false;
    for (const auto& broker : *brokers) {
        const auto info = (*session.client())->runtimeInfo(broker.address);
        silent = silent || !info;
        const Info facts = info ? *info : Info{};
        table.add({broker.cluster, broker.name, broker.id, broker.address, info ? valueOf(facts, "brokerVersionDesc") : "no answer",
                   firstNumber(valueOf(facts, "putTps")), firstNumber(valueOf(facts, "getTransferredTps")),
                   firstNumber(valueOf(facts, "commitLogDiskRatio")), wholeNumber(valueOf(facts, "earliestMessageTimeStamp"))});
    }
    session.out().print(table);
    return silent ? Exit::Partly : Exit::Done;
}

Exit status(Session& session, const Arguments&) {
    const auto broker = session.broker();
    if (!broker) return session.fail(broker.error());
    const auto info = (*session.client())->runtimeInfo(broker->address);
    if (!info) return session.fail(info.error());
    Record record;
    for (const auto& [key, value] : *info) record.add(key, value);
    session.out().print(record);
    return Exit::Done;
}

Exit producers(Session& session, const Arguments&) {
    auto brokers = session.masters();
    if (!brokers) return session.fail(brokers.error());
    Table table{{{"group", "GROUP"}, {"client", "CLIENT"}, {"address", "ADDRESS"}, {"language", "LANGUAGE"}, {"version", "VERSION"},
                 {"lastMs", "LAST HEARTBEAT", Show::Time}, {"broker", "BROKER"}}, {}};
    for (const auto& broker : *brokers) {
        const auto answer = session.ask(broker.address, static_cast<std::int32_t>(protocol::RequestCode::GetAllProducerInfo));
        if (!answer) return session.fail(answer.error());
        const auto document = json::Document::parse(answer->body);
        if (!document) return session.fail(document.error());
        for (const auto group : document->root()["data"]) {
            for (const auto item : group.value) {
                table.add({std::string(group.key), item.value["clientId"].text().value_or(""), item.value["remoteIP"].text().value_or(""),
                           item.value["language"].text().value_or(""), item.value["version"].integer().value_or(0),
                           item.value["lastUpdateTimestamp"].integer().value_or(0), broker.name});
            }
        }
    }
    session.out().print(table);
    return Exit::Done;
}

Exit permission(Session& session, const Arguments& arguments, bool write) {
    auto client = session.client();
    if (!client) return session.fail(client.error());
    // A name server takes any name, and says that it changed no topic.
    const auto info = (*client)->cluster();
    if (!info) return session.fail(info.error());
    if (!info->brokerAddrTable.contains(arguments.at(0))) {
        return session.fail({StatusCode::NotFound, "the name server knows no broker '" + arguments.at(0) + "'"});
    }
    if (arguments.dryRun()) {
        Record record;
        record.add("broker", arguments.at(0));
        record.add("outcome", std::string("clients would stop sending to it"));
        session.out().print(record);
        return Exit::Done;
    }
    const auto topics = write ? (*client)->addWritePermission(arguments.at(0)) : (*client)->wipeWritePermission(arguments.at(0));
    if (!topics) return session.fail(topics.error());
    Record record;
    record.add("broker", arguments.at(0));
    record.add("topics", std::int64_t{*topics});
    session.out().print(record);
    return Exit::Done;
}

Exit fence(Session& session, const Arguments& arguments) { return permission(session, arguments, false); }
Exit unfence(Session& session, const Arguments& arguments) { return permission(session, arguments, true); }

void addTopics(Session& session, const Target& broker, Table& table) {
    const auto topics = (*session.client())->topicConfigs(broker.address);
    if (!topics) return;
    for (const auto& [name, topic] : topics->topicConfigTable) {
        // Not asked by 315, whose answer for a topic without traffic is an error that brokers count.
        const auto ends = (*session.client())->topicStats(broker.address, name);
        const bool used = ends && std::ranges::any_of(ends->offsetTable, [](const auto& queue) { return queue.second.maxOffset > 0; });
        if (!used) continue;   // nothing was ever stored there
        const Cell in(ends->topicPutTps);
        std::int64_t behind = 0;
        const auto groups = (*session.client())->groupsOf(name);
        for (const auto& group : groups ? *groups : std::vector<std::string>{}) {
            const auto stats = (*session.client())->consumeStats(broker.address, group, name);
            if (!stats) continue;
            for (const auto& [queue, entry] : stats->offsetTable) behind += std::max<std::int64_t>(entry.brokerOffset - entry.consumerOffset, 0);
        }
        table.add({broker.name, "topic", name, in, Cell(), behind, Cell()});
    }
}

void addBroker(Session& session, const Target& broker, Table& table) {
    const auto info = (*session.client())->runtimeInfo(broker.address);
    if (!info) {
        table.add({broker.name, "broker", "no answer", Cell(), Cell(), Cell(), Cell()});
        return;
    }
    table.add({broker.name, "broker", valueOf(*info, "runtime"), firstNumber(valueOf(*info, "putTps")),
               firstNumber(valueOf(*info, "getTransferredTps")), Cell(), Cell()});
}

/// The last bound that half of the counted times lie below, in ms.
Cell medianMs(const json::Value& bounds, const json::Value& counts) {
    std::int64_t all = 0;
    for (const auto item : counts) all += item.value.integer().value_or(0);
    std::int64_t below = 0;
    auto bound = bounds.begin();
    for (const auto item : counts) {
        below += item.value.integer().value_or(0);
        if (all > 0 && below * 2 >= all) {
            return bound == bounds.end() ? Cell() : Cell(static_cast<double>((*bound).value.integer().value_or(0)) / 1000.0);
        }
        if (!(bound == bounds.end())) ++bound;
    }
    return {};
}

/// How often each plugin was asked at the look before; by broker, plugin and code.
struct Looks {
    std::map<std::string, std::int64_t> calls;
    std::map<std::string, std::int64_t> atMs;
};

/// "SEND_MESSAGE_V2 310"; a code of a plugin of others stays a number.
std::string nameOfCode(const json::Value& code) {
    const std::string number = code.text().value_or("");
    const std::string_view name = protocol::toString(static_cast<protocol::RequestCode>(code.integer().value_or(-1)));
    return name.empty() ? number : std::string(name) + " " + number;
}

/// Only Patchbay answers; of others there are no such rows. The first look shows the mean since the start.
void addPlugins(Session& session, const Target& broker, Table& table, Looks& looks) {
    const auto answer = session.ask(broker.address, static_cast<std::int32_t>(protocol::PrivateCode::GetMetrics));
    if (!answer) return;
    const auto document = json::Document::parse(answer->body);
    if (!document) return;
    const auto root = document->root();
    const std::int64_t now = root["process"]["nowMs"].integer().value_or(0);
    auto& before = looks.atMs[broker.address];
    const std::int64_t since = before > 0 ? before : root["process"]["startedMs"].integer().value_or(0);
    for (const auto item : root["requests"]) {
        const auto request = item.value;
        const std::int64_t calls = request["calls"].integer().value_or(0);
        if (calls == 0) continue;
        const std::string name = request["plugin"].text().value_or("") + " " + nameOfCode(request["code"]);
        auto& last = looks.calls[broker.address + " " + request["listener"].text().value_or("") + " " + name];
        const double rate = now > since ? static_cast<double>(calls - last) * 1000.0 / static_cast<double>(now - since) : 0.0;
        last = calls;
        table.add({broker.name, "plugin", name, rate, Cell(), Cell(), medianMs(root["boundsUs"], request["latency"]["counts"])});
    }
    before = now;
}

Exit top(Session& session, const Arguments& arguments) {
    auto brokers = session.masters();
    if (!brokers) return session.fail(brokers.error());
    const std::int64_t rounds = arguments.number("count");
    Looks looks;
    for (std::int64_t round = 0; rounds == 0 || round < rounds; ++round) {
        if (round > 0) std::this_thread::sleep_for(std::chrono::seconds(arguments.number("interval")));
        Table table{{{"broker", "BROKER"}, {"kind", "KIND"}, {"name", "NAME"}, {"in", "IN/S"}, {"out", "OUT/S"}, {"behind", "BEHIND"},
                     {"medianMs", "MEDIAN MS"}}, {}};
        for (const auto& broker : *brokers) {
            addBroker(session, broker, table);
            addTopics(session, broker, table);
            addPlugins(session, broker, table, looks);
        }
        if (session.out().terminal() && !session.out().json()) session.out().raw() << "\033[H\033[2J";
        session.out().print(table);
        session.out().flush();
    }
    return Exit::Done;
}

constexpr Command kCommands[] = {
    {.words = "cluster list", .summary = "Lists brokers: address, version, rates, disk, oldest message", .example = "patchctl cluster list --json", .run = list},
    {.words = "broker status", .summary = "Shows everything that a broker tells of its state", .example = "patchctl broker status --broker broker-a", .run = status},
    {.words = "broker producers", .summary = "Lists connected producers", .example = "patchctl broker producers", .run = producers},
    {.words = "broker fence", .summary = "Takes a broker out of all routes for writing, before maintenance",
     .text = "Clients stop sending to it within 30 s and go on consuming. It lasts until 'broker unfence' or until the broker registers a change.",
     .arguments = kBrokerName, .example = "patchctl broker fence broker-a", .destroys = true, .unlimited = true, .run = fence},
    {.words = "broker unfence", .summary = "Takes a broker back into all routes for writing", .arguments = kBrokerName,
     .example = "patchctl broker unfence broker-a", .unlimited = true, .run = unfence},
    {.words = "top", .summary = "Shows rates, lag and latency by broker, topic and plugin, again and again", .options = kTop,
     .example = "patchctl top --interval 5", .run = top},
};

}  // namespace

std::span<const Command> clusterCommands() noexcept { return kCommands; }

}  // namespace patchbay::patchctl

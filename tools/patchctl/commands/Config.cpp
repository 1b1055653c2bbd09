// The commands "config …".
#include "commands/Session.h"

#include "patchbay/base/Nearest.h"
#include "patchbay/protocol/PrivateCode.h"
#include "patchbay/protocol/json/Value.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::patchctl {

namespace {

constexpr Argument kKeyMaybe[] = {{"KEY", "only this key", true}};
constexpr Argument kKey[] = {{"KEY", "name of the key"}};
constexpr Argument kSet[] = {{"KEY", "name of the key"}, {"VALUE", "what it becomes"}};
constexpr Argument kFile[] = {{"FILE", "properties file, such as a broker.conf; without it the broker's own files", true}};
constexpr Option kNamesrv[] = {{.name = "nameserver", .doc = "of the name servers, not of a broker"}};

Result<protocol::ConfigTable> runningConfig(Session& session, const Arguments& arguments, std::string& where) {
    auto client = session.client();
    if (!client) return client.error();
    if (arguments.has("nameserver")) {
        const auto servers = (*client)->nameServers();
        if (servers.empty()) return Status(StatusCode::NotFound, "no name server is configured");
        where = servers.front();
        return (*client)->nameServerConfig(where);
    }
    const auto broker = session.broker();
    if (!broker) return broker.error();
    where = broker->address;
    return (*client)->brokerConfig(where);
}

/// What there is none of, and what was probably meant.
Status noKey(const std::string& where, const std::string& key, const std::vector<std::string>& known) {
    return {StatusCode::NotFound, where + " has no key '" + key + "'" + didYouMean(key, known)};
}

/// The same of a broker. A key of the name servers is no slip of the pen.
Status noKeyOfBroker(Session& session, const std::string& where, const std::string& key, const std::vector<std::string>& known) {
    if (auto client = session.client()) {
        const auto servers = (*client)->nameServers();
        const auto config = servers.empty() ? Result<protocol::ConfigTable>(protocol::ConfigTable{}) : (*client)->nameServerConfig(servers.front());
        if (config && config->contains(key)) return {StatusCode::NotFound, where + " has no key '" + key + "', but the name server has: add --nameserver"};
    }
    return noKey(where, key, known);
}

std::vector<std::string> namesOf(const protocol::ConfigTable& config) {
    std::vector<std::string> names;
    for (const auto& [key, value] : config) names.push_back(key);
    return names;
}

Exit get(Session& session, const Arguments& arguments) {
    std::string where;
    const auto config = runningConfig(session, arguments, where);
    if (!config) return session.fail(config.error());
    Table table{{{"key", "KEY"}, {"value", "VALUE"}}, {}};
    for (const auto& [key, value] : *config) {
        if (arguments.at(0).empty() || key == arguments.at(0)) table.add({key, value});
    }
    if (table.rows.empty()) return session.fail(arguments.has("nameserver") ? noKey(where, arguments.at(0), namesOf(*config))
                                                                             : noKeyOfBroker(session, where, arguments.at(0), namesOf(*config)));
    session.out().print(table);
    return Exit::Done;
}

/// What a broker would say to a change, as far as it tells: Patchbay knows which keys are live, others only try.
Status wouldTake(Session& session, const Target& broker, const std::string& key) {
    const auto answer = session.ask(broker.address, static_cast<std::int32_t>(protocol::PrivateCode::CompareConfiguration));
    if (!answer) return answer.error().code() == StatusCode::Unsupported ? Status::ok() : answer.error();
    const auto document = json::Document::parse(answer->body);
    if (!document) return document.error();
    for (const auto item : document->root()["keys"]) {
        if (item.value["key"].text().value_or("") != key || item.value["live"].boolean().value_or(false)) continue;
        return {StatusCode::Denied, key + " of " + item.value["owner"].text().value_or("the kernel") + " needs a restart"};
    }
    return Status::ok();
}

Exit set(Session& session, const Arguments& arguments) {
    auto client = session.client();
    if (!client) return session.fail(client.error());
    const protocol::ConfigTable change{{arguments.at(0), arguments.at(1)}};
    if (arguments.has("nameserver")) {
        if (!arguments.dryRun()) {
            if (const auto changed = (*client)->updateNameServerConfig(change); !changed) return session.fail(changed);
        }
        Record record;
        record.add("key", arguments.at(0));
        record.add("value", arguments.at(1));
        record.add("outcome", std::string(arguments.dryRun() ? "nothing was changed" : "changed"));
        session.out().print(record);
        return Exit::Done;
    }
    auto brokers = session.masters();
    if (!brokers) return session.fail(brokers.error());
    Outcomes outcomes(session);
    for (const auto& broker : *brokers) {
        const auto config = (*client)->brokerConfig(broker.address);
        if (!config) {
            outcomes.add(broker, config.error());
        } else if (!config->contains(arguments.at(0))) {
            outcomes.add(broker, noKeyOfBroker(session, "it", arguments.at(0), namesOf(*config)));
        } else {
            outcomes.add(broker, arguments.dryRun() ? wouldTake(session, broker, arguments.at(0)) : (*client)->updateBrokerConfig(broker.address, change));
        }
    }
    return outcomes.print(arguments.dryRun() ? "would be changed" : "changed");
}

/// Asks a Patchbay broker for every key with its sources.
Result<std::string> compared(Session& session) {
    const auto broker = session.broker();
    if (!broker) return broker.error();
    const auto answer = session.ask(broker->address, static_cast<std::int32_t>(protocol::PrivateCode::CompareConfiguration));
    if (!answer && answer.error().code() == StatusCode::Unsupported) {
        return Status(StatusCode::Unsupported, broker->address + " does not say where its values come from; only Patchbay with the plugin 'control' does");
    }
    if (!answer) return answer.error();
    return answer->body;
}

std::string textOf(const json::Value& fact, std::string_view name) { return fact[name].text().value_or(""); }

/// Lines that choose a provider or switch a plugin.
bool byFilesAlone(std::string_view key) {
    return key.starts_with("service.") || (key.starts_with("plugin.") && key.ends_with(".enabled"));
}

std::optional<std::string> lineThatRuns(Session& session, const std::string& key) {
    const auto body = compared(session);
    if (!body) return std::nullopt;
    const auto document = json::Document::parse(*body);
    if (!document) return std::nullopt;
    for (const auto item : document->root()["keys"]) {
        if (textOf(item.value, "key") == key) return textOf(item.value, "value");
    }
    return std::nullopt;
}

Exit diffFile(Session& session, const Arguments& arguments) {
    const auto text = session.files().readAll(arguments.at(0));
    if (!text) return session.fail(text.error());
    const auto wanted = protocol::parseConfigText(*text);
    if (!wanted) return session.fail(wanted.error());
    std::string where;
    const auto config = runningConfig(session, arguments, where);
    if (!config) return session.fail(config.error());
    Table table{{{"key", "KEY"}, {"file", "FILE"}, {"running", "RUNNING"}}, {}};
    for (const auto& [key, value] : *wanted) {
        const auto at = config->find(key);
        if (at == config->end() && byFilesAlone(key)) {
            // A broker's own table of keys has no such line; only Patchbay tells what runs.
            const auto running = arguments.has("nameserver") ? std::nullopt : lineThatRuns(session, key);
            if (running && *running != value) table.add({key, value, *running});
        } else if (at == config->end()) {
            table.add({key, value, Cell()});
        } else if (at->second != value) {
            table.add({key, value, at->second});
        }
    }
    if (!table.rows.empty() || session.out().json()) session.out().print(table);
    if (table.rows.empty()) session.out().say("no difference");
    return table.rows.empty() ? Exit::Done : Exit::Different;
}

Exit diff(Session& session, const Arguments& arguments) {
    if (!arguments.at(0).empty()) return diffFile(session, arguments);
    const auto body = compared(session);
    if (!body) return session.fail(body.error());
    const auto document = json::Document::parse(*body);
    if (!document) return session.fail(document.error());
    Table table{{{"owner", "OWNER"}, {"key", "KEY"}, {"running", "RUNNING"}, {"file", "FILE SAYS"}, {"where", "WHERE"}, {"live", "LIVE"}}, {}};
    for (const auto item : document->root()["keys"]) {
        if (!item.value["differs"].boolean().value_or(false)) continue;
        table.add({textOf(item.value, "owner"), textOf(item.value, "key"), textOf(item.value, "value"), textOf(item.value, "fileValue"),
                   textOf(item.value, "fileWhere"), item.value["live"].boolean().value_or(false)});
    }
    if (!table.rows.empty() || session.out().json()) session.out().print(table);
    if (table.rows.empty()) session.out().say("no difference");
    return table.rows.empty() ? Exit::Done : Exit::Different;
}

Exit explain(Session& session, const Arguments& arguments) {
    const auto body = compared(session);
    if (!body) return session.fail(body.error());
    const auto document = json::Document::parse(*body);
    if (!document) return session.fail(document.error());
    std::vector<std::string> known;
    std::vector<json::Value> facts;   // a key may have several owners
    for (const auto item : document->root()["keys"]) {
        known.push_back(textOf(item.value, "key"));
        if (known.back() == arguments.at(0)) facts.push_back(item.value);
    }
    if (facts.empty()) return session.fail(noKey("the broker", arguments.at(0), known));
    const auto ofAll = [&](const char* name) {
        const auto first = textOf(facts.front(), name);
        if (std::ranges::all_of(facts, [&](const json::Value& fact) { return textOf(fact, name) == first; })) return first;
        std::string text;
        for (const auto& fact : facts) text += (text.empty() ? "" : "; ") + textOf(fact, "owner") + ": " + textOf(fact, name);
        return text;
    };
    std::string owners;
    for (const auto& fact : facts) owners += (owners.empty() ? "" : ", ") + textOf(fact, "owner");
    Record record;
    record.add("key", arguments.at(0));
    record.add("owner", owners);
    for (const char* name : {"doc", "type", "default", "value", "origin", "where", "fileValue", "fileWhere"}) record.add(name, ofAll(name));
    record.add("live", std::ranges::all_of(facts, [](const json::Value& fact) { return fact["live"].boolean().value_or(false); }));
    session.out().print(record);
    return Exit::Done;
}

/// What still differs after a reload: keys of the kernel, and of plugins with the plugin's name before them. Empty when the broker does
/// not compare.
struct Waiting {
    std::string restart;
    std::string pluginReload;
};

Waiting waiting(Session& session) {
    Waiting out;
    const auto body = compared(session);
    if (!body) return out;
    const auto document = json::Document::parse(*body);
    if (!document) return out;
    for (const auto item : document->root()["keys"]) {
        if (!item.value["differs"].boolean().value_or(false)) continue;
        const auto owner = textOf(item.value, "owner");
        std::string& list = owner == "kernel" ? out.restart : out.pluginReload;
        if (!list.empty()) list += ", ";
        if (owner != "kernel") list += owner + ": ";
        list += textOf(item.value, "key");
    }
    return out;
}

Exit reload(Session& session, const Arguments&) {
    const auto broker = session.broker();
    if (!broker) return session.fail(broker.error());
    const auto answer = session.ask(broker->address, static_cast<std::int32_t>(protocol::PrivateCode::ReloadConfiguration));
    if (!answer) return session.fail(answer.error());
    Record record;
    record.add("broker", broker->address);
    const auto left = waiting(session);
    const bool all = left.restart.empty() && left.pluginReload.empty();
    record.add("outcome", all ? "what differed in the files is in force" : "what can be changed while it runs is in force; other keys wait");
    if (!left.pluginReload.empty()) record.add("waitForPluginReload", left.pluginReload);
    if (!left.restart.empty()) record.add("waitForRestart", left.restart);
    session.out().print(record);
    return Exit::Done;
}

constexpr Command kCommands[] = {
    {.words = "config get", .summary = "Shows the configuration that runs", .arguments = kKeyMaybe, .options = kNamesrv,
     .example = "patchctl config get flushDiskType", .run = get},
    {.words = "config set", .summary = "Changes a key while it runs",
     .text = "The change is kept over restarts. Paths and plugin libraries cannot be changed so, and keys that need a restart say so. By default a "
             "broker takes changes from its own machine only.",
     .arguments = kSet, .options = kNamesrv, .example = "patchctl config set maxTransferCountOnMessageInMemory 64", .destroys = true, .run = set},
    {.words = "config diff", .summary = "Compares files with what runs",
     .text = "Without FILE the broker compares its own files (Patchbay only). Ends with 6 when there is a difference.", .arguments = kFile,
     .options = kNamesrv, .example = "patchctl config diff etc/broker.conf", .run = diff},
    {.words = "config reload", .summary = "Applies what differs between the broker's files and what runs, as SIGHUP does",
     .text = "All of it or nothing, but for keys that cannot be changed while it runs: those are named. Patchbay only.", .example = "patchctl config reload", .run = reload},
    {.words = "config explain", .summary = "Tells what a key is for, its value, and where that comes from", .text = "Patchbay only.",
     .arguments = kKey, .example = "patchctl config explain listenPort", .run = explain},
};

}  // namespace

std::span<const Command> configCommands() noexcept { return kCommands; }

}  // namespace patchbay::patchctl

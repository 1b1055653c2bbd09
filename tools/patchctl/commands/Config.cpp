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
using protocol::PrivateCode;

constexpr std::int32_t code(PrivateCode one) noexcept { return static_cast<std::int32_t>(one); }

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

/// Asks a Patchbay server for every key with its sources.
Result<std::string> comparedAt(Session& session, const std::string& address) {
    const auto answer = session.ask(address, code(PrivateCode::CompareConfiguration));
    if (!answer && answer.error().code() == StatusCode::Unsupported) {
        return Status(StatusCode::Unsupported, address + " does not say where its values come from; only Patchbay with the plugin 'control' does");
    }
    if (!answer) return answer.error();
    return answer->body;
}

Result<std::string> compared(Session& session) {
    const auto broker = session.broker();
    if (!broker) return broker.error();
    return comparedAt(session, broker->address);
}

std::string textOf(const json::Value& fact, std::string_view name) { return fact[name].text().value_or(""); }

bool isTrue(const json::Value& fact, std::string_view name) { return fact[name].boolean().value_or(false); }

/// What a server tells of one key. Where a plugin has the key as well as the kernel it is the plugin that acts on it.
struct Fact {
    std::string owner;
    std::string value;
    std::string where;       ///< of the value that runs
    std::string fileValue;   ///< that the next start reads
    std::string fileWhere;
    bool live = false;
    bool differs = false;
};

std::optional<Fact> factAt(Session& session, const std::string& address, const std::string& key) {
    const auto body = comparedAt(session, address);
    if (!body) return std::nullopt;
    const auto document = json::Document::parse(*body);
    if (!document) return std::nullopt;
    std::optional<Fact> found;
    for (const auto item : document->root()["keys"]) {
        const auto& fact = item.value;
        if (textOf(fact, "key") != key || (found && found->owner != "kernel")) continue;
        found = Fact{textOf(fact, "owner"),     textOf(fact, "value"),     textOf(fact, "where"),     textOf(fact, "fileValue"),
                     textOf(fact, "fileWhere"), isTrue(fact, "live"), isTrue(fact, "differs")};
    }
    return found;
}

/// Lines that choose a provider or switch a plugin.
bool byFilesAlone(std::string_view key) {
    return key.starts_with("service.") || (key.starts_with("plugin.") && key.ends_with(".enabled"));
}

/// How such a line is changed.
Status otherWay(const std::string& key) {
    if (key.starts_with("service.")) return {StatusCode::Denied, key + " is a line of the main file; change it there, then 'patchctl config reload'"};
    const auto name = key.substr(7, key.size() - 15);   // between "plugin." and ".enabled"
    return {StatusCode::Denied, "use 'patchctl plugin enable " + name + "' or 'patchctl plugin disable " + name + "'"};
}

/// A server that a change is meant for.
struct Place {
    Target target;
    std::string listener;   ///< "broker" or "namesrv"
};

Result<std::vector<Place>> places(Session& session, const Arguments& arguments) {
    std::vector<Place> all;
    if (arguments.has("nameserver")) {
        auto client = session.client();
        if (!client) return client.error();
        for (const auto& address : (*client)->nameServers()) all.push_back({{"", address, address, 0}, "namesrv"});
        if (all.empty()) return Status(StatusCode::NotFound, "no name server is configured");
        return all;
    }
    const auto brokers = session.masters();
    if (!brokers) return brokers.error();
    for (const auto& broker : *brokers) all.push_back({broker, "broker"});
    return all;
}

/// What the server would answer to the change. Unsupported when it does not say so beforehand.
Status wouldTake(Session& session, const Place& place, const std::string& key, const std::string& value) {
    const auto answer = session.ask(place.target.address, code(PrivateCode::CheckConfiguration),
                                    {{"key", key}, {"value", value}, {"listener", place.listener}});
    return answer ? Status::ok() : answer.error();
}

Status change(Session& session, const Place& place, const std::string& key, const std::string& value) {
    auto client = session.client();
    if (!client) return client.error();
    const auto request = place.listener == "broker" ? protocol::RequestCode::UpdateBrokerConfig : protocol::RequestCode::UpdateNamesrvConfig;
    const auto done = session.ask(place.target.address, static_cast<std::int32_t>(request), {}, protocol::configText({{key, value}}));
    if (done) return Status::ok();
    if (done.error().code() != StatusCode::Denied) return done.error();
    // RocketMQ's words for it do not tell why.
    const auto why = wouldTake(session, place, key, value);
    return why.code() == StatusCode::Denied ? why : done.error();
}

/// A word of the command line wins over what is kept of a change.
std::string untilRestart(Session& session, const Place& place, const std::string& key) {
    const auto fact = factAt(session, place.target.address, key);
    if (!fact || !fact->fileWhere.starts_with("-D")) return {};
    return "; until the next start only: its command line (" + fact->fileWhere + "=" + fact->fileValue + ") wins then";
}

/// Changes the key at one server, or asks whether it could be. What is to be known of it besides goes to `note`.
Status setAt(Session& session, const Place& place, const Arguments& arguments, std::string& note) {
    const std::string& key = arguments.at(0);
    const bool ofBroker = place.listener == "broker";
    auto client = session.client();
    if (!client) return client.error();
    const auto& address = place.target.address;
    const auto config = ofBroker ? (*client)->brokerConfig(address) : (*client)->nameServerConfig(address);
    if (!config) return config.error();
    if (!config->contains(key)) return ofBroker ? noKeyOfBroker(session, "it", key, namesOf(*config)) : noKey(address, key, namesOf(*config));
    auto status = arguments.dryRun() ? wouldTake(session, place, key, arguments.at(1)) : change(session, place, key, arguments.at(1));
    if (arguments.dryRun() && status.code() == StatusCode::Unsupported) {
        note = "; whether the value would be taken is not known: this server does not say so beforehand";
        return Status::ok();
    }
    if (status) note = untilRestart(session, place, key);
    return status;
}

Exit set(Session& session, const Arguments& arguments) {
    if (byFilesAlone(arguments.at(0))) return session.fail(otherWay(arguments.at(0)));
    const auto all = places(session, arguments);
    if (!all) return session.fail(all.error());
    std::string note;
    if (!arguments.has("nameserver")) {
        Outcomes outcomes(session);
        for (const auto& place : *all) {
            note.clear();
            const auto status = setAt(session, place, arguments, note);
            outcomes.add(place.target, status, note);
        }
        return outcomes.print(arguments.dryRun() ? "would be changed" : "changed");
    }
    for (const auto& place : *all) {
        if (const auto status = setAt(session, place, arguments, note); !status) return session.fail(status);
    }
    Record record;
    record.add("key", arguments.at(0));
    record.add("value", arguments.at(1));
    record.add("outcome", (arguments.dryRun() ? "nothing was changed" : "changed") + note);
    session.out().print(record);
    return Exit::Done;
}

/// What a key is once it is not changed at run time any more.
std::string afterwards(Session& session, const Place& place, const std::string& key) {
    const auto fact = factAt(session, place.target.address, key);
    if (!fact) return {};
    const auto from = [](const std::string& where) { return where.empty() ? std::string(" (default)") : " (" + where + ")"; };
    if (!fact->differs) return "; it is " + fact->value + from(fact->where) + " again";
    const bool line = byFilesAlone(key);
    return "; " + fact->value + " runs until the next " + (line ? "'patchctl config reload'" : fact->owner == "kernel" ? "start" : "'patchctl plugin reload " + fact->owner + "'") +
           ", then " + fact->fileValue + from(fact->fileWhere);
}

Exit unset(Session& session, const Arguments& arguments) {
    const std::string& key = arguments.at(0);
    const auto all = places(session, arguments);
    if (!all) return session.fail(all.error());
    Outcomes outcomes(session);
    for (const auto& place : *all) {
        const auto done = session.ask(place.target.address, code(PrivateCode::UnsetConfiguration),
                                      {{"key", key}, {"dryRun", arguments.dryRun() ? "true" : "false"}});
        if (!done && done.error().code() == StatusCode::Unsupported) {
            outcomes.add(place.target, {StatusCode::Unsupported, "it does not take changes back; only Patchbay with the plugin 'control' does"});
        } else {
            outcomes.add(place.target, done ? Status::ok() : done.error(), done && !arguments.dryRun() ? afterwards(session, place, key) : "");
        }
    }
    return outcomes.print(arguments.dryRun() ? "would be taken back" : "taken back");
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
        if (!isTrue(item.value, "differs")) continue;
        table.add({textOf(item.value, "owner"), textOf(item.value, "key"), textOf(item.value, "value"), textOf(item.value, "fileValue"),
                   textOf(item.value, "fileWhere"), isTrue(item.value, "live")});
    }
    if (!table.rows.empty() || session.out().json()) session.out().print(table);
    if (table.rows.empty()) session.out().say("no difference");
    return table.rows.empty() ? Exit::Done : Exit::Different;
}

/// How a new value gets in force: by the plugin that acts on it, if there is one.
std::string takesEffect(const std::string& key, const std::vector<json::Value>& facts) {
    if (key.starts_with("service.")) return "by 'patchctl config reload'";
    if (byFilesAlone(key)) return "by 'patchctl plugin enable' and 'disable'";
    if (std::ranges::any_of(facts, [](const json::Value& fact) { return isTrue(fact, "live"); })) return "at once, by 'patchctl config set'";
    std::string reloads;
    for (const auto& fact : facts) {
        if (textOf(fact, "owner") != "kernel") reloads += (reloads.empty() ? "'patchctl plugin reload " : ", 'patchctl plugin reload ") + textOf(fact, "owner") + "'";
    }
    return "from the configuration file, by " + (reloads.empty() ? std::string("a restart") : reloads);
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
    record.add("live", std::ranges::all_of(facts, [](const json::Value& fact) { return isTrue(fact, "live"); }));
    record.add("takesEffect", takesEffect(arguments.at(0), facts));
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
        if (!isTrue(item.value, "differs")) continue;
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
    const auto answer = session.ask(broker->address, code(PrivateCode::ReloadConfiguration));
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
     .text = "The change is kept over restarts, but a value that the broker was started with (-D) wins then, which is said. Paths and plugin libraries "
             "cannot be changed so, and keys that need a restart say so, or which plugin has to be reloaded. By default a broker takes changes from its "
             "own machine only.",
     .arguments = kSet, .options = kNamesrv, .example = "patchctl config set maxTransferCountOnMessageInMemory 64", .destroys = true, .run = set},
    {.words = "config unset", .summary = "Takes back what config set changed: the file's value or the default counts again",
     .text = "At once where the key can be changed so, else with the next start. Patchbay only.", .arguments = kKey, .options = kNamesrv,
     .example = "patchctl config unset maxTransferCountOnMessageInMemory", .destroys = true, .run = unset},
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

// The commands "plugin …": Patchbay's own request codes, and a new plugin's files.
#include "commands/PluginTemplate.h"
#include "commands/Session.h"

#include "patchbay/protocol/PrivateCode.h"
#include "patchbay/protocol/json/Value.h"

#include <algorithm>

namespace patchbay::patchctl {

namespace {

using protocol::PrivateCode;

constexpr Argument kName[] = {{"NAME", "name of the plugin"}};
constexpr Option kDisable[] = {{.name = "force", .doc = "also a plugin without which nobody finds the broker, or this command its way back"}};
constexpr std::string_view kControl = "control";
constexpr std::string_view kRegistration = "registration";
constexpr std::string_view kWayBack =
    "the way back is at the broker: remove 'plugin.control.enabled = false' from STORE/config/runtime.properties and send it SIGHUP, or restart it";
constexpr Option kNew[] = {
    {.name = "directory", .kind = Kind::Text, .value = "DIR", .doc = "where its folder is made", .fallback = ".", .letter = 'd'},
    {.name = "code", .kind = Kind::Number, .value = "N", .doc = "request code that it answers", .fallback = "30001", .min = 30'000, .max = 32'767},
};

/// The answer to one of Patchbay's own codes, from the one broker that is meant.
Result<protocol::RemotingCommand> ask(Session& session, PrivateCode code, const std::string& name = {}) {
    const auto broker = session.broker();
    if (!broker) return broker.error();
    std::vector<std::pair<std::string, std::string>> fields;
    if (!name.empty()) fields.emplace_back("name", name);
    auto answer = session.ask(broker->address, static_cast<std::int32_t>(code), std::move(fields));
    if (!answer && answer.error().code() == StatusCode::Unsupported) {
        return Status(StatusCode::Unsupported, broker->address + " has no plugins to speak of: only Patchbay with the plugin 'control' does");
    }
    return answer;
}

std::string joined(const json::Value& list) {
    std::string text;
    for (const auto item : list) text += (text.empty() ? "" : " ") + item.value.text().value_or("");
    return text;
}

Exit list(Session& session, const Arguments&) {
    const auto answer = ask(session, PrivateCode::ListPlugins);
    if (!answer) return session.fail(answer.error());
    const auto document = json::Document::parse(answer->body);
    if (!document) return session.fail(document.error());
    Table table{{{"name", "NAME"}, {"version", "VERSION"}, {"state", "STATE"}, {"generation", "GENERATION"}, {"startedMs", "SINCE", Show::Time},
                 {"codes", "CODES"}, {"provides", "PROVIDES"}, {"why", "WHY"}}, {}};
    for (const auto item : document->root()["plugins"]) {
        const auto plugin = item.value;
        table.add({plugin["name"].text().value_or(""), plugin["version"].text().value_or(""), plugin["state"].text().value_or(""),
                   plugin["generation"].integer().value_or(0), plugin["startedMs"].integer().value_or(0),
                   static_cast<std::int64_t>(plugin["codes"].size()), joined(plugin["provides"]), plugin["why"].text().value_or("")});
    }
    session.out().print(table);
    return Exit::Done;
}

Exit inspect(Session& session, const Arguments& arguments) {
    const auto answer = ask(session, PrivateCode::InspectPlugin, arguments.at(0));
    if (!answer) return session.fail(answer.error());
    const auto document = json::Document::parse(answer->body);
    if (!document) return session.fail(document.error());
    const auto root = document->root();
    std::string text = root["path"].text().value_or("") + "\n" + root["manifest"].text().value_or("");
    while (text.ends_with('\n')) text.pop_back();
    for (const auto problem : root["problems"]) text += "\n" + problem.value.text().value_or("");
    if (root["problems"].size() == 0) text += "\nthis broker takes it";
    session.out().print(answer->body, text);
    return root["problems"].size() == 0 ? Exit::Done : Exit::Different;
}

Exit change(Session& session, PrivateCode code, const std::string& name, std::string_view done) {
    const auto answer = ask(session, code, name);
    if (!answer) return session.fail(answer.error());
    Record record;
    record.add("plugin", name);
    record.add("outcome", std::string(done));
    session.out().print(record);
    return Exit::Done;
}

Exit reload(Session& session, const Arguments& arguments) {
    return change(session, PrivateCode::ReloadPlugin, arguments.at(0), "the new generation serves");
}
Exit enable(Session& session, const Arguments& arguments) {
    return change(session, PrivateCode::EnablePlugin, arguments.at(0), "it serves, also after restarts");
}
/// Whether the broker has a plugin of that name.
Result<bool> isThere(Session& session, const std::string& name) {
    const auto answer = ask(session, PrivateCode::ListPlugins);
    if (!answer) return answer.error();
    const auto document = json::Document::parse(answer->body);
    if (!document) return document.error();
    for (const auto item : document->root()["plugins"]) {
        if (item.value["name"].text().value_or("") == name) return true;
    }
    return false;
}

Exit disable(Session& session, const Arguments& arguments) {
    const bool locksOut = arguments.at(0) == kControl;
    if (locksOut && !arguments.has("force")) {
        return session.fail({StatusCode::Denied, "without the plugin 'control' nothing answers 'plugin enable' either; --force switches it off all "
                                                 "the same, and then " + std::string(kWayBack)});
    }
    const bool isolates = arguments.at(0) == kRegistration;
    if (isolates && !arguments.has("force") && !arguments.dryRun()) {
        return session.fail({StatusCode::Denied, "without the plugin 'registration' the name servers forget this broker: clients send to it and consume from it "
                                                 "no more, and patchctl finds it by -b HOST:PORT only; --force switches it off all the same. To take a broker "
                                                 "out of use for writing, 'patchctl broker fence' is there"});
    }
    if (arguments.dryRun()) {
        const auto there = isThere(session, arguments.at(0));
        if (!there) return session.fail(there.error());
        if (!*there) return session.fail({StatusCode::NotFound, "the broker has no plugin '" + arguments.at(0) + "'; 'patchctl plugin list' lists them"});
        Record record;
        record.add("plugin", arguments.at(0));
        record.add("outcome", isolates ? std::string("nothing was changed; the name servers would forget this broker, so it wants --force")
                                       : std::string("nothing was changed; 'patchctl plugin list' tells which codes it serves"));
        session.out().print(record);
        return Exit::Done;
    }
    const Exit exit = change(session, PrivateCode::DisablePlugin, arguments.at(0), "it is off, also after restarts");
    if (exit == Exit::Done && locksOut) session.out().say(kWayBack);
    if (exit == Exit::Done && isolates) session.out().warn("nobody finds this broker now; the way back is 'patchctl plugin enable registration -b " + session.broker()->address + "'");
    return exit;
}

/// The bound in microseconds that this share of the counted times lies below; nothing for what is beyond the last one.
Cell quantile(const json::Value& bounds, const json::Value& counts, double share) {
    double all = 0;
    for (const auto item : counts) all += item.value.number().value_or(0);
    double below = 0;
    auto bound = bounds.begin();
    for (const auto item : counts) {
        below += item.value.number().value_or(0);
        if (all > 0 && below >= all * share) return bound == bounds.end() ? Cell() : Cell((*bound).value.integer().value_or(0));
        if (!(bound == bounds.end())) ++bound;
    }
    return {};
}

/// The mean of the counted times; nothing where there are none.
Cell meanUs(const json::Value& times) {
    std::int64_t all = 0;
    for (const auto item : times["counts"]) all += item.value.integer().value_or(0);
    return all > 0 ? Cell(times["sumUs"].integer().value_or(0) / all) : Cell();
}

Exit top(Session& session, const Arguments&) {
    const auto answer = ask(session, PrivateCode::GetMetrics);
    if (!answer) return session.fail(answer.error());
    const auto document = json::Document::parse(answer->body);
    if (!document) return session.fail(document.error());
    const auto root = document->root();
    Table table{{{"plugin", "PLUGIN"}, {"code", "CODE"}, {"listener", "LISTENER"}, {"calls", "CALLS"}, {"errors", "ERRORS"}, {"busy", "BUSY"},
                 {"open", "OPEN"}, {"queued", "QUEUED"}, {"waitUs", "WAIT US"}, {"p50Us", "P50 US <="}, {"p99Us", "P99 US <="}, {"wait99Us", "WAIT P99 US <="}}, {}};
    for (const auto item : root["requests"]) {
        const auto request = item.value;
        const auto number = [&](std::string_view name) { return request[name].integer().value_or(0); };
        if (number("calls") == 0) continue;
        table.add({request["plugin"].text().value_or(""), number("code"), request["listener"].text().value_or(""), number("calls"), number("errors"),
                   number("busy"), number("calls") - number("answered"), number("queued"), meanUs(request["wait"]),
                   quantile(root["boundsUs"], request["latency"]["counts"], 0.5),
                   quantile(root["boundsUs"], request["latency"]["counts"], 0.99), quantile(root["boundsUs"], request["wait"]["counts"], 0.99)});
    }
    std::ranges::sort(table.rows, [](const auto& a, const auto& b) { return a[3] > b[3]; });
    session.out().print(table);
    return Exit::Done;
}

Exit makeNew(Session& session, const Arguments& arguments) {
    const std::string& name = arguments.at(0);
    const bool valid = !name.empty() && name.size() <= 40 && std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }) &&
                       name.front() >= 'a' && name.back() != '-';
    if (!valid) return session.fail({StatusCode::InvalidArgument, "a plugin's name is made of a-z, 0-9 and -, and begins with a letter"});
    const std::string folder = arguments.text("directory") + "/" + name;
    if (session.files().exists(folder)) return session.fail({StatusCode::AlreadyExists, folder + " exists"});
    if (const auto made = session.files().makeDirectories(folder); !made) return session.fail(made);
    Table table{{{"file", "FILE"}}, {}};
    for (const auto& file : pluginTemplate(name, static_cast<std::int32_t>(arguments.number("code")))) {
        const std::string path = folder + "/" + file.name;
        if (const auto written = session.files().replaceAtomically(path, file.content, false); !written) return session.fail(written);
        table.add({path});
    }
    session.out().print(table);
    return Exit::Done;
}

constexpr Command kCommands[] = {
    {.words = "plugin list", .summary = "Lists the plugins of a broker and what they serve", .example = "patchctl plugin list", .run = list},
    {.words = "plugin inspect", .summary = "Reads the installed library of a plugin and says whether the broker would take it",
     .text = "Ends with 6 when it would not.", .arguments = kName, .example = "patchctl plugin inspect send", .run = inspect},
    {.words = "plugin reload", .summary = "Exchanges a plugin for its installed library, while it serves",
     .text = "When the new one cannot start, the old one goes on.", .arguments = kName, .example = "patchctl plugin reload send", .run = reload},
    {.words = "plugin enable", .summary = "Switches a plugin on", .arguments = kName, .example = "patchctl plugin enable metrics", .run = enable},
    {.words = "plugin disable", .summary = "Switches a plugin off",
     .text = "Without the plugin 'control' the plugin commands get no answer, and without 'registration' no client finds the broker, so they want --force.", .arguments = kName, .options = kDisable, .example = "patchctl plugin disable reply --dry-run",
     .destroys = true, .run = disable},
    {.words = "plugin top", .summary = "Shows calls, errors, queue and latency by plugin and request code",
     .text = "OPEN are requests that are served, queued or held now; QUEUED are those of them in an executor's queue. WAIT US is how long requests "
             "have waited there on average, WAIT P99 US what 99 of 100 did not wait longer than. Codes that are served where they arrive have no queue.", .example = "patchctl plugin top --json", .run = top},
    {.words = "plugin new", .summary = "Writes the files of a new plugin: code, a test, build, configuration", .arguments = kName, .options = kNew,
     .example = "patchctl plugin new greeting --directory /tmp", .run = makeNew},
};

}  // namespace

std::span<const Command> pluginCommands() noexcept { return kCommands; }

}  // namespace patchbay::patchctl

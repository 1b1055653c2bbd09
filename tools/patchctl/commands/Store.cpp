// The commands "store …": stores on the disk, without a broker.
#include "commands/Session.h"

#include "patchbay/storetool/StoreConvert.h"
#include "patchbay/storetool/StoreTool.h"

#include <array>
#include <cstdio>

namespace patchbay::patchctl {

namespace {

constexpr Argument kDirectory[] = {{"DIRECTORY", "storePathRootDir: what holds commitlog/"}};
constexpr Argument kDatabase[] = {{"DATABASE", "messages.db of storage-sqlite"}};
constexpr Argument kBackup[] = {{"DATABASE", "messages.db of storage-sqlite"}, {"TARGET", "file that is made"}};
constexpr Argument kConvert[] = {{"FROM", "directory: what holds commitlog/, or messages.db"}, {"TO", "directory that is made, or holds no store"}};
constexpr Option kLogs[] = {
    {.name = "commit-log", .kind = Kind::Text, .value = "DIR", .doc = "storePathCommitLog, when it is elsewhere; may be given several times"},
};
constexpr Option kDump[] = {
    {.name = "commit-log", .kind = Kind::Text, .value = "DIR", .doc = "storePathCommitLog, when it is elsewhere; may be given several times"},
    {.name = "topic", .kind = Kind::Text, .value = "TOPIC", .doc = "only this topic", .letter = 't'},
    {.name = "queue", .kind = Kind::Number, .value = "N", .doc = "only this queue", .fallback = "-1", .letter = 'q', .min = -1, .max = 65'536},
    {.name = "begin", .kind = Kind::Text, .value = "TIME", .doc = "stored from then on"},
    {.name = "end", .kind = Kind::Text, .value = "TIME", .doc = "stored until then"},
    {.name = "max", .kind = Kind::Number, .value = "N", .doc = "not more than so many; 0 is all", .fallback = "0", .min = 0},
    {.name = "bodies", .doc = "with what was sent"},
};
constexpr Option kConvertOptions[] = {
    {.name = "from-kind", .kind = Kind::Choice, .value = "KIND", .doc = "kind of the source; without it, by what lies there", .choices = "mmap sqlite"},
    {.name = "to-kind", .kind = Kind::Choice, .value = "KIND", .doc = "kind of the target; without it, the other one", .choices = "mmap sqlite"},
    {.name = "segment-bytes", .kind = Kind::Number, .value = "BYTES", .doc = "mappedFileSizeCommitLog of the broker that will use an mmap store",
     .fallback = "1073741824", .min = 1 << 16},
    {.name = "delay-levels", .kind = Kind::Text, .value = "LEVELS",
     .doc = "messageDelayLevel of the broker that will use an mmap store, when it is not the default"},
    {.name = "batch-topic", .kind = Kind::Text, .value = "TOPIC",
     .doc = "topic with queue.type=BatchCQ, which needs batch queues in an mmap store; may be given several times"},
    {.name = "leave-out", .kind = Kind::Text, .value = "TOPIC", .doc = "topic that is not copied; may be given several times"},
};

storetool::StoreToolOptions optionsOf(Session& session, const Arguments& arguments) {
    storetool::StoreToolOptions options;
    options.directory = arguments.at(0);
    options.commitLogs = arguments.all("commit-log");
    options.json = session.out().json();
    return options;
}

/// Lines go out as they come: a dump may be longer than memory. In JSON each is an object of its own.
storetool::LineSink lines(Session& session) {
    return [&session](std::string_view line) {
        session.out().print(line, line);
        return true;
    };
}

storetool::ToolWatcher watcher(Session& session) {
    return [&session](const storetool::ToolProgress& at) {
        session.out().progress("MB of the " + std::string(at.what), at.done >> 20, at.total >> 20);
        return true;
    };
}

Exit info(Session& session, const Arguments& arguments) {
    const auto found = storetool::storeInfo(optionsOf(session, arguments), lines(session));
    return found ? Exit::Done : session.fail(found.error());
}

Exit verdict(Session& session, const Result<storetool::CheckReport>& report) {
    if (!report) return session.fail(report.error());
    return report->allIsWell() ? Exit::Done : Exit::Different;
}

Exit check(Session& session, const Arguments& arguments) {
    return verdict(session, storetool::storeCheck(optionsOf(session, arguments), lines(session), watcher(session)));
}

Exit repair(Session& session, const Arguments& arguments) {
    if (!arguments.dryRun()) {
        return session.fail({StatusCode::Unsupported, "a broker repairs its store when it starts; --dry-run tells what it would do"});
    }
    return verdict(session, storetool::storeRepairDryRun(optionsOf(session, arguments), lines(session), watcher(session)));
}

Exit dump(Session& session, const Arguments& arguments) {
    storetool::DumpFilter filter;
    filter.topic = arguments.text("topic");
    filter.queueId = static_cast<std::int32_t>(arguments.number("queue"));
    filter.bodies = arguments.has("bodies");
    if (arguments.number("max") > 0) filter.messagesMax = arguments.number("max");
    for (const auto& [name, into] : {std::pair{"begin", &filter.fromMs}, std::pair{"end", &filter.toMs}}) {
        if (!arguments.has(name)) continue;
        const auto time = parseTime(arguments.text(name), session.clock().wallMs());
        if (!time) return session.fail(time.error());
        *into = *time;
    }
    const auto dumped = storetool::storeDump(optionsOf(session, arguments), filter, lines(session), watcher(session));
    if (!dumped) return session.fail(dumped.error());
    session.out().say(counted(static_cast<std::int64_t>(*dumped), "message"));
    return Exit::Done;
}

std::string hex(std::uint64_t number) {
    std::array<char, 20> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(number));
    return text.data();
}

storetool::StoreKind other(storetool::StoreKind kind) {
    return kind == storetool::StoreKind::Mmap ? storetool::StoreKind::Sqlite : storetool::StoreKind::Mmap;
}

Exit convert(Session& session, const Arguments& arguments) {
    storetool::ConvertOptions options;
    options.from.directory = arguments.at(0);
    options.to.directory = arguments.at(1);
    const bool database = session.files().exists(arguments.at(0) + "/messages.db");
    if (!database && !arguments.has("from-kind") && !session.files().exists(arguments.at(0) + "/commitlog")) {
        return session.fail({StatusCode::NotFound, arguments.at(0) + " holds neither commitlog/ nor messages.db"});
    }
    options.from.kind = storetool::parseStoreKind(arguments.text("from-kind"))
                            .value_or(database ? storetool::StoreKind::Sqlite : storetool::StoreKind::Mmap);
    options.to.kind = storetool::parseStoreKind(arguments.text("to-kind")).value_or(other(options.from.kind));
    options.segmentBytes = arguments.number("segment-bytes");
    if (arguments.has("delay-levels")) {
        auto levels = protocol::DelayLevels::parse(arguments.text("delay-levels"));
        if (!levels) return session.fail(levels.error());
        options.delayLevels = std::move(*levels);
    }
    options.batchTopics = arguments.all("batch-topic");
    options.leaveOut = arguments.all("leave-out");
    if (arguments.dryRun()) {
        if (const auto begins = storetool::checkConversion(options); !begins) return session.fail(begins);
        Record record;
        record.add("from", options.from.directory);
        record.add("fromKind", std::string(toString(options.from.kind)));
        record.add("to", options.to.directory);
        record.add("toKind", std::string(toString(options.to.kind)));
        record.add("outcome", std::string("nothing was copied"));
        session.out().print(record);
        return Exit::Done;
    }
    const auto report = storetool::convertStore(options, [&session](const storetool::ConvertProgress& at) {
        session.out().progress(at.phase == storetool::ConvertProgress::Phase::Copy ? "messages copied" : "messages compared", at.messages,
                               at.messagesTotal);
        return true;
    });
    if (!report) return session.fail(report.error());
    Record record;
    record.add("messages", report->messages);
    record.add("queues", report->queues);
    record.add("bytes", report->bytes, Show::Bytes);
    record.add("digest", hex(report->digest));
    record.add("leftOut", static_cast<std::int64_t>(report->leftOut.size()));
    session.out().print(record);
    for (const auto& queue : report->leftOut) session.out().say("left out: " + queue);
    for (const auto& note : report->notes) session.out().say("note: " + note);
    return Exit::Done;
}

Exit backup(Session& session, const Arguments& arguments) {
    const auto report = storetool::backupSqlite(arguments.at(0), arguments.at(1), [&session](const storetool::BackupProgress& at) {
        session.out().progress("pages", at.pages, at.pagesTotal);
        return true;
    });
    if (!report) return session.fail(report.error());
    Record record;
    record.add("target", arguments.at(1));
    record.add("bytes", report->bytes, Show::Bytes);
    record.add("messages", report->messages);
    session.out().print(record);
    return Exit::Done;
}

Exit checkDatabase(Session& session, const Arguments& arguments) {
    const auto problems = storetool::checkSqlite(arguments.at(0));
    if (!problems) return session.fail(problems.error());
    Table table{{{"problem", "PROBLEM"}}, {}};
    for (const auto& problem : *problems) table.add({problem});
    if (!problems->empty() || session.out().json()) session.out().print(table);
    if (problems->empty()) session.out().say("nothing is wrong");
    return problems->empty() ? Exit::Done : Exit::Different;
}

constexpr std::string_view kStopped = "No broker may use the directory. In JSON each line is an object.";

constexpr Command kCommands[] = {
    {.words = "store info", .summary = "Tells sizes, ages and counts of a commit-log store", .text = kStopped, .arguments = kDirectory, .options = kLogs,
     .example = "patchctl store info /data/store", .run = info},
    {.words = "store check", .summary = "Reads a whole commit-log store, compares its log, queues and index, and tells what the next start makes of it",
     .text = "Ends with 6 when something is wrong. No broker may use the directory. In JSON each line is an object.", .arguments = kDirectory,
     .options = kLogs, .example = "patchctl store check /data/store", .run = check},
    {.words = "store dump", .summary = "Lists the messages of a commit-log store", .text = kStopped, .arguments = kDirectory, .options = kDump,
     .example = "patchctl store dump /data/store --topic Orders --max 10", .run = dump},
    {.words = "store repair", .summary = "Tells what the next start would cut, rebuild or set aside, and what it would leave",
     .text = "Only with --dry-run: a broker repairs its store itself when it starts. Ends with 6 when there is anything to tell.", .arguments = kDirectory, .options = kLogs,
     .example = "patchctl store repair /data/store --dry-run", .destroys = true, .run = repair},
    {.words = "store convert", .summary = "Copies a store of one kind into one of the other",
     .text = "No broker may run on either. Every message keeps its queue offset and store time; both stores are read again and compared. The target "
             "appears at the end, whole. Batches of batch queues become single messages, as consumers see them. Copy the config folder yourself.",
     .arguments = kConvert, .options = kConvertOptions, .example = "patchctl store convert /data/store /data/store-sqlite/sqlite", .destroys = true,
     .run = convert},
    {.words = "store backup", .summary = "Copies an SQLite store as it is at one moment, while the broker goes on", .arguments = kBackup,
     .example = "patchctl store backup /data/store/sqlite/messages.db /backup/messages.db", .run = backup},
    {.words = "store check-database", .summary = "Lets SQLite check a database", .text = "Ends with 6 when something is wrong.", .arguments = kDatabase,
     .example = "patchctl store check-database /data/store/sqlite/messages.db", .run = checkDatabase},
};

}  // namespace

std::span<const Command> storeCommands() noexcept { return kCommands; }

}  // namespace patchbay::patchctl

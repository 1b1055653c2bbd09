#include "log/LogSettings.h"

#include "config/PropertiesFile.h"
#include "config/ConfigSources.h"

#include <optional>

namespace patchbay::kernel {

using plugin::ConfigType;
using plugin::LogLevel;

namespace {

constexpr std::string_view kLevelWords = "trace debug info warn error";

constexpr plugin::ConfigKey kKeys[] = {
    {"level", ConfigType::Text, "info", "Least level that is written. `level.PATH` sets it for one part, e.g. level.plugin.pull.", 0,
     std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), "", kLevelWords},
    {"file", ConfigType::Path, "", "File that is written to; unset: standard error."},
    {"fileBytesMax", ConfigType::Bytes, "64M", "Size at which a new file is begun.", 0, 64 << 10, std::int64_t{1} << 40},
    {"fileCount", ConfigType::Int, "5", "Old files that are kept.", 0, 0, 1000},
    {"queueLines", ConfigType::Int, "1024", "Lines that may wait for the disk; beyond it the oldest are dropped and counted.", 0, 16,
     1 << 20},
    {"queueBytes", ConfigType::Bytes, "4M", "Bytes of the lines that may wait for the disk.", 0, 64 << 10, 1 << 30},
};

std::optional<LogLevel> levelFrom(std::string_view word) {
    if (word == "trace") return LogLevel::Trace;
    if (word == "debug") return LogLevel::Debug;
    if (word == "info") return LogLevel::Info;
    if (word == "warn") return LogLevel::Warn;
    if (word == "error") return LogLevel::Error;
    return std::nullopt;
}

}  // namespace

std::span<const plugin::ConfigKey> logKeys() noexcept {
    return kKeys;
}

LogLevel LogSettings::levelOf(std::string_view path) const {
    // The longest prefix that ends at a dot decides.
    while (!path.empty()) {
        const auto found = levels.find(path);
        if (found != levels.end()) return found->second;
        const auto dot = path.rfind('.');
        path = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
    }
    return level;
}

LogSettings LogSettings::read(FileSystem& files, const std::string& path, Problems& problems) {
    const auto file = PropertiesFile::read(files, path, problems);
    LogSettings settings;
    std::vector<Assignment> assignments;
    std::map<std::string, int, std::less<>> seen;
    for (const auto& entry : file.entries()) {
        const auto where = file.where(entry);
        if (!seen.emplace(entry.key, entry.line).second) {
            problems.add(ErrorNumber::DuplicateKey, where, entry.key + " is set already");
        } else if (entry.trailingComment) {
            problems.add(ErrorNumber::TrailingComment, where, entry.key + ": '" + entry.value + "'");
        } else if (entry.key.starts_with("level.") && entry.key.size() > 6) {
            if (const auto level = levelFrom(entry.value)) {
                settings.levels[entry.key.substr(6)] = *level;
            } else {
                problems.add(ErrorNumber::LogSettings, where,
                             entry.key + ": '" + entry.value + "' is none of: " + std::string(kLevelWords));
            }
        } else {
            assignments.push_back({entry.key, entry.value, where, directoryOf(path), Origin::MainFile, false});
        }
    }
    const auto values = ConfigValues::resolve(kKeys, assignments, directoryOf(path), "log", problems);
    for (const auto& assignment : assignments) {
        if (values.find(assignment.key) == nullptr) {
            problems.add(ErrorNumber::LogSettings, assignment.where, "unknown key '" + assignment.key + "'");
        }
    }
    settings.level = levelFrom(values.text("level")).value_or(LogLevel::Info);
    settings.file = values.text("file");
    settings.fileBytesMax = static_cast<std::size_t>(values.integer("fileBytesMax"));
    settings.fileCount = static_cast<std::size_t>(values.integer("fileCount"));
    settings.queueBytes = static_cast<std::size_t>(values.integer("queueBytes"));
    settings.queueLines = static_cast<std::size_t>(values.integer("queueLines"));
    return settings;
}

}  // namespace patchbay::kernel

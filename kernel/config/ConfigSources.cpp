#include "config/ConfigSources.h"

#include "config/PropertiesFile.h"

#include <algorithm>
#include <filesystem>

namespace patchbay::kernel {

namespace {

constexpr std::string_view kServicePrefix = "service.";
constexpr std::string_view kExecutorPrefix = "executor.";
constexpr std::string_view kSwitchPrefix = "plugin.";
constexpr std::string_view kSwitchEnd = ".enabled";
constexpr std::string_view kPluginFileEnd = ".conf";
constexpr plugin::ConfigKey kFaultsKey{"disableAfterFaults", plugin::ConfigType::Int, "0", "", 0, 0, 1'000'000};

/// The entries of a file as assignments; a key that stands twice, which goes to `repeated`, and a comment behind a value are problems.
std::vector<Assignment> assignmentsOf(const PropertiesFile& file, Origin origin, std::vector<Assignment>& repeated, Problems& problems) {
    std::vector<Assignment> list;
    std::map<std::string_view, int> seen;
    const std::string directory = directoryOf(file.path());
    for (const auto& entry : file.entries()) {
        const auto [first, fresh] = seen.emplace(entry.key, entry.line);
        if (!fresh) {
            problems.add(ErrorNumber::DuplicateKey, file.where(entry),
                         entry.key + " is set already in line " + std::to_string(first->second));
        }
        if (entry.trailingComment) {
            problems.add(ErrorNumber::TrailingComment, file.where(entry),
                         entry.key + ": a comment must stand on a line of its own: '" + entry.value + "'");
        }
        (fresh ? list : repeated).push_back({entry.key, entry.value, file.where(entry), directory, origin, entry.trailingComment});
    }
    return list;
}

bool parseSwitch(const Assignment& assignment, bool& out, Problems& problems) {
    if (assignment.value == "true" || assignment.value == "false") {
        out = assignment.value == "true";
        return true;
    }
    problems.add(ErrorNumber::WrongType, assignment.where,
                 assignment.key + ": '" + assignment.value + "' is neither true nor false");
    return false;
}

void takeRoles(const Assignment& assignment, PluginFile& out, Problems& problems) {
    std::string_view rest = assignment.value;
    out.roles.clear();
    while (!rest.empty()) {
        const auto end = std::min(rest.find_first_of(" ,"), rest.size());
        const auto word = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (word.empty()) continue;
        if (word != "namesrv" && word != "broker") {
            problems.add(ErrorNumber::NotAChoice, assignment.where, "roles: '" + std::string(word) + "' is none of: namesrv, broker");
        } else {
            out.roles.emplace_back(word);
        }
    }
}

PluginFile readPluginFile(FileSystem& files, const std::string& path, Problems& problems) {
    PluginFile result;
    result.path = path;
    result.roles = {"broker"};
    Problems unreadable;
    const auto file = PropertiesFile::read(files, path, unreadable);
    problems.append(unreadable);
    if (unreadable.has(ErrorNumber::ConfigFileUnreadable)) result.enabled = false;   // nothing is known of it, so nothing else is said
    for (auto& assignment : assignmentsOf(file, Origin::PluginFile, result.repeated, problems)) {
        if (assignment.key == "plugin") {
            result.plugin = assignment.value;
        } else if (assignment.key == "library") {
            result.library = assignment.value;
        } else if (assignment.key == "enabled") {
            if (parseSwitch(assignment, result.enabled, problems)) {
                result.enabledOrigin = assignment.origin;
                result.enabledWhere = assignment.where;
            }
        } else if (assignment.key == "optional") {
            parseSwitch(assignment, result.optional, problems);
        } else if (assignment.key == "roles") {
            takeRoles(assignment, result, problems);
        } else if (assignment.key == kFaultsKey.name) {
            ConfigValue value;
            if (const auto wrong = parseValue(KeySpec(kFaultsKey), assignment.value, "", value)) {
                problems.add(wrong->number, assignment.where, assignment.key + ": " + wrong->text);
            } else {
                result.disableAfterFaults = static_cast<std::uint32_t>(value.integer);
            }
        } else {
            result.assignments.push_back(std::move(assignment));
        }
    }
    // What is switched off may be unfinished.
    if (result.enabled && result.plugin.empty()) problems.add(ErrorNumber::PluginFileIncomplete, path, "no line `plugin = NAME`");
    if (result.library.empty()) result.library = "patchbay-" + result.plugin + ".so";
    return result;
}

/// A listing passes over them, and the plugin would be missing without a word. Editors leave such links, too, with names that begin with
/// a dot.
void refuseLinksToNothing(const std::string& directory, Problems& problems) {
    std::error_code error;
    std::vector<std::string> found;
    for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        std::error_code missing;
        if (!name.ends_with(kPluginFileEnd) || name.starts_with('.') || !at->is_symlink(missing) || at->exists(missing)) continue;
        found.push_back(directory + "/" + name);
    }
    std::sort(found.begin(), found.end());
    for (auto& path : found) {
        std::error_code unreadable;
        const std::string target = std::filesystem::read_symlink(path, unreadable).string();
        problems.add(ErrorNumber::ConfigFileUnreadable, std::move(path), "it is a link to " + target + ", which does not exist");
    }
}

}  // namespace

bool isServiceKey(std::string_view key) noexcept {
    return key.starts_with(kServicePrefix) && key.size() > kServicePrefix.size();
}

bool isExecutorKey(std::string_view key) noexcept {
    return key.starts_with(kExecutorPrefix);
}

std::optional<std::string_view> switchedPlugin(std::string_view key) noexcept {
    if (!key.starts_with(kSwitchPrefix) || !key.ends_with(kSwitchEnd) || key.size() <= kSwitchPrefix.size() + kSwitchEnd.size()) return std::nullopt;
    return key.substr(kSwitchPrefix.size(), key.size() - kSwitchPrefix.size() - kSwitchEnd.size());
}

std::string switchKey(std::string_view plugin) {
    return std::string(kSwitchPrefix) + std::string(plugin) + std::string(kSwitchEnd);
}

std::optional<std::string> applyExecutorKey(std::string_view key, std::string_view value, ExecutorOverrides& out) {
    key.remove_prefix(kExecutorPrefix.size());
    const auto dot = key.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return "not of the form executor.NAME.threads";
    const auto name = key.substr(0, dot);
    const auto field = key.substr(dot + 1);
    const plugin::ConfigKey table[] = {
        {"threads", plugin::ConfigType::Int, "1", "", 0, 1, 1024},
        {"queueCapacity", plugin::ConfigType::Int, "1", "", 0, 1, 10'000'000},
        {"maxQueueWait", plugin::ConfigType::Millis, "0", "", 0, 0, 3'600'000},
    };
    for (const auto& candidate : table) {
        if (candidate.name != field) continue;
        ConfigValue parsed;
        if (const auto wrong = parseValue(KeySpec(candidate), value, "", parsed)) return wrong->text;
        auto& entry = out[std::string(name)];
        if (field == "threads") entry.threads = static_cast<std::uint32_t>(parsed.integer);
        if (field == "queueCapacity") entry.queueCapacity = static_cast<std::uint32_t>(parsed.integer);
        if (field == "maxQueueWait") entry.maxQueueWait = std::chrono::milliseconds(parsed.integer);
        return std::nullopt;
    }
    return "'" + std::string(field) + "' is none of: threads, queueCapacity, maxQueueWait";
}

ConfigSources ConfigSources::read(FileSystem& files, const std::string& mainPath, const std::vector<std::string>& definitions,
                                  const std::string& workingDirectory, Problems& problems) {
    ConfigSources sources;
    sources.mainPath_ = mainPath;
    sources.mainDirectory_ = directoryOf(mainPath);
    sources.common_ = assignmentsOf(PropertiesFile::read(files, mainPath, problems), Origin::MainFile, sources.repeated_, problems);
    for (const auto& definition : definitions) {
        const auto equals = definition.find('=');
        if (equals == std::string::npos || equals == 0) {
            problems.add(ErrorNumber::PropertySyntax, "-D", "'" + definition + "' is not of the form key=value");
            continue;
        }
        const auto key = definition.substr(0, equals);
        sources.common_.push_back({key, definition.substr(equals + 1), "-D " + key, workingDirectory, Origin::CommandLine, false});
    }
    sources.takeChoices();
    return sources;
}

std::size_t ConfigSources::addRunTimeChanges(FileSystem& files, const std::string& path, Problems& problems) {
    if (!files.exists(path)) return 0;
    auto changes = assignmentsOf(PropertiesFile::read(files, path, problems), Origin::RunTime, repeated_, problems);
    const auto commandLine = std::find_if(common_.begin(), common_.end(),
                                          [](const Assignment& a) { return a.origin == Origin::CommandLine; });
    common_.insert(commandLine, changes.begin(), changes.end());
    return changes.size();
}

void ConfigSources::readPluginFiles(FileSystem& files, const std::string& directory, Problems& problems) {
    const auto entries = files.list(directory);
    if (!entries) {
        problems.add(ErrorNumber::ConfigFileUnreadable, directory, entries.error().message());
        return;
    }
    for (const auto& entry : *entries) {
        if (!entry.name.ends_with(kPluginFileEnd)) continue;
        if (entry.directory) {
            problems.add(ErrorNumber::ConfigFileUnreadable, directory + "/" + entry.name, "it is a directory, not a file");
        } else {
            pluginFiles_.push_back(readPluginFile(files, directory + "/" + entry.name, problems));
        }
    }
    refuseLinksToNothing(directory, problems);
    applySwitches(problems);
    for (auto& file : pluginFiles_) takeDefaultChoices(file);
}

bool ConfigSources::switchPlugin(std::string_view plugin, bool enabled, Origin origin, const std::string& where) {
    bool found = false;
    for (auto& file : pluginFiles_) {
        if (file.plugin != plugin) continue;
        file.enabled = enabled;
        file.enabledOrigin = origin;
        file.enabledWhere = where;
        found = true;
    }
    return found;
}

void ConfigSources::applySwitches(Problems& problems) {
    for (const auto& assignment : common_) {
        const auto plugin = switchedPlugin(assignment.key);
        if (!plugin) continue;
        bool enabled = false;
        if (!parseSwitch(assignment, enabled, problems)) continue;
        // A plugin that is not installed any more cannot be switched on, but a change made at run time must not stop the start.
        if (!switchPlugin(*plugin, enabled, assignment.origin, assignment.where) && assignment.origin != Origin::RunTime) {
            problems.add(ErrorNumber::UnknownKey, assignment.where, assignment.key + ": no file of plugins.d is of plugin " + std::string(*plugin));
        }
    }
}

std::vector<Assignment> ConfigSources::assignmentsFor(const PluginFile& file) const {
    auto list = file.assignments;
    list.insert(list.end(), common_.begin(), common_.end());
    return list;
}

ExecutorOverrides ConfigSources::executorsFor(const PluginFile& file) const {
    ExecutorOverrides overrides;
    for (const auto& assignment : assignmentsFor(file)) {
        if (isExecutorKey(assignment.key)) (void)applyExecutorKey(assignment.key, assignment.value, overrides);
    }
    return overrides;
}

void ConfigSources::takeDefaultChoices(PluginFile& file) {
    std::erase_if(file.assignments, [&](const Assignment& assignment) {
        if (!isServiceKey(assignment.key)) return false;
        if (file.enabled) {
            choices_.try_emplace(assignment.key.substr(kServicePrefix.size()), ServiceChoice{assignment.value, assignment.where, true});
        }
        return true;
    });
}

void ConfigSources::takeChoices() {
    for (const auto& assignment : common_) {
        if (isServiceKey(assignment.key)) {
            choices_[assignment.key.substr(kServicePrefix.size())] = {assignment.value, assignment.where, false, assignment.origin};
        }
    }
}

}  // namespace patchbay::kernel

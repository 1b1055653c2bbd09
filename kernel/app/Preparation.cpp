#include "app/Preparation.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <unistd.h>

namespace patchbay::kernel {

namespace {

std::vector<std::string> rolesOf(const KernelSettings& settings) {
    std::vector<std::string> roles;
    if (settings.hasNamesrv) roles.emplace_back("namesrv");
    if (settings.hasBroker) roles.emplace_back("broker");
    return roles;
}

LogSettings readLogSettings(FileSystem& files, const KernelSettings& settings, const std::string& mainDirectory, Problems& problems) {
    const auto beside = mainDirectory + "/log.conf";
    if (!settings.logConfig.empty()) return LogSettings::read(files, settings.logConfig, problems);
    return files.exists(beside) ? LogSettings::read(files, beside, problems) : LogSettings();
}

std::vector<KeyOwner> ownersOf(const Preparation& prepared) {
    std::vector<KeyOwner> owners{{"kernel", &prepared.kernelValues, nullptr}};
    for (const auto& instance : prepared.host->instances()) {
        owners.push_back({instance->name(), &instance->values(), &instance->file()});
    }
    return owners;
}

/// Messages that the plugins would take and no frame can bring. What was changed at run time must not stop the start, and neither must
/// RocketMQ's file, which does not know of frameMaxLength.
void compareSizes(Preparation& out) {
    const auto* frame = out.kernelValues.find("frameMaxLength");
    for (const auto& instance : out.host->instances()) {
        const auto* body = instance->values().find("maxMessageSize");
        if (body == nullptr || body->value.integer <= frame->value.integer || body->value.origin == Origin::RunTime) continue;
        const auto text = "frameMaxLength: " + std::to_string(frame->value.integer) + " is below maxMessageSize (" +
                          std::to_string(body->value.integer) + ", " + body->value.where + "), so such messages ";
        if (frame->value.origin == Origin::Default) {
            out.notes.push_back(text + "do not come; set frameMaxLength to take them");
        } else {
            out.problems.add(ErrorNumber::OutOfRange, frame->value.where, text + "could not come");
        }
        return;
    }
}

void appendValues(std::string& out, const std::string& title, const ConfigValues& values) {
    out += "# " + title + "\n";
    for (const auto& [name, item] : values.items()) {
        const bool secret = item.spec.has(plugin::kSecret);
        out += name + " = " + (secret ? "***" : item.value.text) + "   [" + std::string(toString(item.value.origin));
        if (item.value.origin != Origin::Default) out += ", " + item.value.where;
        out += "]\n";
    }
    out += "\n";
}

}  // namespace

std::string makePrivateDirectory() {
    std::error_code ignored;
    auto base = std::filesystem::temp_directory_path(ignored);
    if (base.empty()) base = "/tmp";
    auto path = (base / "patchbay.XXXXXX").string();
    return mkdtemp(path.data()) != nullptr ? path : std::string();
}

Surroundings systemSurroundings(const std::string& executableDirectory) {
    Surroundings around;
    around.executableDirectory = executableDirectory;
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) == 0) around.hostName = name.data();
    const char* variable = std::getenv("NAMESRV_ADDR");
    if (variable != nullptr) around.namesrvAddrVariable = variable;
    return around;
}

ConfigSources readSources(FileSystem& files, const LaunchOptions& options, const KernelSettings& settings, Problems& problems) {
    std::error_code ignored;
    auto sources = ConfigSources::read(files, options.configPath, options.definitions,
                                       std::filesystem::current_path(ignored).string(), problems);
    sources.addRunTimeChanges(files, settings.runTimeChangesPath(), problems);
    sources.readPluginFiles(files, settings.pluginConfigDirectory, problems);
    return sources;
}

Preparation prepare(FileSystem& files, const LaunchOptions& options, bool checkOnly) {
    Preparation out;
    std::error_code ignored;
    const auto here = std::filesystem::current_path(ignored).string();
    out.sources = ConfigSources::read(files, options.configPath, options.definitions, here, out.problems);
    // A main file that cannot be read would only make everything else look wrong.
    if (out.problems.has(ErrorNumber::ConfigFileUnreadable)) return out;
    // Run-time changes live under the store root, which the other sources decide: that key cannot be changed at run time.
    Problems early;
    const auto first = ConfigValues::resolve(kernelKeys(), out.sources.common(), here, "kernel", early);
    const auto around = systemSurroundings(options.executableDirectory);
    const auto location = KernelSettings::from(first, out.sources, around, early);
    out.runTimeChanges = out.sources.addRunTimeChanges(files, location.runTimeChangesPath(), out.problems);

    out.kernelValues = ConfigValues::resolve(kernelKeys(), out.sources.common(), here, "kernel", out.problems);
    out.settings = KernelSettings::from(out.kernelValues, out.sources, around, out.problems);
    out.log = readLogSettings(files, out.settings, out.sources.mainDirectory(), out.problems);
    out.sources.readPluginFiles(files, out.settings.pluginConfigDirectory, out.problems);

    PluginHostOptions host;
    host.pluginDirectory = out.settings.pluginDirectory;
    host.copyDirectory = checkOnly ? makePrivateDirectory() : out.settings.runDirectory + "/plugins";
    host.defaultDirectory = out.settings.storeRoot;
    host.roles = rolesOf(out.settings);
    host.unload = out.settings.unloadPlugins;
    host.retireTimeout = out.settings.retireTimeout;
    host.holdTimeout = out.settings.limits.hold;
    out.host = std::make_unique<PluginHost>(files, host);
    const bool loaded = out.host->load(out.sources, out.problems);
    out.host->configure(out.sources, out.problems);
    checkRepeatedKeys(out.sources, ownersOf(out), out.problems);
    // Without all tables a key of a plugin that failed would look unknown.
    if (out.host->knowsAllKeys() && !out.problems.has(ErrorNumber::ConfigFileUnreadable)) out.unused = checkKeys(out.sources, ownersOf(out), out.problems);
    if (loaded) compareSizes(out);
    return out;
}

std::string summary(const Preparation& prepared) {
    std::string text = prepared.sources.mainPath() + ": ok\nroles:";
    for (const auto& role : rolesOf(prepared.settings)) text += " " + role;
    text += "\nstore: " + prepared.settings.storeRoot + "\nplugins:";
    for (const auto& instance : prepared.host->instances()) text += " " + instance->name();
    text += "\n";
    for (const auto& name : prepared.host->notChosen()) text += "note: plugin " + name + " is not loaded: another provider was chosen\n";
    for (const auto& note : prepared.host->notes()) text += "note: " + note + "\n";
    for (const auto& note : prepared.notes) text += "note: " + note + "\n";
    for (const auto& path : prepared.unused.paths) {
        text += "note: " + path.where + ": " + path.key + " has no effect; see storePathRootDir\n";
    }
    if (!prepared.unused.plain.empty()) {
        text += "accepted without effect:";
        for (const auto& key : prepared.unused.plain) text += " " + key;
        text += "\n";
    }
    return text;
}

std::string explainKey(const Preparation& prepared, std::string_view key) {
    std::string text;
    const auto explain = [&](const std::string& owner, const ConfigValues& values) {
        const auto* item = values.find(key);
        if (item == nullptr) return;
        const auto& spec = item->spec;
        const auto line = [&](std::string_view what, std::string_view is) {
            if (!is.empty()) text += std::string(what) + std::string(std::max<std::size_t>(what.size() + 1, 10) - what.size(), ' ') + std::string(is) + "\n";
        };
        const auto list = [](const std::vector<std::string>& words) {
            std::string joined;
            for (const auto& word : words) joined += (joined.empty() ? "" : ", ") + word;
            return joined;
        };
        if (!text.empty()) text += "\n";
        line("key", spec.name + " (" + owner + ")");
        line("meaning", spec.doc);
        line("type", typeName(spec.type));
        line("one of", list(spec.choices));
        if (spec.min != std::numeric_limits<std::int64_t>::min()) line("least", std::to_string(spec.min));
        if (spec.max != std::numeric_limits<std::int64_t>::max()) line("most", std::to_string(spec.max));
        line("default", spec.defaultValue.empty() ? "unset" : spec.defaultValue);
        line("value", spec.has(plugin::kSecret) ? "***" : item->value.text.empty() ? "unset" : item->value.text);
        line("from", std::string(toString(item->value.origin)) + (item->value.origin == Origin::Default ? "" : ", " + item->value.where));
        line("change", spec.has(plugin::kReloadable) ? "while the broker runs" : "by a restart");
        line("also", list(spec.aliases));
    };
    explain("kernel", prepared.kernelValues);
    if (!prepared.host) return text;
    for (const auto& instance : prepared.host->instances()) explain("plugin " + instance->name(), instance->values());
    return text;
}

std::string printedConfig(const Preparation& prepared) {
    std::string text;
    appendValues(text, "kernel", prepared.kernelValues);
    if (!prepared.host) return text;
    for (const auto& instance : prepared.host->instances()) appendValues(text, "plugin " + instance->name(), instance->values());
    return text;
}

}  // namespace patchbay::kernel

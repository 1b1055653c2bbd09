// ConfigSources: everything that was said about the configuration, before anybody declared a key.
#pragma once

#include "app/Errors.h"
#include "config/ConfigValues.h"
#include "patchbay/base/FileSystem.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::kernel {

/// What `executor.NAME.*` keys change of an executor that a plugin asks for.
struct ExecutorOverride {
    std::optional<std::uint32_t> threads;
    std::optional<std::uint32_t> queueCapacity;
    std::optional<std::chrono::milliseconds> maxQueueWait;
};
using ExecutorOverrides = std::map<std::string, ExecutorOverride, std::less<>>;

/// One file of plugins.d.
struct PluginFile {
    std::string path;
    std::string plugin;
    std::string library;              ///< as written: relative to pluginDirectory
    bool enabled = true;
    Origin enabledOrigin = Origin::Default;   ///< whose word `enabled` is, and
    std::string enabledWhere;                 ///< where it stands; empty while nothing says it
    bool optional = false;            ///< the broker starts without it
    std::uint32_t disableAfterFaults = 0;   ///< within a minute; 0 = never
    std::vector<std::string> roles;   ///< the listeners it serves: "namesrv", "broker"
    std::vector<Assignment> assignments;
    std::vector<Assignment> repeated;       ///< lines of keys that stood before: a problem, and without effect
};

/// `service.NAME = plugin`.
struct ServiceChoice {
    std::string plugin;
    std::string where;
    bool fallback = false;   ///< said by a plugin's own file: counts while nobody else chooses and that plugin is there
    Origin origin = Origin::PluginFile;
};

/// Which plugin provides a service (by name without version) when several could.
using ServiceChoices = std::map<std::string, ServiceChoice, std::less<>>;

/// The main file, changes made at run time and the command line, in this order of precedence; below them each plugin's own
/// file. The file that an operator brings wins over the files that were installed.
class ConfigSources {
public:
    /// Reads the main file. `definitions` are "key=value" texts of -D; relative paths in them start at `workingDirectory`.
    static ConfigSources read(FileSystem& files, const std::string& mainPath, const std::vector<std::string>& definitions,
                              const std::string& workingDirectory, Problems& problems);
    /// Adds what was changed at run time; a missing file is fine. Returns how many values it holds.
    std::size_t addRunTimeChanges(FileSystem& files, const std::string& path, Problems& problems);
    /// Reads *.conf of a directory, by name. What bears such a name and cannot be read as a file is a problem.
    void readPluginFiles(FileSystem& files, const std::string& directory, Problems& problems);

    [[nodiscard]] const std::string& mainPath() const noexcept { return mainPath_; }
    [[nodiscard]] const std::string& mainDirectory() const noexcept { return mainDirectory_; }
    /// Of all sources but the plugin files; lowest precedence first.
    [[nodiscard]] const std::vector<Assignment>& common() const noexcept { return common_; }
    /// Lines of keys that stood before in the same file; their values may be wrong besides.
    [[nodiscard]] const std::vector<Assignment>& repeated() const noexcept { return repeated_; }
    [[nodiscard]] const std::vector<PluginFile>& pluginFiles() const noexcept { return pluginFiles_; }
    /// Sets `enabled` of the plugin's files, as `plugin.NAME.enabled` does, by the word of `origin` at `where`. False when there is none.
    bool switchPlugin(std::string_view plugin, bool enabled, Origin origin, const std::string& where);
    [[nodiscard]] const ServiceChoices& choices() const noexcept { return choices_; }
    /// The plugin's own file, then the common sources.
    [[nodiscard]] std::vector<Assignment> assignmentsFor(const PluginFile& file) const;
    /// executor.* of the plugin's own file and the common sources.
    [[nodiscard]] ExecutorOverrides executorsFor(const PluginFile& file) const;

private:
    void takeChoices();
    void applySwitches(Problems& problems);
    /// A plugin's file may name the provider that counts while nobody chooses one.
    void takeDefaultChoices(PluginFile& file);

    std::string mainPath_;
    std::string mainDirectory_;
    std::vector<Assignment> common_;
    std::vector<Assignment> repeated_;
    std::vector<PluginFile> pluginFiles_;
    ServiceChoices choices_;
};

/// True for keys that the kernel itself understands by their form.
[[nodiscard]] bool isServiceKey(std::string_view key) noexcept;
[[nodiscard]] bool isExecutorKey(std::string_view key) noexcept;
/// NAME of "plugin.NAME.enabled", or nothing.
[[nodiscard]] std::optional<std::string_view> switchedPlugin(std::string_view key) noexcept;
/// "plugin.NAME.enabled".
[[nodiscard]] std::string switchKey(std::string_view plugin);
/// Applies "executor.NAME.field = value" to `out`; says what is wrong with it otherwise.
[[nodiscard]] std::optional<std::string> applyExecutorKey(std::string_view key, std::string_view value, ExecutorOverrides& out);

}  // namespace patchbay::kernel

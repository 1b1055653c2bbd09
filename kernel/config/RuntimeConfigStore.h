// RuntimeConfigStore: the configuration of the running process, and its changes.
#pragma once

#include "app/Errors.h"
#include "config/ConfigSources.h"
#include "config/ConfigValues.h"
#include "patchbay/base/FileSystem.h"
#include "patchbay/plugin/Config.h"
#include "patchbay/plugin/Logger.h"

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::kernel {

/// Somebody with keys: the kernel or one plugin.
struct RuntimeOwner {
    std::string name;
    std::vector<std::string> listeners;   ///< that it serves; empty = all
    ConfigValues values;
    /// Tells it; null for an owner that never changes anything while running.
    std::function<Status(const ConfigValues& next, std::span<const std::string_view> changed)> reconfigure;
};

/// Runs a function on the thread that also starts and stops plugins, and answers what it returned. Unavailable while stopping.
using OnLifecycleThread = std::function<Status(std::function<Status()>)>;

/// The value that a key has by these assignments; nothing, and problems, when one of them is wrong.
[[nodiscard]] std::optional<ConfigValue> valueFrom(const KeySpec& spec, std::span<const Assignment> assignments, Problems& problems);
/// Those that an owner's keys are taken from.
[[nodiscard]] std::vector<Assignment> assignmentsOf(const ConfigSources& sources, const std::string& owner);

/// Precedence at the next start: command line, then what was changed here, then the main file, then plugin files. Changes are kept
/// in a file of their own under the store root, so that the operator's file stays the operator's.
/// Owned by the application. Thread-safe; plugins are told on the lifecycle thread only.
class RuntimeConfigStore final : public plugin::RuntimeConfig {
public:
    struct Options {
        std::string changesPath;                ///< of the file that changes are kept in
        std::vector<std::string> blackList;     ///< keys that nobody may change
    };
    RuntimeConfigStore(FileSystem& files, plugin::Logger& log, OnLifecycleThread onLifecycle)
        : files_(files), log_(log), onLifecycle_(std::move(onLifecycle)) {}

    /// Before anything is asked.
    void open(Options options);
    void addOwner(RuntimeOwner owner);
    /// While plugins are exchanged: what begins has read its values already, so that a change would be told to what ends. apply() and
    /// unset() answer Busy meanwhile. On the lifecycle thread.
    void exchanging(bool yes) noexcept { exchanging_ = yes; }
    /// Exchanges all owners but the kernel.
    void setPlugins(std::vector<RuntimeOwner> plugins);
    /// Keeps `plugin.NAME.enabled` over restarts; an error says that it holds until the next one only. On the lifecycle thread.
    Status keepSwitch(const std::string& key, bool enabled);
    /// What runs: all owners with their values.
    [[nodiscard]] std::vector<RuntimeOwner> owners() const;
    void clearOwners();

    [[nodiscard]] std::vector<plugin::ConfigEntry> snapshot(std::string_view listener) const override;
    Status apply(std::string_view listener, std::span<const plugin::ConfigEntry> changes) override;
    /// What apply() would answer, as far as it is known without telling the owners.
    [[nodiscard]] Status wouldApply(std::string_view listener, const plugin::ConfigEntry& entry) const;
    /// Takes a change back that was made at run time; `sources` are the files as they are now, with that change.
    /// Denied for a key of the black list, Busy during an exchange of plugins. On the lifecycle thread.
    Status unset(const std::string& key, const ConfigSources& sources, bool dryRun);
    [[nodiscard]] std::int64_t changeCount() const noexcept override { return changes_.load(std::memory_order_relaxed); }

    /// Takes over what the files say now: reloadable keys are applied, others are logged as needing a restart. Owners in `without` are
    /// left out, because they begin anew with all their keys. When somebody refuses a value no key is changed. On the lifecycle thread.
    Status reload(const ConfigSources& sources, const std::function<bool(const std::string& owner)>& without);
    /// Undoes what the last reload() changed; before owners are exchanged. On the lifecycle thread.
    void takeBackReload();

private:
    struct Change {
        std::size_t owner;
        std::string name;
        ConfigValue value;
    };
    [[nodiscard]] static bool serves(const RuntimeOwner& owner, std::string_view listener) noexcept;
    Status check(std::string_view listener, const plugin::ConfigEntry& entry, std::vector<Change>& out) const;
    Status forbidden(std::string_view key) const;
    /// Denied when configBlackList has the key under any of its names. `spec`: what an owner declares, or null.
    [[nodiscard]] Status blackListed(std::string_view key, const KeySpec* spec) const;
    /// What owners have to be told, and in `quiet` what changes no more than its origin, when that key is not changed at run time any more.
    [[nodiscard]] Status withoutChange(const std::string& key, const ConfigSources& sources, std::vector<Change>& out, std::vector<Change>& quiet) const;
    /// Tells the owners; all or none.
    Status commit(const std::vector<Change>& changes);
    Status tell(std::size_t owner, const std::vector<Change>& changes, bool undo);
    /// What the file of changes says now: a line that an operator took out must not come back with the next change.
    [[nodiscard]] Result<std::map<std::string, std::string>> kept() const;
    Status keep(std::span<const plugin::ConfigEntry> entries);
    Status write(const std::map<std::string, std::string>& all);

    FileSystem& files_;
    plugin::Logger& log_;
    const OnLifecycleThread onLifecycle_;
    Options options_;
    std::atomic<std::int64_t> changes_{0};
    std::vector<Change> undo_;           // lifecycle thread only
    bool exchanging_ = false;            // lifecycle thread only
    mutable std::mutex mutex_;
    std::vector<RuntimeOwner> owners_;   // guarded by mutex_; changed on the lifecycle thread only
};

}  // namespace patchbay::kernel

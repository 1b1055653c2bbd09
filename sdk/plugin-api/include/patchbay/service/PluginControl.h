// PluginControl: the plugins of the running process, seen and changed by an operator's plugin.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/plugin/Services.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::service {

/// One plugin as the process knows it.
struct PluginInfo {
    std::string name;
    std::string version;
    std::string description;
    /// "serving", "retiring" (an older generation that still has requests), "off" (its file or an operator says so), "left out"
    /// (optional, and cannot run), "not chosen" (another provider of its service was).
    std::string state;
    std::string why;                        ///< for "left out" and for switching off by the kernel
    std::string file;                       ///< of plugins.d
    std::string library;
    std::uint32_t generation = 0;           ///< 1 for the first, 0 when it does not run
    std::int64_t startedWallMs = 0;
    bool concurrent = false;                ///< two generations may serve at once
    std::vector<std::string> provides;
    std::vector<std::string> uses;          ///< required and wanted services
    std::vector<std::string> usedBy;        ///< "pull (patchbay.MessageStore/1)" for every lease that is out
    std::vector<std::pair<std::string, std::int32_t>> codes;   ///< listener and code of each binding
};

/// What a library says of itself, and whether this broker would take it.
struct PluginInspection {
    std::string path;
    std::string manifest;                   ///< lines "name   value", for a person
    std::vector<std::string> problems;      ///< "PB-1104 …"; none = it would be taken
};

/// Provided by the kernel. Changes run on the lifecycle thread, one after the other; `done` is called there once, before old
/// generations have ended, so that a plugin may ask for its own exchange. Any thread; never blocks. After the process has begun
/// to stop every call ends with Unavailable.
class PluginControl {
public:
    static constexpr plugin::ServiceId kId{"patchbay.PluginControl", 1};
    using Done = std::function<void(Status)>;
    virtual ~PluginControl();

    virtual void list(std::function<void(Result<std::vector<PluginInfo>>)> done) = 0;
    /// NotFound for a plugin without a file in plugins.d. Reads the file now; blocks for it.
    [[nodiscard]] virtual Result<PluginInspection> inspect(const std::string& name) = 0;
    /// Exchanges the running generation for a new one of the installed library, whether that has changed or not; a plugin that
    /// offers services takes those along that use them. After a failure the old one serves.
    virtual void reload(const std::string& name, Done done) = 0;
    /// Overrides `enabled` of its file, and is kept over restarts. Failing changes nothing.
    virtual void enable(const std::string& name, bool enabled, Done done) = 0;
    /// As SIGHUP: applies the difference between the files and what runs; all or nothing.
    virtual void reloadConfiguration(Done done) = 0;
};

}  // namespace patchbay::service

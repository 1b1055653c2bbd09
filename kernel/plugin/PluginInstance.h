// PluginInstance: one generation of one plugin, from its file to its end.
#pragma once

#include "config/ConfigSources.h"
#include "config/ConfigValues.h"
#include "plugin/KernelContext.h"
#include "plugin/ManifestReader.h"
#include "plugin/PluginLibrary.h"

#include <cstdint>
#include <memory>
#include <string>

namespace patchbay::kernel {

enum class PluginState : std::uint8_t {
    Checked, Loaded, Created, Configured, Initialised, Started, Draining, Stopped, Destroyed, Retired, Failed
};

/// The wall around a plugin: every call into it goes through here, no exception leaves, and texts that it returns are copied.
/// Owned by the plugin host. Lifecycle thread only.
class PluginInstance {
public:
    /// From Loaded on. `file` and `description` say who it is.
    PluginInstance(PluginFile file, PluginDescription description, std::string libraryPath, std::uint32_t number);
    ~PluginInstance();
    PluginInstance(const PluginInstance&) = delete;
    PluginInstance& operator=(const PluginInstance&) = delete;

    /// Maps the library and makes the plugin object. Problems: PB-1107, PB-1108, PB-1110.
    bool load(FileSystem& files, const std::string& copy, Problems& problems);
    /// Makes another plugin object of a library that is mapped already. PB-1108.
    bool loadAgain(const PluginInstance& other, Problems& problems);
    /// Gives the keys their values and asks the plugin. Problems: those of values, PB-1121, PB-1133.
    bool configure(const ConfigSources& sources, const std::string& defaultDirectory, Problems& problems);
    /// With the values of another instance. PB-1121.
    bool configureAs(const PluginInstance& other, Problems& problems);
    /// InvalidArgument and others from the plugin; Internal for an exception, or when it does not publish what it promised.
    Status init(const HostSurroundings& around, ServiceRegistry& registry, ExecutorOverrides executors,
                std::vector<const Registrations*> others);
    Status start();
    Status reconfigure(const ConfigValues& next, std::span<const std::string_view> changed);
    void drain() noexcept;
    /// From here on idle() tells. The routes without it must have been published.
    void closeRegistrations() noexcept;
    /// Allowed in every state; does what the state needs.
    void stop() noexcept;
    /// True when no request is in it and no table leads to it.
    [[nodiscard]] bool quiet() const noexcept { return !generation_ || generation_->quiet(); }
    /// True when nobody has borrowed its services either: nobody can reach the plugin any more.
    [[nodiscard]] bool idle() const noexcept { return !generation_ || generation_->idle(); }
    /// Deletes the plugin object. Only when idle().
    void destroy(bool unload) noexcept;
    /// Ends an instance that was never initialised; its library is unmapped when none of its instances was, so that a plugin which is
    /// refused again and again takes no more room.
    void discard() noexcept;
    /// Gives up an instance that something still refers to: nothing of it is freed.
    void abandon() noexcept;

    [[nodiscard]] const std::string& name() const noexcept { return description_.name; }
    [[nodiscard]] const PluginFile& file() const noexcept { return file_; }
    [[nodiscard]] const PluginDescription& description() const noexcept { return description_; }
    [[nodiscard]] const std::string& libraryPath() const noexcept { return libraryPath_; }
    [[nodiscard]] const ConfigValues& values() const noexcept { return values_; }
    [[nodiscard]] std::span<const plugin::ConfigKey> keys() const noexcept;
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    /// True when the library at `path` is another than that which runs.
    [[nodiscard]] bool differsFrom(const std::string& path) const {
        return path != libraryPath_ || (library_ && library_->differsFrom(path));
    }
    /// The copy of the library is in memory.
    [[nodiscard]] bool inMemory() const noexcept { return library_ && library_->inMemory(); }
    [[nodiscard]] std::int64_t startedWallMs() const noexcept { return startedWallMs_; }
    [[nodiscard]] PluginState state() const noexcept { return state_; }
    [[nodiscard]] const Generation* generation() const noexcept { return generation_.get(); }
    /// Null before init().
    [[nodiscard]] const Registrations* registrations() const noexcept;

private:
    bool create(Problems& problems);

    const PluginFile file_;
    const PluginDescription description_;
    const std::string libraryPath_;
    const std::uint32_t number_;
    PluginState state_ = PluginState::Checked;
    std::shared_ptr<PluginLibrary> library_;
    plugin::Plugin* plugin_ = nullptr;
    ConfigValues values_;
    std::int64_t startedWallMs_ = 0;
    Ref<Generation> generation_;
    const HostSurroundings* around_ = nullptr;   ///< from init() on
    std::unique_ptr<KernelContext> context_;
};

}  // namespace patchbay::kernel

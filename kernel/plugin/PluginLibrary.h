// PluginLibrary: one plugin library, mapped.
#pragma once

#include "patchbay/base/FileSystem.h"
#include "patchbay/base/Result.h"
#include "patchbay/plugin/Plugin.h"

#include <memory>
#include <string>

namespace patchbay::kernel {

/// What is mapped is a private copy: a package manager that writes into the installed file would kill the process, and a new
/// version could not be loaded beside the old one under the same path. The copy is removed with this object.
/// By default the library stays mapped when this goes ("retired"): code, constants and type information of a plugin may be
/// referred to from places nobody thought of. Owned by a PluginInstance. One thread.
class PluginLibrary {
public:
    /// Copies `installed` to `copy` and loads that with everything resolved at once and nothing exported. The text of a failure is
    /// the dynamic linker's own, with the installed path.
    static Result<std::unique_ptr<PluginLibrary>> open(FileSystem& files, const std::string& installed, const std::string& copy);
    ~PluginLibrary();
    PluginLibrary(const PluginLibrary&) = delete;
    PluginLibrary& operator=(const PluginLibrary&) = delete;

    /// Null when the plugin could not make its object.
    [[nodiscard]] plugin::Plugin* create() const noexcept { return create_(); }
    void destroy(plugin::Plugin* plugin) const noexcept { destroy_(plugin); }
    /// True when the installed file can be read and is another by now.
    [[nodiscard]] bool differsFrom(const std::string& installed) const;
    /// Unmaps when the object goes; nothing of the plugin may be in use then.
    void unloadAtEnd() noexcept { unload_ = true; }

private:
    PluginLibrary(FileSystem& files, std::string copy, void* handle) : files_(files), copy_(std::move(copy)), handle_(handle) {}

    FileSystem& files_;
    const std::string copy_;
    void* const handle_;
    plugin::Plugin* (*create_)() noexcept = nullptr;
    void (*destroy_)(plugin::Plugin*) noexcept = nullptr;
    bool unload_ = false;
};

/// Removes copies that a process left behind which does not run any more.
void removeStaleCopies(FileSystem& files, const std::string& directory);
/// "<directory>/<plugin>.<process>.<number>.so", unique within the process.
[[nodiscard]] std::string copyPath(const std::string& directory, const std::string& plugin);

}  // namespace patchbay::kernel

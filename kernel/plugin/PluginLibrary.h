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
/// referred to from places nobody thought of. Shared by the generations that were made of it. One thread.
class PluginLibrary {
public:
    /// Copies `installed` to `copy`, or into memory where the disk has no room for it, and loads that with everything resolved at once
    /// and nothing exported. Unavailable with the dynamic linker's own text and the installed path; Io and others when there can be
    /// no copy.
    static Result<std::shared_ptr<PluginLibrary>> open(FileSystem& files, const std::string& installed, const std::string& copy);
    ~PluginLibrary();
    PluginLibrary(const PluginLibrary&) = delete;
    PluginLibrary& operator=(const PluginLibrary&) = delete;

    /// Null when the plugin could not make its object.
    [[nodiscard]] plugin::Plugin* create() const noexcept { return create_(); }
    void destroy(plugin::Plugin* plugin) const noexcept { destroy_(plugin); }
    /// True when the installed file can be read and is another by now.
    [[nodiscard]] bool differsFrom(const std::string& installed) const;
    /// The copy is in memory, because there was no room for it.
    [[nodiscard]] bool inMemory() const noexcept { return memory_ >= 0; }
    /// Code of it has run beyond its constructor and checks: from here on it is retired, not unmapped, unless unloadAtEnd() says so.
    void hasRun() noexcept { ran_ = true; }
    [[nodiscard]] bool ran() const noexcept { return ran_; }
    /// Unmaps when the object goes; nothing of the plugin may be in use then.
    void unloadAtEnd() noexcept { unload_ = true; }

private:
    PluginLibrary(FileSystem& files, std::string copy, int memory, void* handle)
        : files_(files), copy_(std::move(copy)), memory_(memory), handle_(handle) {}

    FileSystem& files_;
    const std::string copy_;
    const int memory_;   ///< descriptor of a copy in memory, or -1
    void* const handle_;
    plugin::Plugin* (*create_)() noexcept = nullptr;
    void (*destroy_)(plugin::Plugin*) noexcept = nullptr;
    bool unload_ = false;
    bool ran_ = false;
};

/// Removes copies that a process left behind which does not run any more.
void removeStaleCopies(FileSystem& files, const std::string& directory);
/// "<directory>/<plugin>.<process>.<number>.so", unique within the process.
[[nodiscard]] std::string copyPath(const std::string& directory, const std::string& plugin);

}  // namespace patchbay::kernel

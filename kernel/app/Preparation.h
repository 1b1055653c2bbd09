// Preparation: everything between the command line and the first port: files read, plugins loaded, all values checked.
#pragma once

#include "app/Errors.h"
#include "config/ConfigSources.h"
#include "config/KernelSettings.h"
#include "config/KeyCheck.h"
#include "log/LogSettings.h"
#include "plugin/PluginHost.h"

#include <memory>
#include <string>
#include <vector>

namespace patchbay::kernel {

struct LaunchOptions {
    std::string configPath;
    std::vector<std::string> definitions;   ///< of -D
    std::string executableDirectory;
};

/// The product of prepare(). A start goes on only when `problems` is empty.
struct Preparation {
    Problems problems;
    ConfigSources sources;
    ConfigValues kernelValues;
    KernelSettings settings;
    LogSettings log;
    UnusedKeys unused;
    std::vector<std::string> notes;     ///< what is accepted, and not as somebody may expect
    std::size_t runTimeChanges = 0;
    std::unique_ptr<PluginHost> host;   ///< null when the plugin files could not even be looked for
};

/// `checkOnly`: private copies of libraries go to a temporary directory instead of runDirectory, and nothing else is written.
[[nodiscard]] Preparation prepare(FileSystem& files, const LaunchOptions& options, bool checkOnly);
/// The sources as they are now, for a comparison with a running configuration.
[[nodiscard]] ConfigSources readSources(FileSystem& files, const LaunchOptions& options, const KernelSettings& settings,
                                        Problems& problems);
/// A new directory that nobody else can write to, as libraries are loaded from it; empty when there can be none. The caller removes it.
[[nodiscard]] std::string makePrivateDirectory();
/// Host name, environment.
[[nodiscard]] Surroundings systemSurroundings(const std::string& executableDirectory);

/// What `--check` prints when nothing is wrong.
[[nodiscard]] std::string summary(const Preparation& preparation);
/// Every key with its value and where it comes from.
[[nodiscard]] std::string printedConfig(const Preparation& preparation);
/// What a key is for, what it may be, what it is and why; of every owner that has it. Nothing for a key that nobody knows.
[[nodiscard]] std::string explainKey(const Preparation& preparation, std::string_view key);
/// docs/configuration.md, from the kernel's tables and those of every library in a directory.
[[nodiscard]] std::string configDocument(FileSystem& files, const std::string& pluginDirectory);
/// A main file with all of these keys as comments.
[[nodiscard]] std::string commentedDefaults(FileSystem& files, const std::string& pluginDirectory);

}  // namespace patchbay::kernel

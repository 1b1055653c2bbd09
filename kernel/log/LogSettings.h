// LogSettings: etc/log.conf, read and checked.
#pragma once

#include "app/Errors.h"
#include "config/ConfigValues.h"
#include "patchbay/base/FileSystem.h"
#include "patchbay/plugin/Logger.h"

#include <map>
#include <string>
#include <string_view>

namespace patchbay::kernel {

/// A plain value; the default writes to standard error from level info on.
struct LogSettings {
    plugin::LogLevel level = plugin::LogLevel::Info;
    std::map<std::string, plugin::LogLevel, std::less<>> levels;   ///< by path: "kernel.net" holds for "kernel.net.…" too
    std::string file;                                              ///< empty = standard error
    std::size_t fileBytesMax = 64U << 20;
    std::size_t fileCount = 5;
    std::size_t queueLines = 1024;
    std::size_t queueBytes = 4U << 20;

    [[nodiscard]] plugin::LogLevel levelOf(std::string_view path) const;
    static LogSettings read(FileSystem& files, const std::string& path, Problems& problems);
};

/// For docs/configuration.md.
[[nodiscard]] std::span<const plugin::ConfigKey> logKeys() noexcept;

}  // namespace patchbay::kernel

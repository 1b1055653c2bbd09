// KvConfig: the name server's key-value table, kept in a file.
#pragma once

#include "patchbay/base/FileSystem.h"
#include "patchbay/plugin/Logger.h"

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>

namespace patchbay::plugins::namesrv {

/// Namespaces of keys and values, in RocketMQ's file format. Owned by the plugin. Reading may be done by any thread and does
/// not block; put() and remove() write the file first and therefore belong on an executor. A change whose file could not be
/// written is not made.
class KvConfig {
public:
    using Table = std::map<std::string, std::string, std::less<>>;

    /// Largest name of a namespace or key, and largest value, in bytes.
    static constexpr std::size_t kNameBytesMax = 1024;
    static constexpr std::size_t kValueBytesMax = 64U << 10;
    /// All texts together: a namespace is answered in one frame, and the order configuration with every registration.
    static constexpr std::size_t kTableBytesMax = 8U << 20;

    KvConfig(FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}

    /// Reads the file, if there is one. A file that cannot be understood is put aside as <path>.damaged and its backup is
    /// read; fails when that is damaged as well, and when the disk does.
    Status load(plugin::Logger& log);

    /// InvalidArgument when the namespace or key is empty, or a text is too long.
    Status put(std::string_view nameSpace, std::string_view key, std::string_view value);
    /// Ok also when there is no such key.
    Status remove(std::string_view nameSpace, std::string_view key);
    [[nodiscard]] std::optional<std::string> get(std::string_view nameSpace, std::string_view key) const;
    /// Nothing when there is no such namespace.
    [[nodiscard]] std::optional<Table> list(std::string_view nameSpace) const;

private:
    using Tables = std::map<std::string, Table, std::less<>>;

    static Result<Tables> parse(std::string_view text);
    static std::string toJson(const Tables& tables);
    static std::size_t bytesOf(const Tables& tables) noexcept;
    Status replace(Tables changed);

    FileSystem& files_;
    const std::string path_;
    std::mutex writing_;  ///< one change at a time; held while the file is written
    mutable std::shared_mutex lock_;
    Tables tables_;  ///< changed under both, read under either
};

}  // namespace patchbay::plugins::namesrv

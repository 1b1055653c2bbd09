// Configuration as a plugin sees it: a table of keys that it declares, and checked values.
#pragma once

#include "patchbay/base/Result.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugin {

enum class ConfigType : std::uint8_t {
    Text,
    Bool,      ///< true, false
    Int,       ///< 64-bit signed, within [min, max]
    Double,
    Bytes,     ///< an integer with an optional K, M, G suffix (powers of 1024)
    Millis,    ///< an integer number of milliseconds, or with suffix ms, s, m, h
    Path,      ///< text; relative paths are relative to the directory of the file that sets it; never changed remotely
};

enum ConfigFlags : std::uint8_t {
    kReloadable = 1,  ///< reconfigure() applies it while running
    kSecret = 2,      ///< shown as "***"
};

/// One key. The whole table is static data of the plugin; the documentation, the checks, `--check`, the answer to
/// GET_BROKER_CONFIG and the reload difference are made from it. RocketMQ's own name is used where it has one.
struct ConfigKey {
    std::string_view name;
    ConfigType type = ConfigType::Text;
    std::string_view defaultValue;  ///< as an operator would write it
    std::string_view doc;           ///< one sentence; the unit is part of it where the type does not say it
    std::uint8_t flags = 0;
    std::int64_t min = std::numeric_limits<std::int64_t>::min();
    std::int64_t max = std::numeric_limits<std::int64_t>::max();
    std::string_view aliases = {};  ///< other accepted names, separated by blanks
    std::string_view choices = {};  ///< for Text: the allowed words, separated by blanks
};

/// The values of one plugin's keys, already parsed, checked and completed with defaults. Asking for a key that the
/// plugin did not declare, or by another type, is a programmer's error and aborts.
/// Valid during the call it is passed to.
class ConfigView {
public:
    virtual ~ConfigView();
    [[nodiscard]] virtual std::string_view text(std::string_view key) const = 0;   ///< Text, Path
    [[nodiscard]] virtual std::int64_t integer(std::string_view key) const = 0;    ///< Int, Bytes, Millis
    [[nodiscard]] virtual double number(std::string_view key) const = 0;           ///< Double
    [[nodiscard]] virtual bool flag(std::string_view key) const = 0;               ///< Bool
    /// True when a file or a remote update set it, false when the default holds.
    [[nodiscard]] virtual bool isSet(std::string_view key) const = 0;
    [[nodiscard]] std::chrono::milliseconds millis(std::string_view key) const { return std::chrono::milliseconds(integer(key)); }
};

struct ConfigEntry {
    std::string key;
    std::string value;
    bool secret = false;
    bool reloadable = false;
};

/// All keys of the running process, offered by the kernel. Thread-safe.
class RuntimeConfig {
public:
    virtual ~RuntimeConfig();
    /// Effective values of the kernel's keys and of the plugins that serve `listener`, in key order.
    [[nodiscard]] virtual std::vector<ConfigEntry> snapshot(std::string_view listener) const = 0;
    /// Checks all changes, then applies all or none; a plugin sees its own in reconfigure(). Denied for Path keys, NotFound
    /// for unknown ones, InvalidArgument for bad values, Unsupported for those that need a restart. Blocks while plugins apply.
    /// An error whose message begins with "changed, but until the next restart only" says that all changes are in force and could
    /// not be written down.
    virtual Status apply(std::string_view listener, std::span<const ConfigEntry> changes) = 0;
    /// Grows with every change, by apply() or by files that were read again: the counter of RocketMQ's DataVersion.
    [[nodiscard]] virtual std::int64_t changeCount() const noexcept = 0;
};

}  // namespace patchbay::plugin

// ConfigValues: the checked values of one owner's keys, and the rules by which text becomes a value.
#pragma once

#include "app/Errors.h"
#include "patchbay/plugin/Config.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::kernel {

/// Who set a value; a later one wins over an earlier one.
enum class Origin : std::uint8_t { Default, PluginFile, MainFile, RunTime, CommandLine };

[[nodiscard]] std::string_view toString(Origin origin) noexcept;

/// "text", "true/false", "integer", "number", "bytes", "time" or "path".
[[nodiscard]] std::string_view typeName(plugin::ConfigType type) noexcept;

/// One "key = value" of some source, not yet given to an owner.
struct Assignment {
    std::string key;
    std::string value;
    std::string where;             ///< "file:line", "-D", …
    std::string baseDirectory;     ///< for relative paths
    Origin origin = Origin::MainFile;
    bool trailingComment = false;
};

/// A ConfigKey with texts of its own, so that nothing of a plugin's library is kept.
struct KeySpec {
    explicit KeySpec(const plugin::ConfigKey& key);
    [[nodiscard]] bool answersTo(std::string_view text) const noexcept;
    [[nodiscard]] bool has(plugin::ConfigFlags flag) const noexcept { return (flags & flag) != 0; }

    std::string name;
    plugin::ConfigType type;
    std::string defaultValue;
    std::string doc;
    std::uint8_t flags;
    std::int64_t min;
    std::int64_t max;
    std::vector<std::string> aliases;
    std::vector<std::string> choices;
};

struct ConfigValue {
    std::string text;      ///< as written; for Path the resolved path
    std::int64_t integer = 0;
    double number = 0;
    bool flag = false;
    Origin origin = Origin::Default;
    std::string where;
};

/// What is wrong with a value.
struct ValueError {
    ErrorNumber number;
    std::string text;
};

/// Reads `raw` by the rules of the key's type. Relative paths are taken from `baseDirectory`, "~/" from the home directory.
[[nodiscard]] std::optional<ValueError> parseValue(const KeySpec& spec, std::string_view raw,
                                                   const std::string& baseDirectory, ConfigValue& out);

/// All keys of one owner (the kernel or a plugin) with their values. A plain value; const use is thread-safe.
class ConfigValues : public plugin::ConfigView {
public:
    struct Item {
        KeySpec spec;
        ConfigValue value;
    };

    ConfigValues() = default;

    /// Every key of `keys` with its default and then the assignments that name it, in order of origin. Assignments with other
    /// keys are left to others. `defaultDirectory` is where relative defaults of Path keys start.
    static ConfigValues resolve(std::span<const plugin::ConfigKey> keys, std::span<const Assignment> assignments,
                                const std::string& defaultDirectory, const std::string& owner, Problems& problems);

    [[nodiscard]] std::string_view text(std::string_view key) const override;
    [[nodiscard]] std::int64_t integer(std::string_view key) const override;
    [[nodiscard]] double number(std::string_view key) const override;
    [[nodiscard]] bool flag(std::string_view key) const override;
    [[nodiscard]] bool isSet(std::string_view key) const override;

    [[nodiscard]] const std::map<std::string, Item, std::less<>>& items() const noexcept { return items_; }
    /// By name or alias; null when this owner has no such key.
    [[nodiscard]] const Item* find(std::string_view nameOrAlias) const noexcept;
    /// Replaces a value that parseValue() made for this key.
    void set(const std::string& name, ConfigValue value);

private:
    [[nodiscard]] const Item& expect(std::string_view key, std::initializer_list<plugin::ConfigType> types) const;
    void assign(const Assignment& assignment, Problems& problems);

    std::map<std::string, Item, std::less<>> items_;
};

}  // namespace patchbay::kernel

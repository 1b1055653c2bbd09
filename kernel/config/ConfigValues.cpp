#include "config/ConfigValues.h"

#include "patchbay/base/Assert.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <limits>

namespace patchbay::kernel {

using plugin::ConfigType;

namespace {

std::vector<std::string> words(std::string_view text) {
    std::vector<std::string> list;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        if (end > 0) list.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return list;
}

std::string quoted(std::string_view raw) {
    return "'" + std::string(raw) + "'";
}

bool equalsIgnoringCase(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
    });
}

struct Unit {
    std::string_view suffix;
    std::int64_t factor;
};

constexpr Unit kByteUnits[] = {{"K", 1LL << 10}, {"M", 1LL << 20}, {"G", 1LL << 30}, {"k", 1LL << 10}, {"m", 1LL << 20}, {"g", 1LL << 30}};
constexpr Unit kTimeUnits[] = {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}};

/// An integer with an optional unit; false when it is none or does not fit 64 bits.
bool parseInteger(std::string_view raw, std::span<const Unit> units, std::int64_t& out) {
    std::int64_t factor = 1;
    const auto digits = raw.find_first_not_of("+-0123456789");
    if (digits != std::string_view::npos) {
        auto suffix = raw.substr(digits);
        while (!suffix.empty() && suffix.front() == ' ') suffix.remove_prefix(1);
        const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.suffix == suffix; });
        if (unit == units.end()) return false;
        factor = unit->factor;
        raw = raw.substr(0, digits);
    }
    if (!raw.empty() && raw.front() == '+') raw.remove_prefix(1);
    const auto parsed = std::from_chars(raw.data(), raw.data() + raw.size(), out);
    if (raw.empty() || parsed.ec != std::errc() || parsed.ptr != raw.data() + raw.size()) return false;
    return !__builtin_mul_overflow(out, factor, &out);
}

std::string limits(const KeySpec& spec) {
    const bool low = spec.min != std::numeric_limits<std::int64_t>::min();
    const bool high = spec.max != std::numeric_limits<std::int64_t>::max();
    if (low && high) return std::to_string(spec.min) + " to " + std::to_string(spec.max);
    return low ? "at least " + std::to_string(spec.min) : "at most " + std::to_string(spec.max);
}

std::string resolvePath(std::string_view raw, const std::string& base) {
    if (raw.empty()) return {};
    std::filesystem::path path(raw);
    if (raw.substr(0, 2) == "~/") {
        const char* home = std::getenv("HOME");
        path = std::filesystem::path(home != nullptr && *home != 0 ? home : "/") / raw.substr(2);
    } else if (path.is_relative()) {
        path = std::filesystem::path(base) / path;
    }
    return path.lexically_normal().string();
}

std::optional<ValueError> parseNumber(const KeySpec& spec, std::string_view raw, ConfigValue& out) {
    std::span<const Unit> units;
    std::string_view what = "an integer";
    if (spec.type == ConfigType::Bytes) {
        units = kByteUnits;
        what = "a number of bytes (an integer, with K, M or G behind it if wanted)";
    } else if (spec.type == ConfigType::Millis) {
        units = kTimeUnits;
        what = "a time (an integer of milliseconds, or with ms, s, m or h behind it)";
    }
    if (!parseInteger(raw, units, out.integer)) return ValueError{ErrorNumber::WrongType, quoted(raw) + " is not " + std::string(what)};
    if (out.integer < spec.min || out.integer > spec.max) {
        return ValueError{ErrorNumber::OutOfRange, quoted(raw) + " is out of range (" + limits(spec) + ")"};
    }
    return std::nullopt;
}

}  // namespace

std::string_view typeName(plugin::ConfigType type) noexcept {
    static constexpr std::string_view kNames[] = {"text", "true/false", "integer", "number", "bytes", "time", "path"};
    return kNames[static_cast<std::size_t>(type)];
}

std::string_view toString(Origin origin) noexcept {
    switch (origin) {
        case Origin::Default: return "default";
        case Origin::PluginFile: return "plugin file";
        case Origin::MainFile: return "main file";
        case Origin::RunTime: return "changed at run time";
        case Origin::CommandLine: return "command line";
    }
    return "";
}

KeySpec::KeySpec(const plugin::ConfigKey& key)
    : name(key.name), type(key.type), defaultValue(key.defaultValue), doc(key.doc), flags(key.flags), min(key.min),
      max(key.max), aliases(words(key.aliases)), choices(words(key.choices)) {}

bool KeySpec::answersTo(std::string_view text) const noexcept {
    return text == name || std::find(aliases.begin(), aliases.end(), text) != aliases.end();
}

std::optional<ValueError> parseValue(const KeySpec& spec, std::string_view raw, const std::string& baseDirectory,
                                     ConfigValue& out) {
    out.text = raw;
    if (raw.find_first_of("\r\n") != std::string_view::npos) {
        return ValueError{ErrorNumber::WrongType, "a value must not hold line breaks"};
    }
    switch (spec.type) {
        case ConfigType::Text:
            if (!spec.choices.empty() && std::find(spec.choices.begin(), spec.choices.end(), raw) == spec.choices.end()) {
                std::string list;
                for (const auto& choice : spec.choices) list += (list.empty() ? "" : ", ") + choice;
                return ValueError{ErrorNumber::NotAChoice, quoted(raw) + " is none of: " + list};
            }
            return std::nullopt;
        case ConfigType::Bool:
            out.flag = equalsIgnoringCase(raw, "true");
            if (out.flag || equalsIgnoringCase(raw, "false")) return std::nullopt;
            return ValueError{ErrorNumber::WrongType, quoted(raw) + " is neither true nor false"};
        case ConfigType::Double: {
            const auto parsed = std::from_chars(raw.data(), raw.data() + raw.size(), out.number);
            if (!raw.empty() && parsed.ec == std::errc() && parsed.ptr == raw.data() + raw.size()) return std::nullopt;
            return ValueError{ErrorNumber::WrongType, quoted(raw) + " is not a number"};
        }
        case ConfigType::Path: out.text = resolvePath(raw, baseDirectory); return std::nullopt;
        case ConfigType::Int:
        case ConfigType::Bytes:
        case ConfigType::Millis: return parseNumber(spec, raw, out);
    }
    return std::nullopt;
}

ConfigValues ConfigValues::resolve(std::span<const plugin::ConfigKey> keys, std::span<const Assignment> assignments,
                                   const std::string& defaultDirectory, const std::string& owner, Problems& problems) {
    ConfigValues values;
    for (const auto& key : keys) {
        Item item{KeySpec(key), {}};
        if (const auto wrong = parseValue(item.spec, item.spec.defaultValue, defaultDirectory, item.value)) {
            problems.add(ErrorNumber::PluginKeyTable, owner, "default of " + item.spec.name + ": " + wrong->text);
        }
        item.value.where = "default";
        auto name = item.spec.name;
        if (values.find(name) != nullptr || !values.items_.emplace(name, std::move(item)).second) {
            problems.add(ErrorNumber::PluginKeyTable, owner, "key " + name + " is declared twice");
        }
    }
    for (const auto& assignment : assignments) values.assign(assignment, problems);
    return values;
}

void ConfigValues::assign(const Assignment& assignment, Problems& problems) {
    const Item* found = find(assignment.key);
    if (found == nullptr || assignment.trailingComment) return;
    Item& item = items_.find(found->spec.name)->second;
    ConfigValue value;
    if (const auto wrong = parseValue(item.spec, assignment.value, assignment.baseDirectory, value)) {
        problems.add(wrong->number, assignment.where, assignment.key + ": " + wrong->text);
        return;
    }
    // An alias and the name of one key in one file; the same word twice is found when the file is read.
    if (assignment.origin == item.value.origin && assignment.origin != Origin::CommandLine) {
        problems.add(ErrorNumber::DuplicateKey, assignment.where,
                     assignment.key + " sets " + item.spec.name + ", which " + item.value.where + " sets already");
        return;
    }
    if (assignment.origin < item.value.origin) return;
    value.origin = assignment.origin;
    value.where = assignment.where;
    item.value = std::move(value);
}

const ConfigValues::Item* ConfigValues::find(std::string_view nameOrAlias) const noexcept {
    const auto exact = items_.find(nameOrAlias);
    if (exact != items_.end()) return &exact->second;
    for (const auto& [name, item] : items_) {
        if (item.spec.answersTo(nameOrAlias)) return &item;
    }
    return nullptr;
}

void ConfigValues::set(const std::string& name, ConfigValue value) {
    const auto found = items_.find(name);
    PATCHBAY_ASSERT(found != items_.end());
    found->second.value = std::move(value);
}

const ConfigValues::Item& ConfigValues::expect(std::string_view key, std::initializer_list<ConfigType> types) const {
    const auto found = items_.find(key);
    PATCHBAY_ASSERT(found != items_.end() && "a key that its owner did not declare");
    PATCHBAY_ASSERT(std::find(types.begin(), types.end(), found->second.spec.type) != types.end());
    return found->second;
}

std::string_view ConfigValues::text(std::string_view key) const {
    return expect(key, {ConfigType::Text, ConfigType::Path}).value.text;
}

std::int64_t ConfigValues::integer(std::string_view key) const {
    return expect(key, {ConfigType::Int, ConfigType::Bytes, ConfigType::Millis}).value.integer;
}

double ConfigValues::number(std::string_view key) const {
    return expect(key, {ConfigType::Double}).value.number;
}

bool ConfigValues::flag(std::string_view key) const {
    return expect(key, {ConfigType::Bool}).value.flag;
}

bool ConfigValues::isSet(std::string_view key) const {
    const auto found = items_.find(key);
    PATCHBAY_ASSERT(found != items_.end());
    return found->second.value.origin != Origin::Default;
}

}  // namespace patchbay::kernel

#include "patchbay/testkit/FakeConfig.h"

#include <charconv>
#include <cmath>
#include <optional>

namespace patchbay::testkit {

using plugin::ConfigKey;
using plugin::ConfigType;

namespace {

bool hasWord(std::string_view words, std::string_view word) {
    while (!words.empty()) {
        const auto end = words.find(' ');
        if (words.substr(0, end) == word) return !word.empty();
        words = end == std::string_view::npos ? std::string_view{} : words.substr(end + 1);
    }
    return false;
}

struct Unit {
    std::string_view suffix;
    std::int64_t factor;
};
constexpr Unit kByteUnits[] = {{"", 1}, {"K", 1LL << 10}, {"M", 1LL << 20}, {"G", 1LL << 30}};
constexpr Unit kTimeUnits[] = {{"", 1}, {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}};

std::optional<std::int64_t> integerWithUnit(std::string_view text, std::span<const Unit> units) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return std::nullopt;
    const std::string_view suffix = text.substr(static_cast<std::size_t>(end - text.data()));
    for (const auto& unit : units) {
        std::int64_t product = 0;
        if (unit.suffix == suffix && !__builtin_mul_overflow(number, unit.factor, &product)) return product;
    }
    return std::nullopt;
}

Status bad(const ConfigKey& key, StatusCode code, std::string_view why) {
    return {code, std::string(key.name) + ": " + std::string(why)};
}

}  // namespace

Status FakeConfig::parseValue(Value& value) {
    const ConfigKey& key = *value.key;
    const std::string_view text = value.text;
    std::optional<std::int64_t> integer;
    switch (key.type) {
        case ConfigType::Text:
            if (!key.choices.empty() && !hasWord(key.choices, text)) {
                return bad(key, StatusCode::InvalidArgument, "must be one of: " + std::string(key.choices));
            }
            return Status::ok();
        case ConfigType::Path: return Status::ok();
        case ConfigType::Bool:
            if (text != "true" && text != "false") return bad(key, StatusCode::InvalidArgument, "must be true or false");
            value.flag = text == "true";
            return Status::ok();
        case ConfigType::Double: {
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value.number);
            if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value.number)) {
                return bad(key, StatusCode::InvalidArgument, "must be a number");
            }
            return Status::ok();
        }
        case ConfigType::Int: integer = integerWithUnit(text, std::span(kByteUnits).first(1)); break;
        case ConfigType::Bytes: integer = integerWithUnit(text, kByteUnits); break;
        case ConfigType::Millis: integer = integerWithUnit(text, kTimeUnits); break;
    }
    if (!integer) return bad(key, StatusCode::InvalidArgument, "'" + value.text + "' is not a whole number that fits");
    if (*integer < key.min || *integer > key.max) {
        return bad(key, StatusCode::OutOfRange, "must be from " + std::to_string(key.min) + " to " + std::to_string(key.max));
    }
    value.integer = *integer;
    return Status::ok();
}

Result<FakeConfig> FakeConfig::parse(std::span<const ConfigKey> keys, const Settings& settings) {
    FakeConfig config;
    for (const auto& key : keys) {
        Value& value = config.values_[std::string(key.name)];
        PATCHBAY_ASSERT(value.key == nullptr);  // the plugin's table names a key twice
        value.key = &key;
        value.text = key.defaultValue;
    }
    for (const auto& [name, text] : settings) {
        auto at = config.values_.find(name);
        for (const auto& key : keys) {
            if (at == config.values_.end() && hasWord(key.aliases, name)) at = config.values_.find(key.name);
        }
        if (at == config.values_.end()) return Status(StatusCode::NotFound, "unknown key " + name);
        if (at->second.set) return Status(StatusCode::AlreadyExists, at->first + " is set twice");
        at->second.text = text;
        at->second.set = true;
    }
    for (auto& [name, value] : config.values_) {
        if (const Status parsed = parseValue(value); !parsed) return parsed;
    }
    return config;
}

const FakeConfig::Value& FakeConfig::find(std::string_view key) const {
    const auto at = values_.find(key);
    PATCHBAY_ASSERT(at != values_.end());  // the plugin asks for a key that it did not declare
    return at->second;
}

std::string_view FakeConfig::text(std::string_view key) const {
    const Value& value = find(key);
    PATCHBAY_ASSERT(value.key->type == ConfigType::Text || value.key->type == ConfigType::Path);
    return value.text;
}

std::int64_t FakeConfig::integer(std::string_view key) const {
    const Value& value = find(key);
    const ConfigType type = value.key->type;
    PATCHBAY_ASSERT(type == ConfigType::Int || type == ConfigType::Bytes || type == ConfigType::Millis);
    return value.integer;
}

double FakeConfig::number(std::string_view key) const {
    const Value& value = find(key);
    PATCHBAY_ASSERT(value.key->type == ConfigType::Double);
    return value.number;
}

bool FakeConfig::flag(std::string_view key) const {
    const Value& value = find(key);
    PATCHBAY_ASSERT(value.key->type == ConfigType::Bool);
    return value.flag;
}

bool FakeConfig::isSet(std::string_view key) const { return find(key).set; }

std::vector<std::string_view> FakeConfig::changedFrom(const FakeConfig& before) const {
    std::vector<std::string_view> names;
    for (const auto& [name, value] : values_) {
        if (value.text != before.find(name).text) names.push_back(value.key->name);
    }
    return names;
}

std::vector<plugin::ConfigEntry> FakeRuntimeConfig::snapshot(std::string_view) const {
    const std::lock_guard lock(mutex_);
    std::vector<plugin::ConfigEntry> all;
    for (const auto& [name, entry] : entries_) all.push_back(entry);
    return all;
}

Status FakeRuntimeConfig::apply(std::string_view, std::span<const plugin::ConfigEntry> changes) {
    const std::lock_guard lock(mutex_);
    if (!answer_) return answer_;
    for (const auto& change : changes) {
        entries_[change.key] = change;
        applied_.push_back(change);
    }
    ++changes_;
    return Status::ok();
}

std::int64_t FakeRuntimeConfig::changeCount() const noexcept {
    const std::lock_guard lock(mutex_);
    return changes_;
}

void FakeRuntimeConfig::set(std::string key, std::string value) {
    const std::lock_guard lock(mutex_);
    entries_[key] = {key, std::move(value)};
}

void FakeRuntimeConfig::answerWith(Status status) {
    const std::lock_guard lock(mutex_);
    answer_ = std::move(status);
}

std::vector<plugin::ConfigEntry> FakeRuntimeConfig::applied() const {
    const std::lock_guard lock(mutex_);
    return applied_;
}

}  // namespace patchbay::testkit

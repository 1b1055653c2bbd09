// FakeConfig: a plugin's configuration made from its key table and a few values, by the kernel's rules.
#pragma once

#include "patchbay/plugin/Config.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::testkit {

/// Values as an operator would write them, by key or alias.
using Settings = std::map<std::string, std::string, std::less<>>;

/// A ConfigView whose values are parsed and checked as in a real start. A value; keeps the key table by reference, which is
/// static data of the plugin. Asking for an undeclared key, or by another type, aborts.
class FakeConfig final : public plugin::ConfigView {
public:
    /// NotFound for an unknown key, AlreadyExists for a key set under two names, InvalidArgument and OutOfRange for bad
    /// values; the message names the key.
    static Result<FakeConfig> parse(std::span<const plugin::ConfigKey> keys, const Settings& settings);

    [[nodiscard]] std::string_view text(std::string_view key) const override;
    [[nodiscard]] std::int64_t integer(std::string_view key) const override;
    [[nodiscard]] double number(std::string_view key) const override;
    [[nodiscard]] bool flag(std::string_view key) const override;
    [[nodiscard]] bool isSet(std::string_view key) const override;
    /// Names of the keys whose values differ from another view of the same table.
    [[nodiscard]] std::vector<std::string_view> changedFrom(const FakeConfig& before) const;

private:
    struct Value {
        const plugin::ConfigKey* key = nullptr;
        std::string text;
        std::int64_t integer = 0;
        double number = 0;
        bool flag = false;
        bool set = false;
    };
    static Status parseValue(Value& value);
    [[nodiscard]] const Value& find(std::string_view key) const;

    std::map<std::string, Value, std::less<>> values_;
};

/// All keys of an imaginary process: entries that the test fills in, and a record of what was applied. Thread-safe.
class FakeRuntimeConfig final : public plugin::RuntimeConfig {
public:
    [[nodiscard]] std::vector<plugin::ConfigEntry> snapshot(std::string_view listener) const override;
    Status apply(std::string_view listener, std::span<const plugin::ConfigEntry> changes) override;
    [[nodiscard]] std::int64_t changeCount() const noexcept override;

    void set(std::string key, std::string value);
    /// What the next apply() calls answer; Ok at first. A failing apply() changes nothing.
    void answerWith(Status status);
    /// Everything that apply() accepted, in order.
    [[nodiscard]] std::vector<plugin::ConfigEntry> applied() const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, plugin::ConfigEntry> entries_;
    std::vector<plugin::ConfigEntry> applied_;
    Status answer_;
    std::int64_t changes_ = 0;
};

}  // namespace patchbay::testkit

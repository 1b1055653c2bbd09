// Reading structs out of JSON values, with one error for the first member that does not fit.
#pragma once

#include "patchbay/protocol/json/Value.h"

#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::protocol {

/// Reads the members of one object into the caller's variables. A member that is absent or null leaves its variable as
/// it is: missing keys mean defaults. The first member of a wrong type is remembered, and finish() tells it.
/// Lives on the stack of one read().
class Fields {
public:
    Fields(json::Value object, std::string_view what) : object_(object), what_(what) {
        if (!object.isObject()) error_ = Status(StatusCode::Corrupt, std::string(what) + ": not a JSON object");
    }

    template <typename T>
    Fields& read(std::string_view key, T& out) {
        const json::Value value = object_[key];
        if (error_.isOk() && !value.isNull()) assign(key, value, out);
        return *this;
    }

    [[nodiscard]] json::Value member(std::string_view key) const noexcept { return object_[key]; }

    template <typename T>
    Result<T> finish(T&& value) && {
        if (!error_.isOk()) return std::move(error_);
        return std::forward<T>(value);
    }

    void wrong(std::string_view key, const Status& why = {}) {
        if (!error_.isOk()) return;
        error_ = Status(StatusCode::Corrupt, std::string(what_) + ": member '" + std::string(key) + "' " +
                                                 (why.isOk() ? "has the wrong type" : "- " + why.message()));
    }

private:
    void assign(std::string_view key, json::Value value, std::string& out) {
        if (auto text = value.text()) {
            out = std::move(*text);
        } else {
            wrong(key);
        }
    }
    void assign(std::string_view key, json::Value value, bool& out) {
        if (const auto truth = value.boolean()) {
            out = *truth;
        } else {
            wrong(key);
        }
    }
    void assign(std::string_view key, json::Value value, double& out) {
        if (const auto number = value.number()) {
            out = *number;
        } else {
            wrong(key);
        }
    }
    void assign(std::string_view key, json::Value value, std::int64_t& out) {
        if (const auto number = value.integer()) {
            out = *number;
        } else {
            wrong(key);
        }
    }
    void assign(std::string_view key, json::Value value, std::int32_t& out) { assignNarrow(key, value, out); }
    void assign(std::string_view key, json::Value value, std::uint32_t& out) { assignNarrow(key, value, out); }

    template <typename T>
    void assignNarrow(std::string_view key, json::Value value, T& out) {
        const auto number = value.integer();
        if (number && std::in_range<T>(*number)) {
            out = static_cast<T>(*number);
        } else {
            wrong(key);
        }
    }

    template <typename T>
    void assign(std::string_view key, json::Value value, std::optional<T>& out) {
        assign(key, value, out.emplace());
    }

    template <typename T>
    void assign(std::string_view key, json::Value value, std::vector<T>& out) {
        if (!value.isArray()) return wrong(key);
        out.clear();
        out.reserve(value.size());
        for (const auto [name, element] : value) {
            if (element.isNull()) continue;
            assign(key, element, out.emplace_back());
            if (!error_.isOk()) return;
        }
    }

    template <typename K, typename T, typename L>
    void assign(std::string_view key, json::Value value, std::map<K, T, L>& out) {
        if (!value.isObject()) return wrong(key);
        out.clear();
        for (const auto [name, element] : value) {
            K parsed{};
            if (element.isNull()) continue;
            if (!parseKey(name, parsed)) return wrong(key);
            T& slot = out[std::move(parsed)];
            slot = T();  // a duplicate counts as if it were alone
            assign(key, element, slot);
            if (!error_.isOk()) return;
        }
    }

    /// Structs that know how to read themselves.
    template <typename T>
    requires requires(json::Value value) { T::read(value); }
    void assign(std::string_view key, json::Value value, T& out) {
        auto read = T::read(value);
        if (read) {
            out = std::move(*read);
        } else {
            wrong(key, read.error());
        }
    }

    static bool parseKey(std::string_view name, std::string& out) {
        out = name;
        return true;
    }
    static bool parseKey(std::string_view name, std::int32_t& out) { return parseWhole(name, out); }
    static bool parseKey(std::string_view name, std::int64_t& out) { return parseWhole(name, out); }
    /// A key that is an object itself.
    template <typename T>
    requires requires(std::string_view text) { T::fromJson(text); }
    static bool parseKey(std::string_view name, T& out) {
        auto read = T::fromJson(name);
        if (read) out = std::move(*read);
        return read.has_value();
    }
    static bool parseWhole(std::string_view name, auto& out) {
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), out);
        return error == std::errc() && end == name.data() + name.size();
    }

    const json::Value object_;
    const std::string_view what_;
    Status error_;
};

}  // namespace patchbay::protocol

// Writing the containers that bodies are made of.
#pragma once

#include "patchbay/protocol/json/Writer.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace patchbay::protocol {

inline void writeValue(json::Writer& out, const std::string& value) {
    out.string(value);
}
inline void writeValue(json::Writer& out, std::int32_t value) {
    out.integer(value);
}
inline void writeValue(json::Writer& out, std::int64_t value) {
    out.integer(value);
}

template <typename T>
requires requires(const T& body, json::Writer& out) {
    body.write(out);
}
void writeValue(json::Writer& out, const T& value) {
    value.write(out);
}

template <typename T>
void writeValue(json::Writer& out, const std::vector<T>& values) {
    out.beginArray();
    for (const T& value : values)
        writeValue(out, value);
    out.endArray();
}

inline void writeKey(json::Writer& out, const std::string& key) {
    out.key(std::string_view(key));
}
inline void writeKey(json::Writer& out, std::int32_t key) {
    out.key(std::int64_t{key});
}
inline void writeKey(json::Writer& out, std::int64_t key) {
    out.key(key);
}
template <typename T>
requires requires(const T& key) {
    key.toJson();
}
void writeKey(json::Writer& out, const T& key) {
    out.objectKey(key.toJson());
}

template <typename K, typename T, typename L>
void writeValue(json::Writer& out, const std::map<K, T, L>& values) {
    out.beginObject();
    for (const auto& [key, value] : values) {
        writeKey(out, key);
        writeValue(out, value);
    }
    out.endObject();
}

template <typename T>
void writeMember(json::Writer& out, std::string_view name, const T& value) {
    out.key(name);
    writeValue(out, value);
}

/// fastjson leaves nulls out.
template <typename T>
void writeMember(json::Writer& out, std::string_view name, const std::optional<T>& value) {
    if (value) writeMember(out, name, *value);
}

}  // namespace patchbay::protocol

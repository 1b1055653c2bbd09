#include "patchbay/protocol/message/Properties.h"

#include <algorithm>

namespace patchbay::protocol {
namespace {

/// Cuts the first entry off `rest`, without its 0x02.
std::string_view takeEntry(std::string_view& rest) noexcept {
    const std::size_t end = rest.find(kPropertyEnd);
    const std::string_view entry = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    return entry;
}

bool splitEntry(std::string_view entry, std::string_view& name, std::string_view& value) noexcept {
    const std::size_t end = entry.find(kPropertyNameEnd);
    if (end == std::string_view::npos || end == 0 || end + 1 == entry.size()) return false;
    name = entry.substr(0, end);
    value = entry.substr(end + 1);
    return true;
}

}  // namespace

bool PropertyReader::next(std::string_view& name, std::string_view& value) noexcept {
    while (!rest_.empty()) {
        if (splitEntry(takeEntry(rest_), name, value)) return true;
    }
    return false;
}

std::string_view findProperty(std::string_view text, std::string_view name) noexcept {
    PropertyReader reader(text);
    std::string_view found;
    std::string_view entryName;
    std::string_view value;
    while (reader.next(entryName, value)) {
        if (entryName == name) found = value;
    }
    return found;
}

void appendProperty(std::string& text, std::string_view name, std::string_view value) {
    text.reserve(text.size() + propertyBytes(name, value) + 1);
    if (needsPropertySeparator(text)) text.push_back(kPropertyEnd);
    text.append(name);
    text.push_back(kPropertyNameEnd);
    text.append(value);
    text.push_back(kPropertyEnd);
}

std::string withoutProperty(std::string_view text, std::string_view name) {
    std::string out;
    out.reserve(text.size());
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view before = rest;
        const std::string_view entry = takeEntry(rest);
        const bool named =
            entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == kPropertyNameEnd;
        if (!named) out.append(before.substr(0, before.size() - rest.size()));
    }
    return out;
}

Properties::Properties(std::string_view text) {
    PropertyReader reader(text);
    std::string_view name;
    std::string_view value;
    while (reader.next(name, value))
        set(name, value);
}

std::string_view Properties::get(std::string_view name) const noexcept {
    for (const auto& [entryName, value] : entries_) {
        if (entryName == name) return value;
    }
    return {};
}

void Properties::set(std::string_view name, std::string_view value) {
    if (value.empty()) return remove(name);
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [name](const auto& e) { return e.first == name; });
    if (found != entries_.end()) {
        found->second = value;
    } else {
        entries_.emplace_back(name, value);
    }
}

void Properties::remove(std::string_view name) {
    std::erase_if(entries_, [name](const auto& entry) { return entry.first == name; });
}

std::string Properties::encode() const {
    std::string text;
    std::size_t bytes = 0;
    for (const auto& [name, value] : entries_)
        bytes += propertyBytes(name, value);
    text.reserve(bytes);
    for (const auto& [name, value] : entries_) {
        text.append(name).push_back(kPropertyNameEnd);
        text.append(value).push_back(kPropertyEnd);
    }
    return text;
}

}  // namespace patchbay::protocol

#include "Line.h"

#include <array>
#include <cstdio>
#include <ctime>

namespace patchbay::storetool {

Line::Line(bool json, std::string_view kind) : json_(json) {
    if (json_) {
        text_ = "{\"kind\":";
        quote(kind);
    } else {
        text_ = kind;
    }
}

void Line::begin(std::string_view name) {
    text_ += json_ ? ',' : ' ';
    if (json_) {
        quote(name);
        text_ += ':';
    } else {
        text_.append(name) += '=';
    }
}

void Line::quote(std::string_view text) {
    text_ += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            (text_ += '\\') += c;
        } else if (byte < 0x20 || byte == 0x7F) {
            std::array<char, 8> code;
            std::snprintf(code.data(), code.size(), "\\u%04x", byte);
            text_ += code.data();
        } else {
            text_ += c;
        }
    }
    text_ += '"';
}

Line& Line::add(std::string_view name, std::string_view value) {
    begin(name);
    bool plain = !value.empty() && !json_;
    for (const char c : value) plain = plain && c > ' ' && c != '"' && c != '\\' && c != 0x7F;
    if (plain) {
        text_ += value;
    } else {
        quote(value);
    }
    return *this;
}

Line& Line::add(std::string_view name, std::int64_t value) {
    begin(name);
    text_ += std::to_string(value);
    return *this;
}

Line& Line::add(std::string_view name, bool value) {
    begin(name);
    text_ += value ? "true" : "false";
    return *this;
}

Status Line::to(const LineSink& out) && {
    if (json_) text_ += '}';
    if (!out || out(text_)) return Status::ok();
    return {StatusCode::Cancelled, "the reader of the lines gave up"};
}

std::string timeText(std::int64_t ms) {
    if (ms <= 0) return "-";
    const std::time_t seconds = ms / 1000;
    std::tm time{};
    ::gmtime_r(&seconds, &time);
    std::array<char, 40> text;
    const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &time);
    std::snprintf(text.data() + length, text.size() - length, ".%03d", static_cast<int>(ms % 1000));
    return text.data();
}

}  // namespace patchbay::storetool

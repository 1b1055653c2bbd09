#include "output/Output.h"

#include "patchbay/protocol/json/Writer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace patchbay::patchctl {

namespace {

std::string cellText(const Cell& cell, Show show) {
    struct Text {
        Show show;
        std::string operator()(std::monostate) const { return "-"; }
        std::string operator()(const std::string& text) const { return text.empty() ? "-" : text; }
        std::string operator()(std::int64_t number) const {
            if (show == Show::Time) return timeText(number);
            return show == Show::Bytes ? bytesText(number) : std::to_string(number);
        }
        std::string operator()(double number) const {
            std::array<char, 48> text{};
            std::snprintf(text.data(), text.size(), "%.2f", number);
            return text.data();
        }
        std::string operator()(bool flag) const { return flag ? "yes" : "no"; }
    };
    // Control characters of names that others chose shall not steer the terminal.
    std::string text = std::visit(Text{show}, cell);
    std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
    return text;
}

bool isRight(const Cell& cell, Show show) {
    return show != Show::Time && (std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell));
}

/// Columns on the terminal, as far as UTF-8 lets one count without a table.
std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

void writeCell(json::Writer& out, std::string_view key, const Cell& cell) {
    out.key(key);
    struct Write {
        json::Writer& out;
        void operator()(std::monostate) const { out.null(); }
        void operator()(const std::string& text) const { out.string(text); }
        void operator()(std::int64_t number) const { out.integer(number); }
        void operator()(double number) const { out.number(number); }
        void operator()(bool flag) const { out.boolean(flag); }
    };
    std::visit(Write{out}, cell);
}

}  // namespace

std::string timeText(std::int64_t wallMs) {
    if (wallMs <= 0) return "-";
    const std::time_t seconds = wallMs / 1000;
    std::tm local{};
    localtime_r(&seconds, &local);
    std::array<char, 40> text{};
    const auto size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &local);
    std::snprintf(text.data() + size, text.size() - size, ".%03d", static_cast<int>(wallMs % 1000));
    return text.data();
}

std::string bytesText(std::int64_t bytes) {
    static constexpr std::array<char, 5> kUnits{'K', 'M', 'G', 'T', 'P'};
    if (bytes < 1024) return std::to_string(bytes);
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (value /= 1024; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f%c", value, kUnits[unit]);
    return text.data();
}

void Output::print(const Table& table) {
    endProgress();
    if (json_) {
        std::string text;
        json::Writer out(text);
        out.beginArray();
        for (const auto& row : table.rows) {
            out.beginObject();
            for (std::size_t i = 0; i < row.size(); ++i) writeCell(out, table.columns[i].key, row[i]);
            out.endObject();
        }
        out.endArray();
        out_ << text << '\n';
        return;
    }
    std::vector<std::vector<std::string>> texts;
    std::vector<std::size_t> widths;
    for (const auto& column : table.columns) widths.push_back(column.title.size());
    for (const auto& row : table.rows) {
        auto& line = texts.emplace_back();
        for (std::size_t i = 0; i < row.size(); ++i) {
            line.push_back(cellText(row[i], table.columns[i].show));
            widths[i] = std::max(widths[i], width(line.back()));
        }
    }
    const auto put = [&](std::string_view text, std::size_t i, bool right) {
        const std::string pad(widths[i] - std::min(widths[i], width(text)), ' ');
        const bool last = i + 1 == widths.size();
        if (right) {
            out_ << pad << text;
        } else {
            out_ << text << (last ? std::string() : pad);
        }
        out_ << (last ? "\n" : "  ");
    };
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const bool right = !table.rows.empty() && isRight(table.rows.front()[i], table.columns[i].show);
        put(table.columns[i].title, i, right);
    }
    for (std::size_t r = 0; r < texts.size(); ++r) {
        for (std::size_t i = 0; i < texts[r].size(); ++i) put(texts[r][i], i, isRight(table.rows[r][i], table.columns[i].show));
    }
}

void Output::print(const Record& record) {
    endProgress();
    if (json_) {
        std::string text;
        json::Writer out(text);
        out.beginObject();
        for (const auto& field : record.fields) writeCell(out, field.key, field.value);
        out.endObject();
        out_ << text << '\n';
        return;
    }
    std::size_t widest = 0;
    for (const auto& field : record.fields) widest = std::max(widest, field.key.size());
    for (const auto& field : record.fields) {
        out_ << field.key << std::string(widest - field.key.size() + 2, ' ') << cellText(field.value, field.show) << '\n';
    }
}

void Output::print(std::string_view json, std::string_view text) {
    endProgress();
    out_ << (json_ ? json : text) << '\n';
}

void Output::say(std::string_view line) {
    if (json_) return;
    endProgress();
    out_ << line << '\n';
}

void Output::error(const Status& status) {
    endProgress();
    if (json_) {
        Record record;
        record.add("error", status.message());
        record.add("kind", std::string(toString(status.code())));
        print(record);
        return;
    }
    err_ << "patchctl: " << status.message() << '\n';
}

void Output::warn(std::string_view line) {
    endProgress();
    err_ << "patchctl: " << line << '\n';
}

void Output::progress(std::string_view what, std::int64_t done, std::int64_t all) {
    if (!terminal_ || json_) return;
    static constexpr std::int64_t kCells = 30;
    const std::int64_t filled = all > 0 ? std::min(done, all) * kCells / all : 0;
    err_ << "\r\033[K[" << std::string(static_cast<std::size_t>(filled), '#') << std::string(static_cast<std::size_t>(kCells - filled), ' ')
         << "] " << done << " of " << all << ' ' << what << std::flush;
    bar_ = true;
}

void Output::endProgress() {
    if (!bar_) return;
    err_ << "\r\033[K" << std::flush;
    bar_ = false;
}

}  // namespace patchbay::patchctl

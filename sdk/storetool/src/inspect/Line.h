// Line: one line of output, as text for people or as a JSON object.
#pragma once

#include "patchbay/storetool/StoreTool.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace patchbay::storetool {

/// Text: "kind name=value …", values with blanks in quotes. JSON: {"kind":"…","name":value,…}. A value; one line each.
class Line {
public:
    Line(bool json, std::string_view kind);
    Line& add(std::string_view name, std::string_view value);
    Line& add(std::string_view name, const char* value) { return add(name, std::string_view(value)); }
    Line& add(std::string_view name, std::int64_t value);
    Line& add(std::string_view name, bool value);
    /// Hands it out; Cancelled when the reader wants no more.
    [[nodiscard]] Status to(const LineSink& out) &&;

private:
    void begin(std::string_view name);
    void quote(std::string_view text);

    const bool json_;
    std::string text_;
};

/// "2026-11-30 01:02:03.004" in UTC, or "-" for 0.
[[nodiscard]] std::string timeText(std::int64_t ms);

}  // namespace patchbay::storetool

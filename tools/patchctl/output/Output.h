// Output: what a command tells: tables for people, JSON for scripts.
#pragma once

#include "patchbay/base/Status.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace patchbay::patchctl {

/// A value as JSON has it; monostate is null, "-" for people.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;

enum class Show : std::uint8_t {
    Plain,
    Time,    ///< ms since the epoch; people read local time
    Bytes,   ///< people read K, M, G
};

struct Column {
    std::string_view key;     ///< of the JSON member; never changes
    std::string_view title;
    Show show = Show::Plain;
};

/// Rows of equal columns. Numbers are aligned to the right.
struct Table {
    std::vector<Column> columns;
    std::vector<std::vector<Cell>> rows;
    void add(std::vector<Cell> row) { rows.push_back(std::move(row)); }
};

/// One thing and what is known of it, in order.
struct Record {
    struct Field {
        std::string_view key;
        Cell value;
        Show show = Show::Plain;
    };
    std::vector<Field> fields;
    void add(std::string_view key, Cell value, Show show = Show::Plain) { fields.push_back({key, std::move(value), show}); }
};

/// Used by one thread. A command prints one table or record; commands that go on (tail, top) print several, in JSON one a line.
class Output {
public:
    Output(std::ostream& out, std::ostream& err, bool json, bool terminal)
        : out_(out), err_(err), json_(json), terminal_(terminal) {}

    void print(const Table& table);
    void print(const Record& record);
    /// JSON that is there already, or the text for people.
    void print(std::string_view json, std::string_view text);
    /// For people only.
    void say(std::string_view line);
    void error(const Status& status);
    /// For a person beside what is printed, in JSON too: it goes to standard error.
    void warn(std::string_view line);
    /// A bar on the terminal's error stream, e.g. "12,000 of 50,000 messages"; nothing elsewhere.
    void progress(std::string_view what, std::int64_t done, std::int64_t all);
    void endProgress();
    void flush() { out_.flush(); }

    [[nodiscard]] bool json() const noexcept { return json_; }
    [[nodiscard]] bool terminal() const noexcept { return terminal_; }
    [[nodiscard]] std::ostream& raw() noexcept { return out_; }

private:
    std::ostream& out_;
    std::ostream& err_;
    bool json_;
    bool terminal_;
    bool bar_ = false;
};

/// "2026-11-29 17:29:27.025", local time; "-" for what is no time.
[[nodiscard]] std::string timeText(std::int64_t wallMs);
/// "1.5K".
[[nodiscard]] std::string bytesText(std::int64_t bytes);

}  // namespace patchbay::patchctl

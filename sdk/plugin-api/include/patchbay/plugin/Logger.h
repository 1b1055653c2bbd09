// Logging for plugins: a fixed message and key=value pairs.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace patchbay::plugin {

enum class LogLevel : std::uint8_t { Trace, Debug, Info, Warn, Error };

/// One key=value pair. Holds views; lives only for the call.
class LogField {
public:
    LogField(std::string_view key, std::string_view value) : key_(key), text_(value), kind_(Kind::Text) {}
    LogField(std::string_view key, const char* value) : LogField(key, std::string_view(value)) {}
    LogField(std::string_view key, const std::string& value) : LogField(key, std::string_view(value)) {}
    LogField(std::string_view key, bool value) : LogField(key, std::string_view(value ? "true" : "false")) {}
    LogField(std::string_view key, double value) : key_(key), real_(value), kind_(Kind::Real) {}
    template <std::integral T>
    LogField(std::string_view key, T value) : key_(key), integer_(static_cast<std::int64_t>(value)), kind_(Kind::Integer) {}

    /// Appends " key=value"; values with blanks or quotes are quoted.
    void appendTo(std::string& out) const;

private:
    enum class Kind : std::uint8_t { Text, Integer, Real };
    std::string_view key_;
    std::string_view text_;
    std::int64_t integer_ = 0;
    double real_ = 0;
    Kind kind_;
};

/// A named logger ("plugin.pull"). Thread-safe; never blocks on the disk (the oldest lines are dropped and counted when
/// the writer falls behind). Nothing of the caller is kept after the call.
class Logger {
public:
    using Fields = std::initializer_list<LogField>;

    virtual ~Logger();
    [[nodiscard]] virtual bool enabled(LogLevel level) const noexcept = 0;
    void debug(std::string_view message, Fields fields = {}) { log(LogLevel::Debug, message, fields); }
    void info(std::string_view message, Fields fields = {}) { log(LogLevel::Info, message, fields); }
    void warn(std::string_view message, Fields fields = {}) { log(LogLevel::Warn, message, fields); }
    void error(std::string_view message, Fields fields = {}) { log(LogLevel::Error, message, fields); }
    void log(LogLevel level, std::string_view message, Fields fields);
    /// For what a peer can cause at will: one line per message text in ten seconds, with the number that was hidden.
    void limited(LogLevel level, std::string_view message, Fields fields = {});

protected:
    virtual void write(LogLevel level, std::string_view line) noexcept = 0;
    /// True when a line with this message may be written now; then `hidden` is how many were suppressed before it.
    virtual bool admit(std::string_view message, std::uint64_t& hidden) noexcept = 0;
};

}  // namespace patchbay::plugin

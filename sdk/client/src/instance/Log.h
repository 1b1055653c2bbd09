// Log: where a client says what happens to it.
#pragma once

#include "patchbay/client/ClientOptions.h"

#include <mutex>
#include <string>
#include <string_view>

namespace patchbay::client {

/// Any thread. A line that a sink throws over goes to standard error.
class Log {
public:
    explicit Log(LogSink sink) : sink_(std::move(sink)) {}
    void debug(std::string_view text) const { write(LogLevel::Debug, text); }
    void info(std::string_view text) const { write(LogLevel::Info, text); }
    void warn(std::string_view text) const { write(LogLevel::Warn, text); }
    void error(std::string_view text) const { write(LogLevel::Error, text); }

private:
    void write(LogLevel level, std::string_view text) const;

    const LogSink sink_;
    mutable std::mutex mutex_;
};

}  // namespace patchbay::client

// LogSinks: the client's log in the application's own. This header needs neither of the libraries that it knows how to call.
#pragma once

#include "patchbay/client/ClientOptions.h"

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::client {

/// Poco::Logger, and what has its functions.
template <typename T>
concept PocoLogger = requires(T& logger, const std::string& text) {
    logger.debug(text);
    logger.information(text);
    logger.warning(text);
    logger.error(text);
};

/// spdlog::logger, and what has its functions.
template <typename T>
concept SpdLogger = requires(T& logger, std::string_view text) {
    logger.debug(text);
    logger.info(text);
    logger.warn(text);
    logger.error(text);
};

/// options.client.log = logTo(Poco::Logger::get("broker")); the logger has to outlive the clients, as those of Poco's own list do.
template <PocoLogger Logger>
[[nodiscard]] LogSink logTo(Logger& logger) {
    return [&logger](LogLevel level, std::string_view line) {
        const std::string text(line);
        switch (level) {
            case LogLevel::Debug: return logger.debug(text);
            case LogLevel::Info: return logger.information(text);
            case LogLevel::Warn: return logger.warning(text);
            case LogLevel::Error: return logger.error(text);
        }
    };
}

/// options.client.log = logTo(spdlog::default_logger()); the client keeps the logger. Null: as if no sink were given.
template <SpdLogger Logger>
[[nodiscard]] LogSink logTo(std::shared_ptr<Logger> logger) {
    if (!logger) return {};
    return [logger = std::move(logger)](LogLevel level, std::string_view line) {
        switch (level) {
            case LogLevel::Debug: return logger->debug(line);
            case LogLevel::Info: return logger->info(line);
            case LogLevel::Warn: return logger->warn(line);
            case LogLevel::Error: return logger->error(line);
        }
    };
}

}  // namespace patchbay::client

// Proved: what a client logs comes out of Poco's loggers and spdlog's, word for word and with its level.
// How: both libraries, writing into memory.
// Left to others: what is logged when.
#include "patchbay/client/LogSinks.h"

#include <Poco/AutoPtr.h>
#include <Poco/Channel.h>
#include <Poco/Logger.h>
#include <Poco/Message.h>
#include <gtest/gtest.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <array>
#include <sstream>

namespace patchbay::client {
namespace {

constexpr std::array kLevels{LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error};
// Neither may take it for a format.
constexpr const char* kLine = "queue 3 of 'T' {} %s";

class Memory final : public Poco::Channel {
public:
    void log(const Poco::Message& message) override { lines << static_cast<int>(message.getPriority()) << ' ' << message.getText() << '\n'; }
    std::ostringstream lines;
};

TEST(LogSinks, WriteToPoco) {
    const Poco::AutoPtr<Memory> memory(new Memory);
    auto& logger = Poco::Logger::create("sinks", memory, Poco::Message::PRIO_TRACE);
    const auto sink = logTo(logger);
    for (const auto level : kLevels) sink(level, kLine);
    const std::string line = std::string(" ") + kLine + "\n";
    EXPECT_EQ(memory->lines.str(), "7" + line + "6" + line + "4" + line + "3" + line);
    Poco::Logger::destroy("sinks");
}

TEST(LogSinks, WriteToSpdlog) {
    std::ostringstream lines;
    auto logger = std::make_shared<spdlog::logger>("sinks", std::make_shared<spdlog::sinks::ostream_sink_st>(lines));
    logger->set_level(spdlog::level::debug);
    logger->set_pattern("%L %v");
    const auto sink = logTo(std::move(logger));
    for (const auto level : kLevels) sink(level, kLine);
    const std::string line = std::string(" ") + kLine + "\n";
    EXPECT_EQ(lines.str(), "D" + line + "I" + line + "W" + line + "E" + line);
}

TEST(LogSinks, HaveNothingToWriteToWithoutALogger) { EXPECT_FALSE(logTo(std::shared_ptr<spdlog::logger>())); }

}  // namespace
}  // namespace patchbay::client

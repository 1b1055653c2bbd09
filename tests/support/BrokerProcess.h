// BrokerProcess: the built executable, started for one test on free ports and ended by its process number.
#pragma once

#include "support/TempFolder.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace patchbay::test {

/// What a finished run printed and answered.
struct RunResult {
    int exitCode = -1;      ///< 128 + signal when one ended it
    std::string out;
    std::string err;
};

/// A configuration in a temporary folder, and at most one process at a time that runs with it. The main file sets 127.0.0.1, port 0 and
/// a store in that folder; more lines and files of plugins.d are added by the test. Ended with SIGKILL by the destructor.
class BrokerProcess {
public:
    /// `plugins`: name of a file in plugins.d to its text; none = the folder of the source tree, with the plugins that were built.
    explicit BrokerProcess(std::string mainLines = {}, std::map<std::string, std::string> plugins = {});
    ~BrokerProcess();
    BrokerProcess(const BrokerProcess&) = delete;
    BrokerProcess& operator=(const BrokerProcess&) = delete;

    /// Libraries come from this directory instead of the build's.
    void setPluginDirectory(std::string directory) { pluginDirectory_ = std::move(directory); }
    /// Standard error becomes a pipe that is full and that nobody reads.
    void stuffStandardError() { stuffed_ = true; }
    /// Starts and waits for the ready line. False when it ended or was too slow; output() says why.
    bool start(std::vector<std::string> arguments = {}, std::chrono::seconds limit = std::chrono::seconds(20));
    /// Starts and waits for a text on standard error, before which it need not be ready.
    bool startUntil(std::string_view text, std::vector<std::string> arguments = {}, std::chrono::seconds limit = std::chrono::seconds(20));
    /// Waits for a text on standard error. False when it ended or was too slow.
    bool awaitOutput(std::string_view text, std::chrono::seconds limit = std::chrono::seconds(20));
    /// Runs to its end, as with --check.
    RunResult run(std::vector<std::string> arguments = {}, std::chrono::seconds limit = std::chrono::seconds(20));
    /// Sends a signal and waits for the end; the exit code as in RunResult, -1 when it did not end in time.
    int stop(int signal, std::chrono::seconds limit = std::chrono::seconds(20));
    /// Waits for its end without a signal.
    int wait(std::chrono::seconds limit = std::chrono::seconds(20));
    void signal(int number) const;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] std::uint16_t brokerPort() const { return port("broker"); }
    [[nodiscard]] std::uint16_t namesrvPort() const { return port("namesrv"); }
    [[nodiscard]] std::uint16_t adminPort() const { return port("admin"); }
    [[nodiscard]] const std::string& readyLine() const noexcept { return readyLine_; }
    /// Standard output and error so far.
    [[nodiscard]] std::string output() const { return folder_.read("out") + folder_.read("err"); }
    [[nodiscard]] const TempFolder& folder() const noexcept { return folder_; }
    [[nodiscard]] std::string configPath() const { return folder_ / "main.conf"; }

private:
    void spawn(const std::vector<std::string>& arguments);
    /// Until the file holds enough; false when the process ended before, or was too slow.
    bool awaitFile(const std::string& name, const std::function<bool(const std::string&)>& enough, std::chrono::seconds limit);
    [[nodiscard]] std::uint16_t port(const std::string& listener) const;
    /// True when it ended; the exit code is in exitCode_.
    bool ended(std::chrono::milliseconds wait);

    TempFolder folder_;
    std::string pluginDirectory_;
    std::string pluginConfigDirectory_;
    pid_t pid_ = -1;
    int pidFd_ = -1;
    int exitCode_ = -1;
    bool stuffed_ = false;
    std::string readyLine_;
};

}  // namespace patchbay::test

#include "support/BrokerProcess.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace patchbay::test {

namespace {

/// The reading end stays open, in the process itself.
void stuffPipeInto(int fd) {
    int ends[2];
    if (pipe(ends) != 0) _exit(126);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    const std::array<char, 4096> page{};
    while (write(ends[1], page.data(), page.size()) > 0) {
    }
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], fd);
}

}  // namespace

BrokerProcess::BrokerProcess(std::string mainLines, std::map<std::string, std::string> plugins)
    : pluginDirectory_(PATCHBAY_BUILD_DIR "/plugins"), pluginConfigDirectory_(PATCHBAY_SOURCE_DIR "/etc/plugins.d") {
    folder_.write("main.conf", "bindAddress = 127.0.0.1\nlistenPort = 0\nnamesrv.listenPort = 0\nstorePathRootDir = store\n" + mainLines + "\n");
    if (plugins.empty()) return;
    pluginConfigDirectory_ = folder_ / "plugins.d";
    for (const auto& [name, text] : plugins) folder_.write("plugins.d/" + name, text);
}

BrokerProcess::~BrokerProcess() {
    if (pid_ > 0) stop(SIGKILL);
}

void BrokerProcess::spawn(const std::vector<std::string>& arguments) {
    std::vector<std::string> words{PATCHBAY_BUILD_DIR "/bin/patchbay", "-c", configPath(), "-D", "pluginDirectory=" + pluginDirectory_,
                                   "-D", "pluginConfigDirectory=" + pluginConfigDirectory_};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> raw;
    for (auto& word : words) raw.push_back(word.data());
    raw.push_back(nullptr);
    const auto out = folder_ / "out";
    const auto err = folder_ / "err";
    folder_.write("out", "");
    folder_.write("err", "");
    exitCode_ = -1;
    readyLine_.clear();
    pid_ = fork();
    if (pid_ == 0) {
        dup2(open(out.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC), 1);
        if (stuffed_) stuffPipeInto(2);
        else dup2(open(err.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC), 2);
        execv(raw[0], raw.data());
        _exit(127);
    }
    pidFd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
}

bool BrokerProcess::ended(std::chrono::milliseconds wait) {
    if (pid_ <= 0) return true;
    pollfd fd{pidFd_, POLLIN, 0};
    if (poll(&fd, 1, static_cast<int>(wait.count())) <= 0) return false;
    int status = 0;
    waitpid(pid_, &status, 0);
    exitCode_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    close(pidFd_);
    pid_ = -1;
    return true;
}

bool BrokerProcess::awaitFile(const std::string& name, const std::function<bool(const std::string&)>& enough, std::chrono::seconds limit) {
    if (pid_ <= 0) return enough(folder_.read(name));
    // Told by the system when something was printed; no polling.
    const int watch = inotify_init1(IN_CLOEXEC);
    inotify_add_watch(watch, (folder_ / name).c_str(), IN_MODIFY);
    const auto deadline = std::chrono::steady_clock::now() + limit;
    bool found = false;
    for (;;) {
        found = enough(folder_.read(name));
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        std::array<pollfd, 2> fds{{{watch, POLLIN, 0}, {pidFd_, POLLIN, 0}}};
        if (found || left.count() <= 0 || poll(fds.data(), fds.size(), static_cast<int>(left.count())) <= 0) break;
        if (fds[1].revents != 0 && ended(std::chrono::milliseconds(0))) break;
        std::array<char, 4096> events{};
        if (fds[0].revents != 0) (void)!read(watch, events.data(), events.size());
    }
    close(watch);
    return found;
}

bool BrokerProcess::start(std::vector<std::string> arguments, std::chrono::seconds limit) {
    spawn(arguments);
    return awaitFile("out", [this](const std::string& text) {
        const auto at = text.find(" ready in ");
        const auto end = at == std::string::npos ? at : text.find('\n', at);
        if (end == std::string::npos) return false;
        readyLine_ = text.substr(text.rfind('\n', at) + 1, end - text.rfind('\n', at) - 1);
        return true;
    }, limit);
}

bool BrokerProcess::startUntil(std::string_view text, std::vector<std::string> arguments, std::chrono::seconds limit) {
    spawn(arguments);
    return awaitOutput(text, limit);
}

bool BrokerProcess::awaitOutput(std::string_view text, std::chrono::seconds limit) {
    return awaitFile("err", [text](const std::string& all) { return all.find(text) != std::string::npos; }, limit);
}

RunResult BrokerProcess::run(std::vector<std::string> arguments, std::chrono::seconds limit) {
    spawn(arguments);
    if (!ended(limit)) stop(SIGKILL);
    return {exitCode_, folder_.read("out"), folder_.read("err")};
}

int BrokerProcess::stop(int number, std::chrono::seconds limit) {
    if (pid_ <= 0) return exitCode_;
    signal(number);
    return wait(limit);
}

int BrokerProcess::wait(std::chrono::seconds limit) {
    if (ended(limit)) return exitCode_;
    signal(SIGKILL);
    (void)ended(limit);
    return -1;
}

void BrokerProcess::signal(int number) const {
    if (pid_ > 0) kill(pid_, number);
}

std::uint16_t BrokerProcess::port(const std::string& listener) const {
    const auto name = readyLine_.find(listener + " 127.0.0.1:");
    if (name == std::string::npos) return 0;
    return static_cast<std::uint16_t>(std::strtoul(readyLine_.c_str() + name + listener.size() + 11, nullptr, 10));
}

}  // namespace patchbay::test

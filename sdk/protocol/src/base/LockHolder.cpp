#include "LockHolder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace patchbay {

namespace {

int numberOf(const std::string& name) noexcept {
    int number = -1;
    const char* const end = name.data() + name.size();
    const auto [last, error] = std::from_chars(name.data(), end, number);
    return error == std::errc() && last == end ? number : -1;
}

/// The system tells of a lock that belongs to an open file beside the descriptor of whoever has it open.
bool hasLock(const std::string& process, const std::string& descriptor) {
    std::ifstream info(process + "/fdinfo/" + descriptor);
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("lock:") && line.find(" OFDLCK ") != std::string::npos && line.find(" WRITE ") != std::string::npos) return true;
    }
    return false;
}

bool holds(const std::string& process, const struct stat& wanted) {
    std::error_code error;
    for (std::filesystem::directory_iterator at(process + "/fd", error), end; !error && at != end; at.increment(error)) {
        struct stat info {};
        if (::stat(at->path().c_str(), &info) != 0 || info.st_dev != wanted.st_dev || info.st_ino != wanted.st_ino) continue;
        if (hasLock(process, at->path().filename().string())) return true;
    }
    return false;
}

/// A record lock of a process names it; one of an open file, as ours are, has to be looked for.
int holderOf(int fd) {
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_len = 1;
    if (::fcntl(fd, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK && range.l_pid > 0) return range.l_pid;
    struct stat wanted {};
    if (::fstat(fd, &wanted) != 0) return -1;
    std::error_code error;
    for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
        const int process = numberOf(at->path().filename().string());
        if (process > 0 && holds(at->path().string(), wanted)) return process;
    }
    return -1;
}

}  // namespace

std::string lockHolder(int fd) {
    const int process = holderOf(fd);
    if (process <= 0) return "another process";
    if (process == ::getpid()) return "this process";
    std::ifstream comm("/proc/" + std::to_string(process) + "/comm");
    std::string name;
    std::getline(comm, name);
    return "process " + std::to_string(process) + (name.empty() ? "" : " (" + name + ")");
}

}  // namespace patchbay

#include "plugin/PluginLibrary.h"

#include <atomic>
#include <charconv>
#include <csignal>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace patchbay::kernel {

namespace {

constexpr std::uint64_t kLibraryBytesMax = 256U << 20;

std::string linkerText(const std::string& copy, const std::string& installed) {
    const char* raw = dlerror();
    std::string text = raw != nullptr ? raw : "unknown error of the dynamic linker";
    // The operator knows the installed file, not our copy.
    for (auto at = text.find(copy); at != std::string::npos; at = text.find(copy)) text.replace(at, copy.size(), installed);
    return text;
}

/// From page cache to page cache: a read into memory of our own would double the work at every start. Only the system call looks at
/// the mapping, so that a file which shrinks meanwhile is an error and no signal.
Status copyFile(FileSystem& files, const std::string& from, const std::string& to) {
    const auto file = files.open(from, OpenMode::Read);
    if (!file) return file.error();
    const auto size = (*file)->size();
    if (!size) return size.error();
    if (*size == 0 || *size > kLibraryBytesMax) return {StatusCode::Corrupt, from + " is empty or too large"};
    const auto source = (*file)->map(0, static_cast<std::size_t>(*size));
    if (!source) return source.error();
    const auto target = files.open(to, OpenMode::Create);
    if (!target) return target.error();
    if (auto status = (*target)->truncate(0); !status) return status;
    return (*target)->writeAt((*source)->bytes(), 0);
}

/// The same into anonymous memory: a descriptor, or -1. It stays open as long as the library is mapped: the dynamic linker knows
/// libraries by their names, and a number that is used again would be the wrong library.
int copyToMemory(FileSystem& files, const std::string& from) {
    const auto bytes = files.readAll(from, kLibraryBytesMax);
    if (!bytes || bytes->empty()) return -1;
    const int fd = memfd_create("patchbay-plugin", MFD_CLOEXEC);
    for (std::size_t done = 0; fd >= 0 && done < bytes->size();) {
        const auto count = ::write(fd, bytes->data() + done, bytes->size() - done);
        if (count <= 0) {
            ::close(fd);
            return -1;
        }
        done += static_cast<std::size_t>(count);
    }
    return fd;
}

template <typename F>
F symbol(void* handle, const char* name) {
    return reinterpret_cast<F>(dlsym(handle, name));
}

}  // namespace

Result<std::shared_ptr<PluginLibrary>> PluginLibrary::open(FileSystem& files, const std::string& installed, const std::string& copy) {
    std::string path = copy;
    int memory = -1;
    if (auto status = copyFile(files, installed, copy); !status) {
        (void)files.remove(copy);
        memory = copyToMemory(files, installed);
        if (memory < 0) return status;
        path = "/proc/self/fd/" + std::to_string(memory);
    }
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        Status status(StatusCode::Unavailable, linkerText(path, installed));
        if (memory >= 0) ::close(memory);
        else (void)files.remove(copy);
        return status;
    }
    std::shared_ptr<PluginLibrary> library(new PluginLibrary(files, copy, memory, handle));
    library->unload_ = true;   // until it has proved to be a plugin
    library->create_ = symbol<decltype(create_)>(handle, "patchbay_plugin_create");
    library->destroy_ = symbol<decltype(destroy_)>(handle, "patchbay_plugin_destroy");
    if (library->create_ == nullptr || library->destroy_ == nullptr) {
        return Status(StatusCode::Unavailable, "the library exports no patchbay_plugin_create or patchbay_plugin_destroy");
    }
    library->unload_ = false;
    return library;
}

PluginLibrary::~PluginLibrary() {
    if (unload_) dlclose(handle_);
    if (memory_ < 0) (void)files_.remove(copy_);
    else if (unload_) ::close(memory_);
}

bool PluginLibrary::differsFrom(const std::string& installed) const {
    const auto now = files_.readAll(installed, kLibraryBytesMax);
    const auto mine = files_.readAll(memory_ < 0 ? copy_ : "/proc/self/fd/" + std::to_string(memory_), kLibraryBytesMax);
    return now && mine && *now != *mine;
}

void removeStaleCopies(FileSystem& files, const std::string& directory) {
    const auto entries = files.list(directory);
    if (!entries) return;
    for (const auto& entry : *entries) {
        // <plugin>.<process>.<number>.so
        const auto last = entry.name.rfind('.');
        if (last == std::string::npos || last == 0 || entry.name.substr(last) != ".so") continue;
        const auto number = entry.name.rfind('.', last - 1);
        if (number == std::string::npos || number == 0) continue;
        const auto process = entry.name.rfind('.', number - 1);
        if (process == std::string::npos) continue;
        int pid = 0;
        const auto* end = entry.name.data() + number;
        const auto parsed = std::from_chars(entry.name.data() + process + 1, end, pid);
        if (parsed.ec != std::errc() || parsed.ptr != end || pid <= 0) continue;
        if (pid == getpid() || kill(pid, 0) == 0 || errno != ESRCH) continue;
        (void)files.remove(directory + "/" + entry.name);
    }
}

std::string copyPath(const std::string& directory, const std::string& plugin) {
    static std::atomic<unsigned> number{0};
    return directory + "/" + plugin + "." + std::to_string(getpid()) + "." + std::to_string(++number) + ".so";
}

}  // namespace patchbay::kernel

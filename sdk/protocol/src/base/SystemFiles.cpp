// The operating system's implementation of FileSystem and File.
#include "patchbay/base/FileSystem.h"

#include "LockHolder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

namespace patchbay {

namespace {

Status failure(const char* what, const std::string& path, int error) {
    std::array<char, 128> buffer{};
    const char* const text = strerror_r(error, buffer.data(), buffer.size());
    StatusCode code = StatusCode::Io;
    if (error == ENOSPC || error == EDQUOT) code = StatusCode::Full;
    if (error == ENOENT) code = StatusCode::NotFound;
    return {code, std::string("cannot ") + what + " " + path + ": " + text};
}

template <typename Call>
auto retried(Call call) {
    auto result = call();
    while (result < 0 && errno == EINTR)
        result = call();
    return result;
}

std::size_t pageSize() noexcept {
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

class Descriptor {
public:
    explicit Descriptor(int fd) noexcept : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const noexcept { return fd_; }

private:
    int fd_;
};

class SystemMapping final : public Mapping {
public:
    /// `skip`: bytes between the page boundary that was mapped and the offset that was asked for.
    SystemMapping(void* base, std::size_t mapped, std::size_t skip, std::string path) noexcept
        : base_(base), mapped_(mapped), path_(std::move(path)) {
        bytes_ = {static_cast<const char*>(base) + skip, mapped - skip};
    }
    ~SystemMapping() override { ::munmap(base_, mapped_); }

    [[nodiscard]] bool resident(std::size_t offset, std::size_t size) const noexcept override {
        if (offset > bytes_.size() || size > bytes_.size() - offset) return false;
        const std::size_t page = pageSize();
        const std::size_t skip = mapped_ - bytes_.size();
        std::size_t at = (skip + offset) / page * page;
        const std::size_t end = skip + offset + size;
        std::array<unsigned char, 256> state{};
        while (at < end) {
            const std::size_t pages = std::min(state.size(), (end - at + page - 1) / page);
            if (::mincore(static_cast<char*>(base_) + at, pages * page, state.data()) != 0) return false;
            const auto last = state.begin() + static_cast<std::ptrdiff_t>(pages);
            if (!std::all_of(state.begin(), last, [](unsigned char s) { return (s & 1U) != 0; })) return false;
            at += pages * page;
        }
        return true;
    }

    [[nodiscard]] Status populate(std::size_t offset, std::size_t size) const override {
        if (offset > bytes_.size() || size > bytes_.size() - offset) return failure("read", path_, EFAULT);
        const std::size_t skip = mapped_ - bytes_.size();
        const std::size_t at = (skip + offset) / pageSize() * pageSize();
        char* const from = static_cast<char*>(base_) + at;
        const int done = retried([&] { return ::madvise(from, skip + offset + size - at, MADV_POPULATE_READ); });
        return done == 0 || errno == EINVAL ? Status::ok() : failure("read", path_, errno == EFAULT ? EIO : errno);
    }

private:
    void* base_;
    std::size_t mapped_;
    const std::string path_;
};

class SystemFile final : public File {
public:
    SystemFile(int fd, std::string path) noexcept : fd_(fd), path_(std::move(path)) {}

    [[nodiscard]] const std::string& path() const noexcept override { return path_; }

    [[nodiscard]] Result<std::uint64_t> size() const override {
        struct stat info {};
        if (::fstat(fd_.get(), &info) != 0) return failure("stat", path_, errno);
        return static_cast<std::uint64_t>(info.st_size);
    }

    [[nodiscard]] Result<std::size_t> readAt(std::span<char> buffer, std::uint64_t offset) const override {
        std::size_t done = 0;
        while (done < buffer.size()) {
            char* const to = buffer.data() + done;
            const auto at = static_cast<off_t>(offset + done);
            const ssize_t got = retried([&] { return ::pread(fd_.get(), to, buffer.size() - done, at); });
            if (got < 0) return failure("read", path_, errno);
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        return done;
    }

    Status writeAt(std::string_view bytes, std::uint64_t offset) override {
        while (!bytes.empty()) {
            const ssize_t wrote =
                retried([&] { return ::pwrite(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
            if (wrote < 0) return failure("write", path_, errno);
            bytes.remove_prefix(static_cast<std::size_t>(wrote));
            offset += static_cast<std::uint64_t>(wrote);
        }
        return Status::ok();
    }

    Status writeAt(std::span<iovec> pieces, std::uint64_t offset) override {
        while (!pieces.empty()) {
            const int count = static_cast<int>(std::min<std::size_t>(pieces.size(), IOV_MAX));
            const ssize_t wrote =
                retried([&] { return ::pwritev(fd_.get(), pieces.data(), count, static_cast<off_t>(offset)); });
            if (wrote < 0) return failure("write", path_, errno);
            offset += static_cast<std::uint64_t>(wrote);
            pieces = behind(pieces, static_cast<std::size_t>(wrote));
        }
        return Status::ok();
    }

    Status sync() override {
        if (retried([&] { return ::fdatasync(fd_.get()); }) != 0) return failure("sync", path_, errno);
        return Status::ok();
    }

    void startWriteback(std::uint64_t offset, std::uint64_t size) noexcept override {
        ::sync_file_range(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(size), SYNC_FILE_RANGE_WRITE);
    }

    Status truncate(std::uint64_t size) override {
        if (retried([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size)); }) != 0) {
            return failure("truncate", path_, errno);
        }
        return Status::ok();
    }

    Status allocate(std::uint64_t offset, std::uint64_t size) override {
        // posix_fallocate answers the error instead of setting errno, and falls back to writing where it must.
        int error = EINTR;
        while (error == EINTR) {
            error = ::posix_fallocate(fd_.get(), static_cast<off_t>(offset), static_cast<off_t>(size));
        }
        return error == 0 ? Status::ok() : failure("allocate space in", path_, error);
    }

    [[nodiscard]] Result<Ref<Mapping>> map(std::uint64_t offset, std::size_t size) const override {
        if (size == 0) return Status(StatusCode::InvalidArgument, "cannot map nothing of " + path_);
        const std::size_t skip = static_cast<std::size_t>(offset % pageSize());
        const auto start = static_cast<off_t>(offset - skip);
        void* const base = ::mmap(nullptr, size + skip, PROT_READ, MAP_SHARED, fd_.get(), start);
        if (base == MAP_FAILED) return failure("map", path_, errno);
        return Ref<Mapping>(Ref<SystemMapping>::adopt(new SystemMapping(base, size + skip, skip, path_)));
    }

private:
    // What is left to write after `done` bytes; the first piece left is shortened in place.
    static std::span<iovec> behind(std::span<iovec> pieces, std::size_t done) noexcept {
        while (!pieces.empty() && done >= pieces.front().iov_len) {
            done -= pieces.front().iov_len;
            pieces = pieces.subspan(1);
        }
        if (!pieces.empty()) {
            pieces.front().iov_base = static_cast<char*>(pieces.front().iov_base) + done;
            pieces.front().iov_len -= done;
        }
        return pieces;
    }

    Descriptor fd_;
    std::string path_;
};

// The lock goes with the descriptor.
class SystemLock final : public FileLock {
public:
    explicit SystemLock(int fd) noexcept : fd_(fd) {}

private:
    Descriptor fd_;
};

struct DirectoryCloser {
    void operator()(DIR* directory) const noexcept { ::closedir(directory); }
};

class SystemFileSystem final : public FileSystem {
public:
    [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
        // Without waiting for whoever shall write into it where the name is a pipe's; regular files do not mind.
        int flags = O_CLOEXEC | O_NONBLOCK;
        flags |= mode == OpenMode::Read ? O_RDONLY : O_RDWR;
        if (mode == OpenMode::Create) flags |= O_CREAT;
        const int fd = retried([&] { return ::open(path.c_str(), flags, 0644); });
        if (fd < 0) return failure("open", path, errno);
        auto file = std::make_unique<SystemFile>(fd, path);
        struct stat info {};
        if (::fstat(fd, &info) != 0) return failure("stat", path, errno);
        // A directory opens for reading and then fails in odd places; a pipe would block later.
        if (!S_ISREG(info.st_mode)) return Status(StatusCode::Io, "cannot open " + path + ": it is not a regular file");
        return std::unique_ptr<File>(std::move(file));
    }

    Status makeDirectories(const std::string& path) override {
        if (::mkdir(path.c_str(), 0755) == 0) return Status::ok();
        for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
            const std::string part = path.substr(0, end);
            if (::mkdir(part.c_str(), 0755) != 0 && errno != EEXIST) return failure("make directory", part, errno);
            if (end == std::string::npos) break;
        }
        struct stat info {};
        if (::stat(path.c_str(), &info) != 0) return failure("make directory", path, errno);
        return S_ISDIR(info.st_mode) ? Status::ok() : failure("make directory", path, ENOTDIR);
    }

    [[nodiscard]] Result<std::vector<FileInfo>> list(const std::string& path) const override {
        const std::unique_ptr<DIR, DirectoryCloser> directory(::opendir(path.c_str()));
        if (!directory) return failure("list", path, errno);
        std::vector<FileInfo> entries;
        while (true) {
            errno = 0;
            const dirent* const entry = ::readdir(directory.get());
            if (entry == nullptr) break;
            const std::string_view name = static_cast<const char*>(entry->d_name);
            if (name == "." || name == "..") continue;
            struct stat info {};
            // Removed between the two calls: it is not there any more.
            if (::fstatat(::dirfd(directory.get()), entry->d_name, &info, 0) != 0) continue;
            entries.push_back({std::string(name), static_cast<std::uint64_t>(info.st_size), S_ISDIR(info.st_mode)});
        }
        if (errno != 0) return failure("list", path, errno);
        std::sort(entries.begin(), entries.end(), [](const FileInfo& a, const FileInfo& b) { return a.name < b.name; });
        return entries;
    }

    [[nodiscard]] bool exists(const std::string& path) const noexcept override {
        return ::access(path.c_str(), F_OK) == 0;
    }

    Status rename(const std::string& from, const std::string& to) override {
        if (::rename(from.c_str(), to.c_str()) != 0) return failure("rename", from + " to " + to, errno);
        return Status::ok();
    }

    Status remove(const std::string& path) override {
        if (::remove(path.c_str()) != 0) return failure("remove", path, errno);
        return Status::ok();
    }

    Status syncDirectory(const std::string& path) override {
        const Descriptor directory(retried([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
        if (directory.get() < 0) return failure("open", path, errno);
        if (retried([&] { return ::fsync(directory.get()); }) != 0) return failure("sync", path, errno);
        return Status::ok();
    }

    Status syncAll(const std::string& path) override {
        const Descriptor directory(retried([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
        if (directory.get() < 0) return failure("open", path, errno);
        if (retried([&] { return ::syncfs(directory.get()); }) != 0) return failure("sync the file system of", path, errno);
        return Status::ok();
    }

    [[nodiscard]] Result<DiskSpace> space(const std::string& path) const override {
        struct statvfs info {};
        if (retried([&] { return ::statvfs(path.c_str(), &info); }) != 0) {
            return failure("ask the space of", path, errno);
        }
        const std::uint64_t unit = info.f_frsize;
        // What the system keeps for others, or a quota takes away, is neither used nor free: as df and RocketMQ count.
        return DiskSpace{unit * (info.f_blocks - info.f_bfree + info.f_bavail), unit * info.f_bavail};
    }

    [[nodiscard]] Result<std::unique_ptr<FileLock>> lock(const std::string& path) override {
        const int fd = retried([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644); });
        if (fd < 0) return failure("open", path, errno);
        auto lock = std::make_unique<SystemLock>(fd);
        // A record lock, because flock() and record locks do not see each other; one that belongs to the open file, because that of
        // a process would go when any descriptor of the file is closed, and would not exclude this process itself.
        struct flock range {};
        range.l_type = F_WRLCK;
        range.l_whence = SEEK_SET;
        range.l_start = 0;
        range.l_len = 1;
        if (retried([&] { return ::fcntl(fd, F_OFD_SETLK, &range); }) == 0) return std::unique_ptr<FileLock>(std::move(lock));
        if (errno == EAGAIN || errno == EACCES) return Status(StatusCode::Busy, path + " is locked by " + lockHolder(fd));
        return failure("lock", path, errno);
    }
};

}  // namespace

FileSystem& systemFiles() noexcept {
    // Never destroyed, so that other statics may still close files after it.
    static FileSystem* const files = new SystemFileSystem;
    return *files;
}

}  // namespace patchbay

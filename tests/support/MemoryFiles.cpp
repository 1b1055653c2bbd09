#include "support/MemoryFiles.h"

#include <algorithm>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

namespace patchbay::test {

namespace {

constexpr std::uint64_t kSectorBytes = 512;

std::string parentOf(const std::string& path) { return path.substr(0, path.rfind('/')); }

Status notFound(const std::string& path) { return {StatusCode::NotFound, path + ": no such file or directory"}; }

class MemoryMapping final : public Mapping {
public:
    MemoryMapping(void* base, std::size_t mapped, std::size_t skip) noexcept : base_(base), mapped_(mapped) {
        bytes_ = {static_cast<const char*>(base) + skip, mapped - skip};
    }
    ~MemoryMapping() override { ::munmap(base_, mapped_); }
    [[nodiscard]] bool resident(std::size_t, std::size_t) const noexcept override { return true; }
    [[nodiscard]] Status populate(std::size_t, std::size_t) const override { return Status::ok(); }

private:
    void* base_;
    std::size_t mapped_;
};

}  // namespace

/// One file's bytes, in an anonymous file of the system so that it can be mapped.
struct MemoryFiles::Node {
    Node() : fd(::memfd_create("patchbay-test", MFD_CLOEXEC)) { PATCHBAY_ASSERT(fd >= 0); }
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;
    ~Node() { ::close(fd); }

    void makeDurable() {
        for (const std::uint64_t number : changed) durable.insert_or_assign(number, sector(number));
        changed.clear();
        durableSize = size;
    }

    [[nodiscard]] std::string sector(std::uint64_t number) const {
        std::string bytes(kSectorBytes, '\0');
        const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), static_cast<off_t>(number * kSectorBytes));
        PATCHBAY_ASSERT(got >= 0);
        return bytes;
    }
    void write(std::string_view bytes, std::uint64_t offset) const {
        PATCHBAY_ASSERT(::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes.size()));
    }
    void resize(std::uint64_t bytes) {
        PATCHBAY_ASSERT(::ftruncate(fd, static_cast<off_t>(bytes)) == 0);
        size = bytes;
    }

    const int fd;
    std::uint64_t size = 0;
    std::uint64_t durableSize = 0;
    std::set<std::uint64_t> changed;               // sectors since the last sync
    std::map<std::uint64_t, std::string> durable;  // sectors that are not zero
};

class MemoryFiles::Lock final : public FileLock {
public:
    Lock(MemoryFiles& files, std::string path) : files_(files), path_(std::move(path)) {}
    ~Lock() override {
        const std::lock_guard lock(files_.mutex_);
        files_.locks_.erase(path_);
    }

private:
    MemoryFiles& files_;
    const std::string path_;
};

class MemoryFile final : public File {
public:
    MemoryFile(MemoryFiles& files, std::shared_ptr<MemoryFiles::Node> node, std::string path)
        : files_(files), node_(std::move(node)), path_(std::move(path)) {}

    [[nodiscard]] const std::string& path() const noexcept override { return path_; }
    [[nodiscard]] Result<std::uint64_t> size() const override {
        const std::lock_guard lock(files_.mutex_);
        return node_->size;
    }
    [[nodiscard]] Result<std::size_t> readAt(std::span<char> buffer, std::uint64_t offset) const override {
        const ssize_t got = ::pread(node_->fd, buffer.data(), buffer.size(), static_cast<off_t>(offset));
        PATCHBAY_ASSERT(got >= 0);
        return static_cast<std::size_t>(got);
    }
    Status writeAt(std::string_view bytes, std::uint64_t offset) override {
        const auto lock = files_.change();
        if (files_.untilFailure_ > 0 && --files_.untilFailure_ == 0) {
            put(bytes.substr(0, bytes.size() / 2), offset);
            return files_.failure_;
        }
        const std::uint64_t end = offset + bytes.size();
        if (end > node_->size && files_.used() + end - node_->size > files_.capacity_) {
            return {StatusCode::Full, "cannot write " + path_ + ": no space left"};
        }
        put(bytes, offset);
        return Status::ok();
    }
    Status writeAt(std::span<iovec> pieces, std::uint64_t offset) override {
        std::string joined;
        for (const iovec& piece : pieces) joined.append(static_cast<const char*>(piece.iov_base), piece.iov_len);
        return writeAt(joined, offset);
    }
    Status sync() override {
        const auto lock = files_.change();
        node_->makeDurable();
        return Status::ok();
    }
    void startWriteback(std::uint64_t, std::uint64_t) noexcept override {}
    Status truncate(std::uint64_t size) override {
        const auto lock = files_.change();
        resize(size);
        return Status::ok();
    }
    Status allocate(std::uint64_t offset, std::uint64_t size) override {
        const auto lock = files_.change();
        const std::uint64_t end = offset + size;
        if (!files_.noBlocksFor_.empty() && path_.find(files_.noBlocksFor_) != std::string::npos) {
            ++files_.refusedBlocks_;
            // As posix_fallocate leaves it.
            if (node_->size < offset + size / 2) resize(offset + size / 2);
            return {StatusCode::Full, "cannot allocate space in " + path_ + ": no space left"};
        }
        if (end <= node_->size) return Status::ok();
        if (files_.used() + end - node_->size > files_.capacity_) {
            return {StatusCode::Full, "cannot allocate space in " + path_ + ": no space left"};
        }
        resize(end);
        return Status::ok();
    }
    [[nodiscard]] Result<Ref<Mapping>> map(std::uint64_t offset, std::size_t size) const override {
        const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
        const auto skip = static_cast<std::size_t>(offset % page);
        void* const base = ::mmap(nullptr, size + skip, PROT_READ, MAP_SHARED, node_->fd, static_cast<off_t>(offset - skip));
        PATCHBAY_ASSERT(base != MAP_FAILED);
        return Ref<Mapping>(Ref<MemoryMapping>::adopt(new MemoryMapping(base, size + skip, skip)));
    }

private:
    void put(std::string_view bytes, std::uint64_t offset) {
        if (bytes.empty()) return;
        node_->write(bytes, offset);
        const std::uint64_t end = offset + bytes.size();
        node_->size = std::max(node_->size, end);
        for (std::uint64_t s = offset / kSectorBytes; s * kSectorBytes < end; ++s) node_->changed.insert(s);
    }
    void resize(std::uint64_t size) {
        // What is cut off and grown again reads as zeros: those sectors have changed too.
        for (std::uint64_t s = size / kSectorBytes; s * kSectorBytes < node_->size; ++s) node_->changed.insert(s);
        node_->resize(size);
    }

    MemoryFiles& files_;
    const std::shared_ptr<MemoryFiles::Node> node_;
    const std::string path_;
};

MemoryFiles::MemoryFiles() = default;
MemoryFiles::~MemoryFiles() = default;

std::unique_lock<std::mutex> MemoryFiles::change() {
    std::unique_lock lock(mutex_);
    if (untilAction_ > 0 && --untilAction_ == 0) {
        const std::function<void()> action = std::move(action_);
        lock.unlock();
        action();
        lock.lock();
    }
    return lock;
}

std::uint64_t MemoryFiles::used() const {
    std::uint64_t bytes = 0;
    for (const auto& [path, node] : names_) bytes += node->size;
    return bytes;
}

void MemoryFiles::beforeChange(std::uint64_t n, std::function<void()> action) {
    const std::lock_guard lock(mutex_);
    untilAction_ = n;
    action_ = std::move(action);
}

void MemoryFiles::failWrite(std::uint64_t n, Status status) {
    const std::lock_guard lock(mutex_);
    untilFailure_ = n;
    failure_ = std::move(status);
}

void MemoryFiles::refuseBlocks(std::string part) {
    const std::lock_guard lock(mutex_);
    noBlocksFor_ = std::move(part);
}

std::uint64_t MemoryFiles::refusedBlocks() const {
    const std::lock_guard lock(mutex_);
    return refusedBlocks_;
}

void MemoryFiles::setCapacity(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    capacity_ = bytes;
}

std::unique_ptr<MemoryFiles> MemoryFiles::afterPowerCut(std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    const auto chance = [&] { return (random() & 1U) != 0; };
    auto result = std::make_unique<MemoryFiles>();
    const std::lock_guard lock(mutex_);
    result->directories_ = directories_;
    std::set<std::string> paths;
    for (const auto& [path, node] : durableNames_) paths.insert(path);
    for (const auto& [path, node] : names_) paths.insert(path);
    for (const std::string& path : paths) {
        const auto before = durableNames_.find(path);
        const auto now = names_.find(path);
        const std::shared_ptr<Node> old = before == durableNames_.end() ? nullptr : before->second;
        const std::shared_ptr<Node> fresh = now == names_.end() ? nullptr : now->second;
        const std::shared_ptr<Node>& chosen = old == fresh || chance() ? fresh : old;
        if (!chosen) continue;
        const Node& node = *chosen;
        auto copy = std::make_shared<Node>();
        copy->resize(node.size == node.durableSize || chance() ? node.size : node.durableSize);
        for (const auto& [sector, bytes] : node.durable) {
            if (sector * kSectorBytes < copy->size && !node.changed.contains(sector)) {
                copy->write(std::string_view(bytes).substr(0, copy->size - sector * kSectorBytes), sector * kSectorBytes);
            }
        }
        for (const std::uint64_t sector : node.changed) {
            if (sector * kSectorBytes >= copy->size) continue;
            const auto kept = node.durable.find(sector);
            const std::string bytes =
                chance() ? node.sector(sector) : kept == node.durable.end() ? std::string(kSectorBytes, '\0') : kept->second;
            copy->write(std::string_view(bytes).substr(0, copy->size - sector * kSectorBytes), sector * kSectorBytes);
        }
        for (std::uint64_t s = 0; s * kSectorBytes < copy->size; ++s) copy->durable.insert_or_assign(s, copy->sector(s));
        copy->durableSize = copy->size;
        result->names_.emplace(path, copy);
        result->durableNames_.emplace(path, copy);
    }
    return result;
}

std::unique_ptr<MemoryFiles> MemoryFiles::afterKill() const {
    auto result = std::make_unique<MemoryFiles>();
    const std::lock_guard lock(mutex_);
    result->directories_ = directories_;
    // A file may have two names, the one that it has and the one that a power cut would bring back.
    std::map<const Node*, std::shared_ptr<Node>> copies;
    const auto copyOf = [&](const std::shared_ptr<Node>& node) {
        std::shared_ptr<Node>& copy = copies[node.get()];
        if (copy) return copy;
        copy = std::make_shared<Node>();
        copy->resize(node->size);
        for (std::uint64_t s = 0; s * kSectorBytes < node->size; ++s) {
            copy->write(std::string_view(node->sector(s)).substr(0, node->size - s * kSectorBytes), s * kSectorBytes);
        }
        copy->durableSize = node->durableSize;
        copy->changed = node->changed;
        copy->durable = node->durable;
        return copy;
    };
    for (const auto& [path, node] : names_) result->names_.emplace(path, copyOf(node));
    for (const auto& [path, node] : durableNames_) result->durableNames_.emplace(path, copyOf(node));
    return result;
}

Result<std::unique_ptr<File>> MemoryFiles::open(const std::string& path, OpenMode mode) {
    const auto lock = mode == OpenMode::Create ? change() : std::unique_lock(mutex_);
    auto at = names_.find(path);
    if (at == names_.end()) {
        if (mode != OpenMode::Create || !directories_.contains(parentOf(path))) return notFound(path);
        at = names_.emplace(path, std::make_shared<Node>()).first;
    }
    return std::unique_ptr<File>(std::make_unique<MemoryFile>(*this, at->second, path));
}

Status MemoryFiles::makeDirectories(const std::string& path) {
    const std::lock_guard lock(mutex_);
    for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
        directories_.insert(path.substr(0, end));
    }
    directories_.insert(path);
    return Status::ok();
}

Result<std::vector<FileInfo>> MemoryFiles::list(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    if (!directories_.contains(path)) return notFound(path);
    std::vector<FileInfo> entries;
    for (const auto& [name, node] : names_) {
        if (parentOf(name) == path) entries.push_back({name.substr(path.size() + 1), node->size, false});
    }
    for (const std::string& name : directories_) {
        if (name != path && parentOf(name) == path) entries.push_back({name.substr(path.size() + 1), 0, true});
    }
    std::sort(entries.begin(), entries.end(), [](const FileInfo& a, const FileInfo& b) { return a.name < b.name; });
    return entries;
}

bool MemoryFiles::exists(const std::string& path) const noexcept {
    const std::lock_guard lock(mutex_);
    return names_.contains(path) || directories_.contains(path);
}

Status MemoryFiles::rename(const std::string& from, const std::string& to) {
    const auto lock = change();
    if (directories_.contains(from)) {
        // Directories are durable at once, and what lies in them moves with them.
        const auto moved = [&](const std::string& path) { return to + path.substr(from.size()); };
        const auto inside = [&](const std::string& path) { return path == from || path.starts_with(from + "/"); };
        for (Names* names : {&names_, &durableNames_}) {
            Names next;
            for (auto& [path, node] : *names) next.emplace(inside(path) ? moved(path) : path, node);
            *names = std::move(next);
        }
        std::set<std::string> next;
        for (const std::string& path : directories_) next.insert(inside(path) ? moved(path) : path);
        directories_ = std::move(next);
        return Status::ok();
    }
    const auto at = names_.find(from);
    if (at == names_.end()) return notFound(from);
    const std::shared_ptr<Node> node = at->second;
    names_.erase(at);
    names_.insert_or_assign(to, node);
    return Status::ok();
}

Status MemoryFiles::remove(const std::string& path) {
    const auto lock = change();
    if (names_.erase(path) > 0 || directories_.erase(path) > 0) return Status::ok();
    return notFound(path);
}

Status MemoryFiles::syncDirectory(const std::string& path) {
    const auto lock = change();
    if (!directories_.contains(path)) return notFound(path);
    std::erase_if(durableNames_, [&](const auto& entry) { return parentOf(entry.first) == path; });
    for (const auto& [name, node] : names_) {
        if (parentOf(name) == path) durableNames_.insert_or_assign(name, node);
    }
    return Status::ok();
}

Status MemoryFiles::syncAll(const std::string& path) {
    const auto lock = change();
    if (!directories_.contains(path)) return notFound(path);
    for (const auto& [name, node] : names_) node->makeDurable();
    durableNames_ = names_;
    return Status::ok();
}

Result<DiskSpace> MemoryFiles::space(const std::string&) const {
    const std::lock_guard lock(mutex_);
    const std::uint64_t taken = used();
    return DiskSpace{capacity_, capacity_ > taken ? capacity_ - taken : 0};
}

Result<std::unique_ptr<FileLock>> MemoryFiles::lock(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (!locks_.insert(path).second) return Status(StatusCode::Busy, path + " is locked");
    return std::unique_ptr<FileLock>(std::make_unique<Lock>(*this, path));
}

}  // namespace patchbay::test

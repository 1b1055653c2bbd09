#include "OverlayFiles.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

namespace patchbay::storetool {

namespace {

constexpr std::uint64_t kPageBytes = 4096;

class HeldLock final : public FileLock {};

class CopiedMapping final : public Mapping {
public:
    explicit CopiedMapping(std::string text) : text_(std::move(text)) { bytes_ = text_; }
    [[nodiscard]] bool resident(std::size_t, std::size_t) const noexcept override { return true; }
    [[nodiscard]] Status populate(std::size_t, std::size_t) const override { return Status::ok(); }

private:
    const std::string text_;
};

bool isUnder(const std::string& path, const std::string& directory) {
    return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

}  // namespace

/// A file with pages of its own over one below, or over nothing.
struct OverlayFiles::Node {
    std::unique_ptr<File> below;                             // null: nothing there
    std::uint64_t belowBytes = 0;                            // what of it still counts
    std::uint64_t size = 0;
    std::map<std::uint64_t, std::array<char, kPageBytes>> pages;

    Status read(std::span<char> buffer, std::uint64_t offset, std::size_t& got) const {
        got = offset >= size ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), size - offset));
        std::memset(buffer.data(), 0, got);
        if (below && offset < belowBytes) {
            const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(got, belowBytes - offset));
            if (const Result<std::size_t> read = below->readAt(buffer.first(count), offset); !read) return read.error();
        }
        for (auto page = pages.lower_bound(offset / kPageBytes); page != pages.end() && page->first * kPageBytes < offset + got; ++page) {
            const std::uint64_t from = std::max(offset, page->first * kPageBytes);
            const std::uint64_t to = std::min(offset + got, (page->first + 1) * kPageBytes);
            std::memcpy(buffer.data() + (from - offset), page->second.data() + from % kPageBytes, to - from);
        }
        return Status::ok();
    }
    Status write(std::string_view bytes, std::uint64_t offset) {
        while (!bytes.empty()) {
            const std::uint64_t number = offset / kPageBytes;
            if (!pages.contains(number)) {
                std::array<char, kPageBytes> fresh{};
                std::size_t got = 0;
                if (Status read = this->read(fresh, number * kPageBytes, got); !read) return read;
                pages.emplace(number, fresh);
            }
            const std::size_t at = offset % kPageBytes;
            const std::size_t count = std::min<std::size_t>(bytes.size(), kPageBytes - at);
            std::memcpy(pages[number].data() + at, bytes.data(), count);
            bytes.remove_prefix(count);
            offset += count;
            size = std::max(size, offset);
        }
        return Status::ok();
    }
    void resize(std::uint64_t bytes) {
        if (bytes < size) {
            belowBytes = std::min(belowBytes, bytes);
            pages.erase(pages.lower_bound((bytes + kPageBytes - 1) / kPageBytes), pages.end());
            if (const auto last = pages.find(bytes / kPageBytes); last != pages.end()) {
                std::memset(last->second.data() + bytes % kPageBytes, 0, kPageBytes - bytes % kPageBytes);
            }
        }
        size = bytes;
    }
};

/// An open one. Keeps the whole disk's lock for each call: this is no place for speed.
class OverlayFile final : public File {
public:
    OverlayFile(OverlayFiles& disk, std::shared_ptr<OverlayFiles::Node> node, std::string path) noexcept
        : disk_(disk), node_(std::move(node)), path_(std::move(path)) {}

    [[nodiscard]] const std::string& path() const noexcept override { return path_; }
    [[nodiscard]] Result<std::uint64_t> size() const override {
        const std::lock_guard lock(disk_.mutex_);
        return node_->size;
    }
    [[nodiscard]] Result<std::size_t> readAt(std::span<char> buffer, std::uint64_t offset) const override {
        const std::lock_guard lock(disk_.mutex_);
        std::size_t got = 0;
        if (Status read = node_->read(buffer, offset, got); !read) return read;
        return got;
    }
    Status writeAt(std::string_view bytes, std::uint64_t offset) override {
        const std::lock_guard lock(disk_.mutex_);
        return node_->write(bytes, offset);
    }
    Status writeAt(std::span<iovec> pieces, std::uint64_t offset) override {
        for (const iovec& piece : pieces) {
            if (Status written = writeAt({static_cast<const char*>(piece.iov_base), piece.iov_len}, offset); !written) return written;
            offset += piece.iov_len;
        }
        return Status::ok();
    }
    Status sync() override { return Status::ok(); }
    void startWriteback(std::uint64_t, std::uint64_t) noexcept override {}
    Status truncate(std::uint64_t bytes) override {
        const std::lock_guard lock(disk_.mutex_);
        node_->resize(bytes);
        return Status::ok();
    }
    Status allocate(std::uint64_t offset, std::uint64_t bytes) override {
        const std::lock_guard lock(disk_.mutex_);
        node_->size = std::max(node_->size, offset + bytes);
        return Status::ok();
    }
    [[nodiscard]] Result<Ref<Mapping>> map(std::uint64_t offset, std::size_t bytes) const override {
        std::string text(bytes, '\0');
        if (const Result<std::size_t> got = readAt(std::span(text.data(), text.size()), offset); !got) return got.error();
        return Ref<Mapping>(Ref<CopiedMapping>::adopt(new CopiedMapping(std::move(text))));
    }

private:
    OverlayFiles& disk_;
    const std::shared_ptr<OverlayFiles::Node> node_;
    const std::string path_;
};

OverlayFiles::~OverlayFiles() = default;

std::string OverlayFiles::belowOf(const std::string& path) const {
    for (const auto& [now, before] : moved_) {
        if (path == now || isUnder(path, now)) return before + path.substr(now.size());
    }
    return path;
}

std::optional<OverlayFiles::Place> OverlayFiles::find(const std::string& path) const {
    if (const auto node = nodes_.find(path); node != nodes_.end()) return Place{node->second, {}};
    const std::string below = belowOf(path);
    if (below == path) {
        for (const std::string& gone : removed_) {
            if (path == gone || isUnder(path, gone)) return std::nullopt;
        }
    } else if (removed_.contains(path)) {
        return std::nullopt;
    }
    if (!below_.exists(below)) return std::nullopt;
    return Place{nullptr, below};
}

Result<std::unique_ptr<File>> OverlayFiles::open(const std::string& path, OpenMode mode) {
    const std::lock_guard lock(mutex_);
    const std::optional<Place> place = find(path);
    if (place && place->node) return std::unique_ptr<File>(new OverlayFile(*this, place->node, path));
    if (!place && mode != OpenMode::Create) return Status(StatusCode::NotFound, path + " does not exist");
    if (place && mode == OpenMode::Read) return below_.open(place->below, OpenMode::Read);
    auto node = std::make_shared<Node>();
    if (place) {
        Result<std::unique_ptr<File>> file = below_.open(place->below, OpenMode::Read);
        if (!file) return file.error();
        const Result<std::uint64_t> size = (*file)->size();
        if (!size) return size.error();
        node->below = std::move(*file);
        node->size = node->belowBytes = *size;
    }
    nodes_[path] = node;
    return std::unique_ptr<File>(new OverlayFile(*this, std::move(node), path));
}

Status OverlayFiles::makeDirectories(const std::string& path) {
    const std::lock_guard lock(mutex_);
    directories_.insert(path);
    removed_.erase(path);
    return Status::ok();
}

bool OverlayFiles::isDirectory(const std::string& path) const {
    return directories_.contains(path) || std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& node) { return isUnder(node.first, path); });
}

std::vector<FileInfo> OverlayFiles::listLocked(const std::string& path) const {
    std::map<std::string, FileInfo> entries;
    if (const Result<std::vector<FileInfo>> below = below_.list(belowOf(path))) {
        for (const FileInfo& info : *below) {
            if (find(path + "/" + info.name)) entries.emplace(info.name, info);
        }
    }
    const auto note = [&](const std::string& full, std::uint64_t size, bool file) {
        if (!isUnder(full, path)) return;
        const std::string rest = full.substr(path.size() + 1);
        const std::size_t slash = rest.find('/');
        const bool directory = !file || slash != std::string::npos;
        const std::string name = rest.substr(0, slash);
        entries.insert_or_assign(name, FileInfo{name, directory ? 0 : size, directory});
    };
    for (const auto& [name, node] : nodes_) note(name, node->size, true);
    for (const std::string& name : directories_) note(name, 0, false);
    for (const auto& [now, before] : moved_) note(now, 0, false);
    std::vector<FileInfo> result;
    result.reserve(entries.size());
    for (auto& [name, info] : entries) result.push_back(std::move(info));
    return result;
}

Result<std::vector<FileInfo>> OverlayFiles::list(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    if (!find(path) && !isDirectory(path)) return Status(StatusCode::NotFound, path + " does not exist");
    return listLocked(path);
}

bool OverlayFiles::exists(const std::string& path) const noexcept {
    const std::lock_guard lock(mutex_);
    return find(path).has_value() || isDirectory(path);
}

Status OverlayFiles::rename(const std::string& from, const std::string& to) {
    const std::lock_guard lock(mutex_);
    const std::optional<Place> place = find(from);
    if (place && place->node) {
        nodes_[to] = place->node;
        nodes_.erase(from);
        removed_.insert(from);
        removed_.erase(to);
        return Status::ok();
    }
    // What was changed inside a directory moves with it.
    std::map<std::string, std::shared_ptr<Node>> inside;
    for (auto node = nodes_.begin(); node != nodes_.end();) {
        if (!isUnder(node->first, from)) {
            ++node;
            continue;
        }
        inside.emplace(to + node->first.substr(from.size()), node->second);
        node = nodes_.erase(node);
    }
    if (!place && inside.empty() && !directories_.contains(from)) return {StatusCode::NotFound, from + " does not exist"};
    nodes_.merge(inside);
    if (place) moved_[to] = place->below;
    if (directories_.erase(from) > 0) directories_.insert(to);
    removed_.insert(from);
    removed_.erase(to);
    return Status::ok();
}

Status OverlayFiles::remove(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (!find(path) && !isDirectory(path)) return {StatusCode::NotFound, path + " does not exist"};
    nodes_.erase(path);
    moved_.erase(path);
    directories_.erase(path);
    removed_.insert(path);
    return Status::ok();
}

Result<std::unique_ptr<FileLock>> OverlayFiles::lock(const std::string&) {
    return std::unique_ptr<FileLock>(new HeldLock());
}

}  // namespace patchbay::storetool

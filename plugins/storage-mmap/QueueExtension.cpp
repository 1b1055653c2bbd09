#include "QueueExtension.h"

#include "patchbay/protocol/util/BigEndian.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace patchbay::mmapstore {

namespace {

constexpr std::int64_t kEndBytes = 4;  // that RocketMQ leaves free behind the last entry of a file
constexpr std::int64_t kScanBytes = 1 << 16;

std::int64_t positionOf(std::int64_t address) noexcept {
    return address - INT64_MIN;
}

}  // namespace

Result<std::int64_t> QueueExtension::sizeAt(std::int64_t position) const {
    const std::int64_t start = position - position % fileBytes_;
    const Result<Ref<QueueFile>> file = openFile(start, OpenMode::ReadWrite);
    if (!file) return file.error();
    std::array<char, 2> bytes{};
    const Result<std::size_t> got = (*file)->file->readAt(bytes, static_cast<std::uint64_t>(position - start));
    if (!got) return got.error();
    return *got == bytes.size() ? std::int64_t{protocol::loadI16(bytes.data())} : 0;
}

Status QueueExtension::continueBehind(std::int64_t address) {
    if (isAddress(address)) {
        const Result<std::int64_t> size = sizeAt(positionOf(address));
        if (!size && size.error().code() != StatusCode::NotFound) return size.error();
        // What was not durable before a power cut is zeros.
        end_ = positionOf(address) + std::max(size.value_or(0), kEntryBytes);
        return Status::ok();
    }
    const Result<std::vector<FileInfo>> listed = files_.list(directory_);
    if (!listed && listed.error().code() != StatusCode::NotFound) return listed.error();
    std::int64_t last = -1;
    for (const FileInfo& info : listed.value_or({})) {
        const std::optional<std::int64_t> start = parseFileName(info.name);
        if (start && !info.directory && *start % fileBytes_ == 0) last = std::max(last, *start);
    }
    if (last < 0) {
        end_ = 0;
        return Status::ok();
    }
    // Every file begins with an entry.
    const Result<Ref<QueueFile>> file = openFile(last, OpenMode::ReadWrite);
    if (!file) return file.error();
    std::string piece;
    std::int64_t pieceAt = 0;
    std::int64_t at = 0;
    while (at + 2 <= fileBytes_) {
        if (at + 2 > pieceAt + static_cast<std::int64_t>(piece.size())) {
            piece.resize(static_cast<std::size_t>(std::min(kScanBytes, fileBytes_ - at)));
            pieceAt = at;
            const Result<std::size_t> got = (*file)->file->readAt(std::span(piece.data(), piece.size()), static_cast<std::uint64_t>(at));
            if (!got) return got.error();
            if (*got < 2) break;
            piece.resize(*got);
        }
        const std::int16_t size = protocol::loadI16(piece.data() + (at - pieceAt));
        if (size <= 0) break;
        at += size;
    }
    end_ = last + std::min(at, fileBytes_);
    return Status::ok();
}

Status QueueExtension::append(std::span<Entry> entries) {
    const std::int64_t before = end_;
    std::string bytes;
    std::int64_t from = end_;
    Status written;
    for (Entry& entry : entries) {
        const std::int64_t left = fileBytes_ - end_ % fileBytes_;
        if (kEntryBytes > left - kEndBytes) {
            if (left >= 2) protocol::appendBe<std::int16_t>(bytes, -1);
            if (written) written = write(from, bytes);
            bytes.clear();
            from = end_ += left;
        }
        entry.address = end_ + INT64_MIN;
        protocol::appendBe<std::int16_t>(bytes, kEntryBytes);
        protocol::appendBe(bytes, entry.tagsCode);
        protocol::appendBe(bytes, entry.storeTime);
        protocol::appendBe<std::int16_t>(bytes, 0);
        end_ += kEntryBytes;
    }
    if (written) written = write(from, bytes);
    if (!written) end_ = before;
    return written;
}

Status QueueExtension::write(std::int64_t position, std::string_view bytes) {
    const std::int64_t start = position - position % fileBytes_;
    Result<Ref<QueueFile>> file = openFile(start, OpenMode::ReadWrite);
    const bool fresh = !file && file.error().code() == StatusCode::NotFound;
    if (fresh) {
        if (Status made = files_.makeDirectories(directory_); !made) return made;
        file = openFile(start, OpenMode::Create);
        if (file) {
            if (Status sized = (*file)->file->truncate(static_cast<std::uint64_t>(fileBytes_)); !sized) {
                open_.forget(this, start);
                (void)files_.remove(pathOf(start));
                return sized;
            }
        }
    }
    if (!file) return file.error();
    if (Status written = (*file)->file->writeAt(bytes, static_cast<std::uint64_t>(position - start)); !written) return written;
    const std::lock_guard lock(mutex_);
    unsyncedFrom_ = unsyncedFrom_ < 0 ? start : std::min(unsyncedFrom_, start);
    lastFile_ = start;
    directoryChanged_ = directoryChanged_ || fresh;
    return Status::ok();
}

Status QueueExtension::sync() {
    std::int64_t from = -1;
    std::int64_t last = -1;
    bool directory = false;
    {
        const std::lock_guard lock(mutex_);
        from = std::exchange(unsyncedFrom_, -1);
        last = lastFile_;
        directory = std::exchange(directoryChanged_, false);
    }
    Status result;
    for (std::int64_t start = from; from >= 0 && result && start <= last; start += fileBytes_) {
        const Result<Ref<QueueFile>> file = openFile(start, OpenMode::ReadWrite);
        result = file ? (*file)->file->sync() : file.error();
        if (result.code() == StatusCode::NotFound) result = Status::ok();  // it went with old messages
    }
    if (result && directory) result = files_.syncDirectory(directory_);
    if (result) return result;
    const std::lock_guard lock(mutex_);
    if (from >= 0) unsyncedFrom_ = unsyncedFrom_ < 0 ? from : std::min(unsyncedFrom_, from);
    directoryChanged_ = directoryChanged_ || directory;
    return result;
}

Result<std::int64_t> QueueExtension::tagsCodeAt(std::int64_t address) const {
    const std::int64_t position = positionOf(address);
    const std::int64_t start = position - position % fileBytes_;
    const Result<Ref<QueueFile>> file = openFile(start, OpenMode::ReadWrite);
    if (!file) return file.error();
    std::array<char, kEntryBytes> bytes{};
    const Result<std::size_t> got = (*file)->file->readAt(bytes, static_cast<std::uint64_t>(position - start));
    if (!got) return got.error();
    if (*got < bytes.size() || protocol::loadI16(bytes.data()) < kEntryBytes) {
        return Status(StatusCode::NotFound, "no entry at byte " + std::to_string(position - start) + " of " + pathOf(start));
    }
    return protocol::loadI64(bytes.data() + 2);
}

void QueueExtension::removeBelow(std::int64_t address) {
    const Result<std::vector<FileInfo>> listed = files_.list(directory_);
    for (const FileInfo& info : listed.value_or({})) {
        const std::optional<std::int64_t> start = parseFileName(info.name);
        if (!start || info.directory || *start + fileBytes_ > positionOf(address)) continue;
        open_.forgetBelow(this, *start + 1);
        (void)files_.remove(pathOf(*start));  // the next time, if not now
    }
}

}  // namespace patchbay::mmapstore

#include "QueueCheck.h"

#include <algorithm>
#include <span>

namespace patchbay::storetool {

using mmapstore::kUnitBytes;
using mmapstore::loadUnit;
using mmapstore::Unit;

namespace {

constexpr std::int64_t kKeptUnits = 64;
constexpr std::int64_t kPieceUnits = 8192;

}  // namespace

Result<std::string> LogBytes::read(std::int64_t position, std::int64_t bytes) {
    const auto& files = store_.log();
    auto file = std::upper_bound(files.begin(), files.end(), position, [](std::int64_t at, const SequenceFile& f) { return at < f.start; });
    if (file == files.begin()) return std::string();
    --file;
    if (position >= file->start + file->bytes) return std::string();
    if (opened_ != file->start) {
        Result<std::unique_ptr<File>> opened = store_.files().open(file->path, OpenMode::Read);
        if (!opened) return opened.error();
        open_ = std::move(*opened);
        opened_ = file->start;
    }
    std::string result(static_cast<std::size_t>(std::min(bytes, file->start + file->bytes - position)), '\0');
    const Result<std::size_t> got = open_->readAt(std::span(result.data(), result.size()), static_cast<std::uint64_t>(position - file->start));
    if (!got) return got.error();
    result.resize(*got);
    return result;
}

Result<bool> LogBytes::hasRecord(std::int64_t position, std::int32_t bytes) {
    const Result<std::string> head = read(position, protocol::kRecordBornHostAt);
    if (!head) return head.error();
    if (head->size() < protocol::kRecordBornHostAt) return false;
    const std::int32_t magic = protocol::loadI32(head->data() + protocol::kRecordMagicAt);
    return protocol::loadI32(head->data()) == bytes && (magic == protocol::kRecordMagicV1 || magic == protocol::kRecordMagicV2) &&
           protocol::loadI64(head->data() + protocol::kRecordPhysicalOffsetAt) == position;
}

std::string QueueCheck::structure() const {
    const std::vector<SequenceFile>& files = folder_.files;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const bool emptyLast = i + 1 == files.size() && files[i].bytes == 0;
        if (emptyLast) continue;
        if (files[i].bytes != files.front().bytes) return files[i].path + " has another size than the first file";
        if (files[i].bytes % unitBytes() != 0) return files[i].path + " has a size that is no number of whole units";
        if (i > 0 && files[i].start != files[i - 1].start + files[i - 1].bytes) return "a file is missing before " + files[i].path;
    }
    return {};
}

Result<std::string> QueueCheck::chunk(std::int64_t at, std::int64_t bytes) const {
    for (const SequenceFile& file : folder_.files) {
        if (at < file.start || at >= file.start + file.bytes) continue;
        const Result<std::unique_ptr<File>> opened = store_.files().open(file.path, OpenMode::Read);
        if (!opened) return opened.error();
        std::string result(static_cast<std::size_t>(std::min(bytes, file.start + file.bytes - at)), '\0');
        const Result<std::size_t> got = (*opened)->readAt(std::span(result.data(), result.size()), static_cast<std::uint64_t>(at - file.start));
        if (!got) return got.error();
        result.resize(*got);
        return result;
    }
    return std::string();
}

Result<Unit> QueueCheck::unit(std::int64_t offset) {
    const auto have = static_cast<std::int64_t>(kept_.size()) / kUnitBytes;
    if (keptFrom_ < 0 || offset < keptFrom_ || offset >= keptFrom_ + have) {
        Result<std::string> read = chunk(offset * kUnitBytes, kKeptUnits * kUnitBytes);
        if (!read) return read.error();
        kept_ = std::move(*read);
        keptFrom_ = offset;
        if (kept_.size() < static_cast<std::size_t>(kUnitBytes)) return Unit{};
    }
    return loadUnit(kept_.data() + (offset - keptFrom_) * kUnitBytes);
}

Status QueueCheck::see(const protocol::RecordView& record, LogBytes& log) {
    const Result<Unit> there = unit(record.queueOffset);
    if (!there) return there.error();
    if (there->physical == record.physicalOffset && there->bytes == record.size) return Status::ok();
    // Of a topic that was deleted and made again: the number belongs to a later message now.
    if (there->isWritten() && !there->isFiller() && there->physical > record.physicalOffset) {
        const Result<bool> later = log.hasRecord(there->physical, there->bytes);
        if (!later) return later.error();
        if (*later) return Status::ok();
    }
    ++missing;
    if (firstMissing < 0) firstMissing = record.queueOffset;
    return Status::ok();
}

Status QueueCheck::count(LogBytes& log, std::int64_t logEnd) {
    for (const SequenceFile& file : folder_.files) {
        for (std::int64_t at = file.start; at < file.start + file.bytes;) {
            const Result<std::string> piece = chunk(at, kPieceUnits * unitBytes());
            if (!piece) return piece.error();
            if (piece->size() < static_cast<std::size_t>(unitBytes())) return Status::ok();
            for (std::size_t i = 0; i + static_cast<std::size_t>(unitBytes()) <= piece->size(); i += static_cast<std::size_t>(unitBytes())) {
                const Unit found = loadUnit(piece->data() + i);
                if (!found.isWritten()) return Status::ok();
                if (found.isFiller() || found.physical < store_.logMin()) continue;
                ++units;
                if (found.physical > logEnd - found.bytes) {
                    ++beyond;
                    continue;
                }
                const Result<bool> good = log.hasRecord(found.physical, found.bytes);
                if (!good) return good.error();
                if (*good) continue;
                ++wrong;
                if (firstWrong < 0) firstWrong = (at + static_cast<std::int64_t>(i)) / unitBytes();
            }
            at += static_cast<std::int64_t>(piece->size());
        }
    }
    return Status::ok();
}

}  // namespace patchbay::storetool

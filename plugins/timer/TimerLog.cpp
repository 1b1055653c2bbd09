#include "TimerLog.h"

#include "patchbay/protocol/util/BigEndian.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <span>

namespace patchbay::plugins::timer {

namespace {

using protocol::appendBe;
using protocol::loadI32;
using protocol::loadI64;

constexpr std::int64_t kBlankBytes = 16;
constexpr std::int32_t kBlankMagic = -875286124;   // 0xCBD43194
constexpr std::size_t kWindow = 8 * 1024;
constexpr std::size_t kScanBytes = TimerLog::kUnitBytes * 16'384;

bool isUnit(const char* at) noexcept {
    return loadI32(at) == TimerLog::kUnitBytes && (loadI32(at + 12) | 0xF) == 0xF;
}

TimerUnit decode(const char* at) noexcept {
    const std::int64_t written = loadI64(at + 16);
    return {loadI64(at + 4), loadI32(at + 12), written, written + loadI32(at + 24), loadI64(at + 28), loadI32(at + 36), loadI32(at + 40)};
}

void encode(std::string& out, const TimerUnit& unit) {
    appendBe(out, static_cast<std::int32_t>(TimerLog::kUnitBytes));
    appendBe(out, unit.previous);
    appendBe(out, unit.magic);
    appendBe(out, unit.writtenMs);
    appendBe(out, static_cast<std::int32_t>(unit.slotMs - unit.writtenMs));
    appendBe(out, unit.physicalOffset);
    appendBe(out, unit.bytes);
    appendBe(out, unit.topicHash);
    appendBe(out, std::int64_t{0});
}

/// -1 for a name that is none of a file of the sequence.
std::int64_t beginOf(std::string_view name) noexcept {
    std::int64_t begin = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), begin);
    return name.size() == 20 && error == std::errc() && end == name.data() + name.size() ? begin : -1;
}

}  // namespace

std::string TimerLog::pathOf(std::int64_t fileBegin) const {
    std::array<char, 24> name{};
    std::snprintf(name.data(), name.size(), "%020lld", static_cast<long long>(fileBegin));
    return directory_ + '/' + name.data();
}

Status TimerLog::open() {
    const auto listed = files_.list(directory_);
    if (!listed) return listed.error().code() == StatusCode::NotFound ? Status::ok() : listed.error();
    bool first = true;
    for (const auto& info : *listed) {
        const std::int64_t begin = beginOf(info.name);
        if (info.directory || begin < 0) continue;
        if (first) {
            fileBytes_ = static_cast<std::int64_t>(info.size);
            begin_ = begin;
        }
        const bool fits = static_cast<std::int64_t>(info.size) == fileBytes_ && fileBytes_ >= kUnitBytes + kBlankBytes &&
                          begin % fileBytes_ == 0 && (first || begin == filesEnd_);
        if (!fits) return {StatusCode::Corrupt, pathOf(begin) + " does not belong to the others by its size or name"};
        filesEnd_ = begin + fileBytes_;
        first = false;
    }
    end_ = written_ = begin_;
    return Status::ok();
}

Status TimerLog::scan(std::int64_t from, const std::function<void(std::int64_t, const TimerUnit&)>& each) {
    std::int64_t position = std::max(begin_, fileBegin(std::min(from, filesEnd_ - 1)));
    std::string block(kScanBytes, '\0');
    end_ = position;
    for (bool more = position < filesEnd_; more;) {
        const auto file = fileOf(position);
        if (!file) return file.error();
        const auto got = (*file)->readAt(block, static_cast<std::uint64_t>(position - fileBegin(position)));
        if (!got) return got.error();
        const std::int64_t before = position;
        for (std::size_t at = 0; at + kBlankBytes <= *got; at += kUnitBytes) {
            const char* const unit = block.data() + at;
            if (loadI32(unit + 12) == kBlankMagic && fileBegin(position) + fileBytes_ < filesEnd_) {
                position = fileBegin(position) + fileBytes_;
                end_ = position;
                break;
            }
            if (at + kUnitBytes > *got || !isUnit(unit)) {
                more = false;
                break;
            }
            each(position, decode(unit));
            position += kUnitBytes;
            end_ = position;
        }
        more = more && position > before && position < filesEnd_;
    }
    written_ = end_;
    tail_ = true;
    return Status::ok();
}

Status TimerLog::clear() {
    open_.clear();
    unsynced_.clear();
    unwritten_.clear();
    if (const auto listed = files_.list(directory_)) {
        for (const auto& info : *listed) {
            if (info.directory || beginOf(info.name) < 0) continue;
            if (Status removed = files_.remove(directory_ + '/' + info.name); !removed) return removed;
        }
    }
    begin_ = end_ = written_ = filesEnd_ = 0;
    tail_ = false;
    return Status::ok();
}

std::int64_t TimerLog::add(const TimerUnit& unit) {
    const std::int64_t left = fileBytes_ - end_ % fileBytes_;
    if (left < kUnitBytes + kBlankBytes) {
        const std::size_t before = unwritten_.size();
        appendBe(unwritten_, static_cast<std::int32_t>(left));
        appendBe(unwritten_, std::int64_t{0});
        appendBe(unwritten_, kBlankMagic);
        unwritten_.resize(before + static_cast<std::size_t>(left));
        end_ += left;
    }
    const std::int64_t position = end_;
    encode(unwritten_, unit);
    end_ += kUnitBytes;
    return position;
}

Result<File*> TimerLog::fileOf(std::int64_t position) {
    const std::int64_t begin = fileBegin(position);
    auto& file = open_[begin];
    if (!file) {
        const bool isNew = begin >= filesEnd_;
        if (Status made = isNew ? files_.makeDirectories(directory_) : Status::ok(); !made) return made;
        auto opened = files_.open(pathOf(begin), isNew ? OpenMode::Create : OpenMode::ReadWrite);
        if (!opened) return opened.error();
        // Its full size from its first moment on, as RocketMQ expects it.
        if (Status sized = isNew ? (*opened)->truncate(static_cast<std::uint64_t>(fileBytes_)) : Status::ok(); !sized) return sized;
        if (Status synced = isNew ? files_.syncDirectory(directory_) : Status::ok(); !synced) return synced;
        file = std::move(*opened);
        filesEnd_ = std::max(filesEnd_, begin + fileBytes_);
    }
    return file.get();
}

Status TimerLog::dropTail() {
    // What a crash left behind the end must not be taken for units one day.
    const std::int64_t keep = written_ == begin_ ? begin_ : fileBegin(written_ - 1) + fileBytes_;
    for (std::int64_t file = filesEnd_ - fileBytes_; file >= keep; file -= fileBytes_) {
        open_.erase(file);
        if (Status removed = files_.remove(pathOf(file)); !removed) return removed;
        filesEnd_ = file;
    }
    if (const std::int64_t used = written_ % fileBytes_; used != 0) {
        const auto file = fileOf(written_);
        if (!file) return file.error();
        if (Status cut = (*file)->truncate(static_cast<std::uint64_t>(used)); !cut) return cut;
        if (Status grown = (*file)->truncate(static_cast<std::uint64_t>(fileBytes_)); !grown) return grown;
    }
    tail_ = false;
    return Status::ok();
}

Status TimerLog::write() {
    if (unwritten_.empty()) return Status::ok();
    if (Status dropped = tail_ ? dropTail() : Status::ok(); !dropped) return dropped;
    std::string_view rest = unwritten_;
    std::int64_t position = written_;
    while (!rest.empty()) {
        const auto file = fileOf(position);
        if (!file) return file.error();
        const std::int64_t at = position % fileBytes_;
        const auto piece = rest.substr(0, static_cast<std::size_t>(fileBytes_ - at));
        if (Status done = (*file)->writeAt(piece, static_cast<std::uint64_t>(at)); !done) return done;
        unsynced_[fileBegin(position)] = *file;
        position += static_cast<std::int64_t>(piece.size());
        rest.remove_prefix(piece.size());
    }
    written_ = position;
    unwritten_.clear();
    return Status::ok();
}

Status TimerLog::sync() {
    while (!unsynced_.empty()) {
        if (Status done = unsynced_.begin()->second->sync(); !done) return done;
        unsynced_.erase(unsynced_.begin());
    }
    return Status::ok();
}

Result<std::vector<TimerUnit>> TimerLog::chain(std::int64_t last) {
    std::vector<TimerUnit> units;
    std::array<char, kWindow> window{};
    std::int64_t windowBegin = 0;
    std::int64_t windowEnd = 0;
    for (std::int64_t position = last, before = last + 1; position >= begin_ && position < before && position + kUnitBytes <= written_;) {
        if (position < windowBegin || position + kUnitBytes > windowEnd) {
            // The units of a slot lie behind each other, so what lies in front is wanted next.
            windowEnd = position + kUnitBytes;
            windowBegin = std::max(fileBegin(position), windowEnd - static_cast<std::int64_t>(window.size()));
            const auto file = fileOf(position);
            if (!file) return file.error();
            const std::span<char> into(window.data(), static_cast<std::size_t>(windowEnd - windowBegin));
            const auto got = (*file)->readAt(into, static_cast<std::uint64_t>(windowBegin - fileBegin(position)));
            if (!got) return got.error();
            if (*got < into.size()) return Status(StatusCode::Corrupt, (*file)->path() + " is shorter than it was");
        }
        const char* const at = window.data() + (position - windowBegin);
        if (!isUnit(at)) return Status(StatusCode::Corrupt, "the timer log has no unit at " + std::to_string(position));
        units.push_back(decode(at));
        before = position;
        position = units.back().previous;
    }
    std::ranges::reverse(units);
    return units;
}

Status TimerLog::removeBelow(std::int64_t physicalOffset) {
    while (begin_ + fileBytes_ < filesEnd_ && begin_ + fileBytes_ <= written_) {
        const auto file = fileOf(begin_);
        if (!file) return file.error();
        const auto isOld = [&](const char* at) { return !isUnit(at) || loadI64(at + 28) < physicalOffset; };
        // Nearly always the last one tells; only then all of them have to be looked at.
        std::array<char, kUnitBytes> lastUnit{};
        const std::int64_t lastAt = ((fileBytes_ - kBlankBytes) / kUnitBytes - 1) * kUnitBytes;
        const auto got = (*file)->readAt(lastUnit, static_cast<std::uint64_t>(lastAt));
        if (!got) return got.error();
        if (!isOld(lastUnit.data())) return Status::ok();
        std::string block(kScanBytes, '\0');
        for (std::int64_t at = 0; at < fileBytes_; at += static_cast<std::int64_t>(block.size())) {
            const auto read = (*file)->readAt(block, static_cast<std::uint64_t>(at));
            if (!read) return read.error();
            for (std::size_t unit = 0; unit + kUnitBytes <= *read; unit += kUnitBytes) {
                if (!isOld(block.data() + unit)) return Status::ok();
            }
        }
        unsynced_.erase(begin_);
        open_.erase(begin_);
        if (Status removed = files_.remove(pathOf(begin_)); !removed) return removed;
        begin_ += fileBytes_;
    }
    return Status::ok();
}

}  // namespace patchbay::plugins::timer

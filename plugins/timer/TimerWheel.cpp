#include "TimerWheel.h"

#include "patchbay/protocol/util/BigEndian.h"

#include <algorithm>

namespace patchbay::plugins::timer {

namespace {

using protocol::appendBe;
using protocol::loadI32;
using protocol::loadI64;

constexpr std::int64_t kSlots = 2 * 604'800;
constexpr std::size_t kSlotBytes = 32;
constexpr std::uint64_t kFileBytes = kSlots * kSlotBytes;
constexpr std::size_t kReadBytes = 1 << 20;

}  // namespace

std::int64_t TimerWheel::indexOf(std::int64_t slotMs) const noexcept { return slotMs / precisionMs_ % kSlots; }

Status TimerWheel::load(std::int64_t fromMs) {
    if (!files_.exists(path_)) return {StatusCode::NotFound, path_ + " is not there"};
    if (Status opened = openFile(); !opened) return opened;
    std::string block(kReadBytes, '\0');
    for (std::uint64_t offset = 0; offset < kFileBytes; offset += block.size()) {
        const auto got = file_->readAt(block, offset);
        if (!got) return got.error();
        for (std::size_t at = 0; at + kSlotBytes <= *got; at += kSlotBytes) {
            const char* const slot = block.data() + at;
            const std::int64_t time = loadI64(slot);
            if (time <= 0 || time < fromMs / precisionMs_ || time - fromMs / precisionMs_ >= kSlots) continue;
            if (time % kSlots != static_cast<std::int64_t>((offset + at) / kSlotBytes)) continue;
            slots_[time * precisionMs_] = {loadI64(slot + 8), loadI64(slot + 16), loadI32(slot + 24)};
        }
    }
    return Status::ok();
}

Status TimerWheel::openFile() {
    if (file_) return Status::ok();
    auto opened = files_.open(path_, OpenMode::Create);
    if (!opened) return opened.error();
    const auto size = (*opened)->size();
    if (!size) return size.error();
    if (*size != 0 && *size != kFileBytes) return {StatusCode::Corrupt, path_ + " has " + std::to_string(*size) + " bytes"};
    if (*size == 0) {
        if (Status sized = (*opened)->truncate(kFileBytes); !sized) return sized;
        if (Status synced = files_.syncDirectory(directoryOf(path_)); !synced) return synced;
    }
    file_ = std::move(*opened);
    return Status::ok();
}

Status TimerWheel::clear() {
    slots_.clear();
    changed_.clear();
    file_.reset();
    const Status removed = files_.remove(path_);
    return removed.code() == StatusCode::NotFound ? Status::ok() : removed;
}

void TimerWheel::put(std::int64_t slotMs, const Slot& slot) {
    slots_[slotMs] = slot;
    changed_.insert(slotMs);
}

void TimerWheel::forgetBefore(std::int64_t slotMs) { slots_.erase(slots_.begin(), slots_.lower_bound(slotMs)); }

Status TimerWheel::write() {
    if (changed_.empty()) return Status::ok();
    if (Status opened = openFile(); !opened) return opened;
    std::string bytes;
    std::int64_t begin = 0;   // index of the first slot in `bytes`
    std::int64_t end = -1;
    const auto flush = [&] {
        return bytes.empty() ? Status::ok() : file_->writeAt(bytes, static_cast<std::uint64_t>(begin) * kSlotBytes);
    };
    for (const std::int64_t slotMs : changed_) {
        const auto found = slots_.find(slotMs);
        if (found == slots_.end()) continue;   // it is over; nobody looks at it again
        const std::int64_t index = indexOf(slotMs);
        if (index != end) {
            if (Status done = flush(); !done) return done;
            bytes.clear();
            begin = index;
        }
        appendBe(bytes, slotMs / precisionMs_);
        appendBe(bytes, found->second.first);
        appendBe(bytes, found->second.last);
        appendBe(bytes, found->second.count);
        appendBe(bytes, std::int32_t{0});
        end = index + 1;
    }
    if (Status done = flush(); !done) return done;
    if (Status synced = file_->sync(); !synced) return synced;
    changed_.clear();
    return Status::ok();
}

}  // namespace patchbay::plugins::timer

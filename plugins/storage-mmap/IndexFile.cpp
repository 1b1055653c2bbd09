#include "IndexFile.h"

#include "patchbay/protocol/util/BigEndian.h"
#include "patchbay/protocol/util/Hash.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace patchbay::mmapstore {

using protocol::loadI32;
using protocol::loadI64;
using protocol::storeI32;
using protocol::storeI64;

namespace {

constexpr std::int64_t kHeaderBytes = 40;
constexpr std::int64_t kEntryBytes = 20;
constexpr std::int64_t kSlotsAtOnce = 1024;
constexpr std::int32_t kUnresolved = -1;

}  // namespace

std::int32_t indexHash(std::string_view topic, std::string_view key) noexcept {
    // Of the text "topic#key".
    const std::int32_t hash = protocol::javaHashCode(key, protocol::javaHashCode("#", protocol::javaHashCode(topic)));
    if (hash == INT32_MIN) return 0;
    return hash < 0 ? -hash : hash;
}

std::int64_t IndexFile::Size::bytes() const noexcept {
    return kHeaderBytes + slots * kSlotBytes + entries * kEntryBytes;
}

std::size_t IndexFile::entryOffset(std::int64_t number) const noexcept {
    return static_cast<std::size_t>(kHeaderBytes + size_.slots * kSlotBytes + number * kEntryBytes);
}

Result<std::unique_ptr<IndexFile>> IndexFile::open(FileSystem& files, const std::string& path, Size size) {
    Result<std::unique_ptr<File>> file = files.open(path, OpenMode::ReadWrite);
    if (!file) return file.error();
    const Result<std::uint64_t> bytes = (*file)->size();
    if (!bytes) return bytes.error();
    if (*bytes != static_cast<std::uint64_t>(size.bytes())) {
        return Status(StatusCode::Corrupt, path + " has " + std::to_string(*bytes) + " bytes, maxHashSlotNum and maxIndexNum make " +
                                               std::to_string(size.bytes()));
    }
    std::unique_ptr<IndexFile> result(new IndexFile(std::move(*file), path, size));
    std::array<char, kHeaderBytes> header;
    if (Status got = result->read(header, 0); !got) return got;
    const char* const at = header.data();
    result->header_ = {loadI64(at), loadI64(at + 8), loadI64(at + 16), loadI64(at + 24), loadI32(at + 32),
                       std::clamp(loadI32(at + 36), 1, static_cast<std::int32_t>(size.entries))};
    result->written_ = result->header_.count;
    if (result->isFull()) return result;  // and never written again
    const Status filled = result->file_->allocate(0, static_cast<std::uint64_t>(size.bytes()));
    result->sealed_ = filled.code() == StatusCode::Full;
    if (!filled && !result->sealed_) return filled;
    return result;
}

Result<std::unique_ptr<IndexFile>> IndexFile::create(FileSystem& files, const std::string& path, Size size, const Header* previous) {
    Result<std::unique_ptr<File>> file = files.open(path, OpenMode::Create);
    if (!file) return file.error();
    std::unique_ptr<IndexFile> result(new IndexFile(std::move(*file), path, size));
    if (Status begun = result->begin(previous); !begun) {
        result.reset();
        // It holds what it got of the last blocks of the disk.
        (void)files.remove(path);
        return begun;
    }
    return result;
}

Status IndexFile::begin(const Header* previous) {
    // With blocks, not sparse: a disk that is full refuses it here and not in the middle.
    if (Status sized = file_->allocate(0, static_cast<std::uint64_t>(size_.bytes())); !sized) return sized;
    if (previous != nullptr) {
        header_.beginTime = header_.endTime = previous->endTime;
        header_.beginPhysical = header_.endPhysical = previous->endPhysical;
    }
    return writeHeader(header_);
}

Status IndexFile::read(std::span<char> to, std::size_t offset) const {
    const Result<std::size_t> got = file_->readAt(to, offset);
    if (!got) return got.error();
    return *got == to.size() ? Status::ok() : Status(StatusCode::Io, path_ + " was cut");
}

void IndexFile::add(std::int32_t hash, std::int64_t physical, std::int64_t storeTime) {
    // As RocketMQ: the first entry of a file is measured from the end of the file before.
    const std::int64_t seconds = header_.beginTime <= 0 ? 0 : (storeTime - header_.beginTime) / 1000;
    pending_.push_back({hash, physical, static_cast<std::int32_t>(std::clamp<std::int64_t>(seconds, 0, INT32_MAX)), kUnresolved});
    if (header_.count <= 1) {
        header_.beginPhysical = physical;
        header_.beginTime = storeTime;
    }
    ++header_.count;
    header_.endPhysical = physical;
    header_.endTime = storeTime;
}

template <typename Visit>
Status IndexFile::eachPage(std::span<const std::int32_t> order, Visit visit) const {
    std::array<char, kSlotsAtOnce * kSlotBytes> room;
    while (!order.empty()) {
        SlotPage page;
        page.from = pendingSlot(order.front()) / kSlotsAtOnce * kSlotsAtOnce;
        const std::int64_t end = std::min(page.from + kSlotsAtOnce, size_.slots);
        page.offset = static_cast<std::size_t>(kHeaderBytes + page.from * kSlotBytes);
        page.bytes = std::span(room).first(static_cast<std::size_t>((end - page.from) * kSlotBytes));
        if (Status got = read(page.bytes, page.offset); !got) return got;
        const auto next = std::ranges::find_if(order, [&](std::int32_t i) { return pendingSlot(i) >= end; });
        page.entries = order.first(static_cast<std::size_t>(next - order.begin()));
        if (Status done = visit(page); !done) return done;
        order = order.subspan(page.entries.size());
    }
    return Status::ok();
}

Status IndexFile::resolve(std::span<const std::int32_t> order) {
    return eachPage(order, [this](const SlotPage& page) {
        for (std::size_t i = 0; i < page.entries.size(); ++i) {
            Entry& entry = pending_[static_cast<std::size_t>(page.entries[i])];
            if (i > 0 && pendingSlot(page.entries[i - 1]) == slotOf(entry.hash)) {
                entry.previous = written_ + page.entries[i - 1];
                continue;
            }
            // Once: a write that failed may have changed the slot already.
            if (entry.previous != kUnresolved) continue;
            entry.previous = known(loadI32(page.at(slotOf(entry.hash))));
            if (entry.previous == 0) ++header_.usedSlots;
        }
        return Status::ok();
    });
}

Status IndexFile::write() {
    if (pending_.empty()) return Status::ok();
    // Pointers first, in memory: the entries cannot be written without them. Pages of slots are read again afterwards rather than kept:
    // there may be thousands.
    std::string entries(pending_.size() * kEntryBytes, '\0');
    std::vector<std::int32_t> order(pending_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [this](std::int32_t i) { return pendingSlot(i); });
    if (Status resolved = resolve(order); !resolved) return resolved;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        char* const to = entries.data() + i * kEntryBytes;
        storeI32(to, pending_[i].hash);
        storeI64(to + 4, pending_[i].physical);
        storeI32(to + 12, pending_[i].seconds);
        storeI32(to + 16, pending_[i].previous);
    }
    if (Status good = file_->writeAt(entries, entryOffset(written_)); !good) return good;
    const Status pointed = eachPage(order, [this](const SlotPage& page) {
        for (const std::int32_t i : page.entries) storeI32(page.at(pendingSlot(i)), written_ + i);
        return file_->writeAt({page.bytes.data(), page.bytes.size()}, page.offset);
    });
    if (!pointed) return pointed;
    if (Status good = writeHeader(header_); !good) return good;
    written_ = header_.count;
    pending_.clear();
    return Status::ok();
}

Status IndexFile::writeHeader(const Header& header) {
    std::array<char, kHeaderBytes> bytes;
    storeI64(bytes.data(), header.beginTime);
    storeI64(bytes.data() + 8, header.endTime);
    storeI64(bytes.data() + 16, header.beginPhysical);
    storeI64(bytes.data() + 24, header.endPhysical);
    storeI32(bytes.data() + 32, header.usedSlots);
    storeI32(bytes.data() + 36, header.count);
    return file_->writeAt({bytes.data(), bytes.size()}, 0);
}

Result<std::int32_t> IndexFile::first(std::int32_t hash) const {
    std::array<char, kSlotBytes> bytes;
    if (Status got = read(bytes, static_cast<std::size_t>(kHeaderBytes + slotOf(hash) * kSlotBytes)); !got) return got;
    return known(loadI32(bytes.data()));
}

Result<IndexFile::Entry> IndexFile::entryAt(std::int32_t number) const {
    std::array<char, kEntryBytes> bytes;
    if (Status got = read(bytes, entryOffset(number)); !got) return got;
    return Entry{loadI32(bytes.data()), loadI64(bytes.data() + 4), loadI32(bytes.data() + 12), loadI32(bytes.data() + 16)};
}

}  // namespace patchbay::mmapstore

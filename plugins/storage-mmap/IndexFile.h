// IndexFile: one file of RocketMQ's key index: a hash table of chains, newest entry first.
#pragma once

#include "patchbay/base/FileSystem.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/PropertyNames.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::mmapstore {

/// The hash by which a key of a topic is indexed.
[[nodiscard]] std::int32_t indexHash(std::string_view topic, std::string_view key) noexcept;

/// Calls `visit(hash)` for all keys of a message: its unique key, then the words of KEYS.
template <typename Visit>
void forEachIndexHash(std::string_view topic, std::string_view properties, Visit visit) {
    std::string_view unique;
    std::string_view keys;
    protocol::PropertyReader reader(properties);
    for (std::string_view name, value; reader.next(name, value);) {
        if (name == protocol::kPropertyUniqueKey) unique = value;
        if (name == protocol::kPropertyKeys) keys = value;
    }
    if (!unique.empty()) visit(indexHash(topic, unique));
    while (!keys.empty()) {
        const std::size_t end = std::min(keys.find(' '), keys.size());
        if (end > 0) visit(indexHash(topic, keys.substr(0, end)));
        keys.remove_prefix(std::min(end + 1, keys.size()));
    }
}

/// Purpose: entries are gathered in memory and written together, ordered by slot, so that a page of the slot table is written once
/// for many of them. Entries go to the file before the slots that point to them and the header that counts them: a crash leaves
/// less, never something wrong. Read through the descriptor: a bad sector is an error. Owned by the index, under its lock.
class IndexFile {
public:
    struct Header {
        std::int64_t beginTime = 0;
        std::int64_t endTime = 0;
        std::int64_t beginPhysical = 0;
        std::int64_t endPhysical = 0;
        std::int32_t usedSlots = 0;
        std::int32_t count = 1;  ///< number of the next entry
    };
    struct Size {
        std::int64_t slots;
        std::int64_t entries;
        [[nodiscard]] std::int64_t bytes() const noexcept;
    };

    /// Corrupt when the file is not of this size. One that is not full and, being sparse, cannot get its blocks because the disk is
    /// full is sealed.
    static Result<std::unique_ptr<IndexFile>> open(FileSystem& files, const std::string& path, Size size);
    /// `previous`: the header of the file before, or null. A failure leaves no file.
    static Result<std::unique_ptr<IndexFile>> create(FileSystem& files, const std::string& path, Size size, const Header* previous);

    [[nodiscard]] const Header& header() const noexcept { return header_; }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// Nothing is added to it any more.
    [[nodiscard]] bool isFull() const noexcept { return sealed_ || header_.count >= size_.entries; }
    [[nodiscard]] bool isSealed() const noexcept { return sealed_; }
    [[nodiscard]] std::size_t pending() const noexcept { return pending_.size(); }

    /// Only while it is not full.
    void add(std::int32_t hash, std::int64_t physical, std::int64_t storeTime);
    /// Writes what was added. After a failure it is tried again by the next call.
    Status write();
    Status sync() { return file_->sync(); }

    /// Calls `visit(physical)` for entries of the hash, newest first, until it answers false or entries get older than beginMs.
    /// Looks at `budget` entries at most, and takes those that it looked at from it.
    template <typename Visit>
    Status find(std::int32_t hash, std::int64_t beginMs, std::int64_t endMs, std::int64_t& budget, Visit visit) const {
        const Result<std::int32_t> newest = first(hash);
        if (!newest) return newest.error();
        std::int32_t number = *newest;
        while (number > 0 && number < header_.count && budget-- > 0) {
            const Result<Entry> entry = entryAt(number);
            if (!entry) return entry.error();
            const std::int64_t time = header_.beginTime + std::int64_t{entry->seconds} * 1000;
            // Times of entries are cut to seconds.
            if (entry->seconds < 0 || time + kSecondMs <= beginMs) break;
            if (entry->hash == hash && time <= endMs && !visit(entry->physical)) break;
            if (entry->previous >= number) break;  // chains only lead back
            number = entry->previous;
        }
        return Status::ok();
    }

private:
    static constexpr std::int64_t kSecondMs = 1000;
    static constexpr std::int64_t kSlotBytes = 4;
    struct Entry {
        std::int32_t hash;
        std::int64_t physical;
        std::int32_t seconds;
        std::int32_t previous;
    };
    struct SlotPage {
        std::int64_t from = 0;                     ///< its first slot
        std::size_t offset = 0;                    ///< in the file
        std::span<char> bytes;
        std::span<const std::int32_t> entries;     ///< pending ones, by slot
        [[nodiscard]] char* at(std::int64_t slot) const noexcept { return bytes.data() + (slot - from) * kSlotBytes; }
    };
    IndexFile(std::unique_ptr<File> file, std::string path, Size size) noexcept
        : file_(std::move(file)), path_(std::move(path)), size_(size) {}

    [[nodiscard]] std::int64_t slotOf(std::int32_t hash) const noexcept { return hash % size_.slots; }
    [[nodiscard]] std::int64_t pendingSlot(std::int32_t i) const noexcept { return slotOf(pending_[static_cast<std::size_t>(i)].hash); }
    /// What a slot points to: a crash may leave pointers to entries that the header does not count.
    [[nodiscard]] std::int32_t known(std::int32_t number) const noexcept { return number > 0 && number < written_ ? number : 0; }
    /// Calls `visit` for each page of slots that pending entries have; `order`: these entries by slot.
    template <typename Visit>
    Status eachPage(std::span<const std::int32_t> order, Visit visit) const;
    [[nodiscard]] Status read(std::span<char> to, std::size_t offset) const;
    [[nodiscard]] Result<std::int32_t> first(std::int32_t hash) const;
    [[nodiscard]] Result<Entry> entryAt(std::int32_t number) const;
    /// Of all that is pending, in memory.
    Status resolve(std::span<const std::int32_t> order);
    [[nodiscard]] std::size_t entryOffset(std::int64_t number) const noexcept;
    Status writeHeader(const Header& header);
    /// Blocks for all of the new file, and its header.
    Status begin(const Header* previous);

    const std::unique_ptr<File> file_;
    const std::string path_;
    const Size size_;
    Header header_;            ///< with what is pending
    std::int32_t written_ = 1; ///< entries from here on are pending
    bool sealed_ = false;      ///< only read, though there are numbers left
    std::vector<Entry> pending_;
};

}  // namespace patchbay::mmapstore

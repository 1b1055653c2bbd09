// QueueExtension: RocketMQ's consumequeue_ext: tags and store times beside the units of a simple queue, which then hold addresses.
#pragma once

#include "Layout.h"
#include "QueueFiles.h"

#include "patchbay/base/FileSystem.h"

#include <cstdint>
#include <mutex>
#include <span>
#include <string>

namespace patchbay::mmapstore {

/// Purpose: what a unit's tags code stands for when it is an address. Nothing depends on it: the messages themselves say the same.
/// Owned by its queue. Threads: append(), continueBehind() and rewind() by one at a time (the queue's lock); the rest any.
/// Failure: units keep their tags codes, and who reads asks the message.
class QueueExtension {
public:
    static constexpr std::int64_t kEntryBytes = 20;  ///< without RocketMQ's bit map
    /// From here down a tags code, which has 32 bits, is an address.
    static constexpr std::int64_t kAddressMax = std::int64_t{INT32_MIN} - 1;

    struct Entry {
        std::int64_t tagsCode = 0;
        std::int64_t storeTime = 0;
        std::int64_t address = 0;  ///< set by append()
    };

    QueueExtension(FileSystem& files, QueueFiles& open, std::string directory, std::int64_t fileBytes)
        : files_(files), open_(open), directory_(std::move(directory)), fileBytes_(fileBytes) {}
    ~QueueExtension() { open_.forget(this); }
    QueueExtension(const QueueExtension&) = delete;
    QueueExtension& operator=(const QueueExtension&) = delete;

    [[nodiscard]] static bool isAddress(std::int64_t tagsCode) noexcept { return tagsCode <= kAddressMax; }

    /// The next entry goes behind the one at this address; with another number, behind all that are there. Before append().
    Status continueBehind(std::int64_t address);
    [[nodiscard]] bool isPlaced() const noexcept { return end_ >= 0; }
    Status append(std::span<Entry> entries);
    /// Where append() goes on, to be given to rewind() when its addresses could not be kept.
    [[nodiscard]] std::int64_t end() const noexcept { return end_; }
    void rewind(std::int64_t end) noexcept { end_ = end; }
    /// Makes durable what was written.
    Status sync();
    /// The tags code at an address; an error when there is none.
    [[nodiscard]] Result<std::int64_t> tagsCodeAt(std::int64_t address) const;
    /// Removes files that end at or before an address.
    void removeBelow(std::int64_t address);

private:
    [[nodiscard]] std::string pathOf(std::int64_t start) const { return directory_ + "/" + fileName(start); }
    [[nodiscard]] Result<Ref<QueueFile>> openFile(std::int64_t start, OpenMode mode) const {
        return open_.open(this, start, [&] { return pathOf(start); }, mode);
    }
    [[nodiscard]] Result<std::int64_t> sizeAt(std::int64_t position) const;
    Status write(std::int64_t position, std::string_view bytes);

    FileSystem& files_;
    QueueFiles& open_;
    const std::string directory_;
    const std::int64_t fileBytes_;
    std::int64_t end_ = -1;           // -1: not known yet

    std::mutex mutex_;
    std::int64_t unsyncedFrom_ = -1;  // guarded by mutex_; first file
    std::int64_t lastFile_ = -1;      // guarded by mutex_; written by this process
    bool directoryChanged_ = false;   // guarded by mutex_
};

}  // namespace patchbay::mmapstore

// ReadWindows: parts of the commit log that are mapped for reading, as few as are needed.
#pragma once

#include "CommitLog.h"
#include "Residency.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

namespace patchbay::mmapstore {

/// A mapped part of the log. A value; valid as long as it is kept, whatever becomes of the file.
struct Window {
    std::int64_t from = 0;
    std::int64_t to = 0;
    Ref<Residency> part;

    [[nodiscard]] bool covers(std::int64_t position, std::int64_t bytes) const noexcept {
        return position >= from && bytes <= to - position;
    }
    [[nodiscard]] std::string_view at(std::int64_t position, std::int64_t bytes) const noexcept {
        return map()->bytes().substr(static_cast<std::size_t>(position - from), static_cast<std::size_t>(bytes));
    }
    /// Before looking at what may be on the disk only: Io instead of a signal when it cannot be read. Waits for the disk.
    [[nodiscard]] Status populate(std::int64_t position, std::int64_t bytes) const {
        return map()->populate(static_cast<std::size_t>(position - from), static_cast<std::size_t>(bytes));
    }
    /// `logEnd`: nothing was ever written behind it.
    [[nodiscard]] bool resident(std::int64_t position, std::int64_t bytes, std::int64_t logEnd, MonotonicTime now) const noexcept {
        return part->has(static_cast<std::size_t>(position - from), static_cast<std::size_t>(bytes),
                         static_cast<std::size_t>(logEnd - from), now);
    }
    [[nodiscard]] const Ref<Mapping>& map() const noexcept { return part->mapping(); }
    explicit operator bool() const noexcept { return part.get() != nullptr; }
};

/// Purpose: bounds what is mapped. The log is divided into windows that overlap, so that nearly every
/// record lies whole in the window in which it starts; a larger one gets a mapping of its own that is not kept.
/// Owned by the store. Any thread; one short lock a call, no system call for a window that is mapped already.
/// The least recently used window goes when there are too many, or too many bytes; readers that hold it are not disturbed. Where what
/// they hold leaves no room for a window, the record alone is mapped.
class ReadWindows {
public:
    struct Limits {
        std::int64_t windowBytes = 64 << 20;
        std::int64_t windowsMax = 8;
        std::int64_t bytesMax = INT64_MAX;  ///< of all windows together, with those that only readers hold
    };
    ReadWindows(const CommitLog& log, const Limits& limits);
    /// How far windows reach into the next one.
    [[nodiscard]] static std::int64_t overlapOf(std::int64_t windowBytes) noexcept;

    /// A window that covers the bytes. NotFound when the log has no such file (any more), Corrupt when they do not lie in one file,
    /// Io when they cannot be read now.
    [[nodiscard]] Result<Window> find(std::int64_t position, std::int64_t bytes);
    /// Forgets windows below a position.
    void dropBelow(std::int64_t position) noexcept;
    void clear() noexcept { dropBelow(INT64_MAX); }
    /// Bytes that are mapped now, by whomever they are held.
    [[nodiscard]] std::int64_t mappedBytes() const noexcept { return mapped_->bytes.load(std::memory_order_relaxed); }

private:
    /// Outlives the store with the last reader.
    struct Mapped : RefCounted {
        std::atomic<std::int64_t> bytes{0};
    };
    class Part;
    struct Kept {
        Window window;
        std::uint64_t used = 0;
    };

    [[nodiscard]] Result<Window> map(std::int64_t from, std::int64_t to) const;
    /// What it means that a file could not be opened or mapped.
    [[nodiscard]] Status unreadable(std::int64_t start, const Status& failure) const;

    [[nodiscard]] bool makeRoom(std::int64_t bytes);

    const CommitLog& log_;
    const std::int64_t windowBytes_;
    const std::int64_t overlapBytes_;
    const std::size_t windowsMax_;
    const std::int64_t bytesMax_;
    const Ref<Mapped> mapped_ = Ref<Mapped>::adopt(new Mapped);
    std::mutex mutex_;
    std::vector<Kept> kept_;      // guarded by mutex_
    std::uint64_t clock_ = 0;     // guarded by mutex_; counts uses
};

}  // namespace patchbay::mmapstore

// ConsumeQueue: one queue of one topic: where its messages lie in the commit log.
#pragma once

#include "CommitLog.h"
#include "ConsumeQueueUnit.h"
#include "LogReader.h"
#include "QueueExtension.h"
#include "QueueFiles.h"
#include "StopMark.h"

#include "patchbay/service/MessageStore.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::mmapstore {

/// What all queues of a store share. Owned by the store; outlives them.
struct QueueEnvironment {
    FileSystem& files;
    plugin::Logger& log;
    const Layout& layout;
    const CommitLog& commitLog;
    const LogReader& reader;
    QueueFiles& open;
    const std::int64_t fileBytes;
    const std::int64_t batchFileBytes = 13'800'000;
    const std::int64_t extensionFileBytes = 50'331'648;
    const bool extend = false;                   ///< units get entries in an extension
    std::atomic<bool> afterCrash{false};         ///< recovery of a store that was not closed: it can rebuild what is missing
    std::atomic<std::int64_t> rebuiltFrom{INT64_MAX};  ///< after a crash: batch queues get their units of the log from here on anew
    std::atomic<std::int64_t> logEndAtStart{0};  ///< units on disk that point beyond it are not believed
    std::atomic<std::int64_t> tailBytes{0};      ///< memory held by unwritten units of all queues
    std::atomic<std::int64_t> unloaded{0};       ///< queues whose files are still to be looked at
    std::mutex dropMutex{};
    bool checkpointDropped = false;              ///< guarded by dropMutex while queues are loaded

    /// Recovery, before a queue loses what stood in front of the checkpoint: until it is rebuilt, a further crash must not take the
    /// checkpoint's word for it. Durable when it returns Ok.
    Status dropCheckpoint();
};

struct TopicName : RefCounted {
    explicit TopicName(std::string_view name) : text(name) {}
    const std::string text;
};

/// Purpose: the units of one queue: on disk in RocketMQ's form, the newest ones in a small buffer that exists only while it
/// holds something. Looks at its files when it is used for the first time.
/// Units are counted by their place in the files. In a simple queue that is the offset of the message; in a batch queue a unit says
/// itself which offsets its record has, and find() searches for it.
/// Owned by the table and by whoever works with it.
/// Threads: appending calls under the store's append lock; reading ones any; write and sync any. The lock in here is held for a
/// copy or a write to the page cache, but for loading and recovery never for a read of the disk, a removal or a sync.
/// Failure: a queue whose files cannot be understood says so at every use; the other queues are not affected.
class ConsumeQueue : public RefCounted {
public:
    ConsumeQueue(QueueEnvironment& environment, Ref<TopicName> topic, std::int32_t id, QueueKind kind, bool onDisk) noexcept
        : env_(environment), topic_(std::move(topic)), id_(id), kind_(kind), loaded_(!onDisk) {
        if (onDisk) env_.unloaded.fetch_add(1, std::memory_order_relaxed);
    }
    ~ConsumeQueue() override;

    [[nodiscard]] const std::string& topic() const noexcept { return topic_->text; }
    [[nodiscard]] std::int32_t id() const noexcept { return id_; }
    [[nodiscard]] QueueKind kind() const noexcept { return kind_; }

    /// Everything below asks for this first. Reads the disk, once.
    Status load() { return isLoaded() ? Status::ok() : loadFiles(); }
    [[nodiscard]] bool isLoaded() const noexcept { return loaded_.load(std::memory_order_acquire); }

    [[nodiscard]] std::int64_t min() const noexcept { return min_.load(std::memory_order_acquire); }
    /// One past the last visible message.
    [[nodiscard]] std::int64_t max() const noexcept { return visible_.load(std::memory_order_acquire); }
    /// False for a queue that was made for a message that could not be written.
    [[nodiscard]] bool everUsed() const noexcept { return !loaded_.load(std::memory_order_acquire) || max() > 0; }
    /// What the next start will find, or an earlier one found. `max` is -1 when that is not known.
    [[nodiscard]] StopMark::Queue left() const;
    /// Whether the files are as they were left: names, sizes, newest unit. Looks at them without loading.
    [[nodiscard]] bool isAsLeft(const StopMark::Queue& left) const;
    /// Whether it has no file, or not the one that the oldest messages of the log stand in; false for one that is not loaded.
    [[nodiscard]] bool lacksItsBeginning(std::int64_t logMin) const;
    /// One past the newest offset of messages that went from the log, as far as its files tell, whatever their sizes: for a queue that
    /// cannot be loaded and is rebuilt.
    [[nodiscard]] Result<std::int64_t> endOfGone(std::int64_t logMin) const;
    /// After a crash: whether units may be missing at its end whose records nothing told of yet.
    [[nodiscard]] bool mayLackItsEnd() const;
    /// They are, and stay so until they are loaded.
    void presume(const StopMark::Queue& left);
    /// Goes on at `offset`, behind messages that are gone: for a queue that was rebuilt and held more numbers once.
    Status skipTo(std::int64_t offset);

    /// The offset for the next record of so many messages; kept by the appender, who takes it back when a write fails.
    [[nodiscard]] std::int64_t reserve(std::int32_t messages = 1) noexcept { return std::exchange(next_, next_ + messages); }
    void unreserve(std::int64_t offset) noexcept { next_ = offset; }
    /// Adds units for records that were written, up to the offset `end`; they stay invisible until publish().
    void append(std::span<const service::AppendedRecord> records, std::int64_t end);
    void publish(std::int64_t max) noexcept { visible_.store(max, std::memory_order_release); }

    static constexpr std::int64_t kMayWait = INT64_MIN;
    /// The place of the unit that holds an offset below max(), or of the next one where it falls into a hole. With `hotFrom` (see
    /// isHot) it does not wait for the disk: Busy when it would have to. Io when the files cannot be read.
    [[nodiscard]] Result<std::int64_t> find(std::int64_t offset, std::int64_t hotFrom = kMayWait) const;
    /// Copies units from a place on, as many as are there and fit; 0 when the files cannot be read.
    [[nodiscard]] std::size_t copy(std::int64_t from, std::span<Unit> to) const;
    /// Puts tags codes into units that have addresses, where the extension has them. Waits for the disk.
    void resolveTags(std::span<Unit> units) const;
    /// Whether the newest units surely are in memory, given where the part of the log begins that is.
    [[nodiscard]] bool isHot(std::int64_t from, std::int64_t hotFrom) const noexcept;
    /// Whether copy() would not wait for the disk.
    [[nodiscard]] bool resident(std::int64_t from, std::int64_t units, MonotonicTime now) const;

    enum class Restored : std::uint8_t { Known, Added, Replaced, Gap };
    /// Recovery: makes sure that the record whose offsets the unit names has it. `mayStart`: an empty queue may begin at any offset,
    /// and holes are filled; otherwise a message that does not follow the last one is a Gap and nothing changes.
    Result<Restored> restore(const Unit& unit, bool mayStart);
    /// Recovery is over: gives back what it read ahead.
    void endRestoring();

    /// True once until clearListed(): the caller puts it on the list of queues to be written.
    [[nodiscard]] bool list() noexcept { return !listed_.exchange(true); }
    void clearListed() noexcept { listed_.store(false); }
    [[nodiscard]] std::size_t tailUnits() const;
    /// Writes the buffered units to the page cache.
    Status writeTail();
    /// Makes all written units durable.
    Status sync();
    /// What is written and not durable yet; `from` is -1 when there is nothing.
    struct Unsynced {
        std::int64_t from = -1;  ///< first file
        std::int64_t last = 0;
        bool directory = false;
    };
    /// For a caller who makes many queues durable at once; what failed goes back.
    [[nodiscard]] Unsynced takeUnsynced();
    void giveBack(const Unsynced& unsynced);
    /// Moves the minimum behind messages below a position of the log, and removes files that hold nothing else. By one thread at
    /// a time; who appends does not wait for it.
    void correctMin(std::int64_t logMin);
    /// The files are about to go: nothing is written any more.
    void discard();
    [[nodiscard]] bool isDiscarded() const;
    /// Whether the messages up to a place went because they were too old.
    [[nodiscard]] bool isBelowMin(std::int64_t place) const;

    /// That record of its topic and number is its own, and not of a topic of that name that was deleted: so is all that lies behind.
    void noteOwn(std::int64_t physical) const noexcept {
        std::int64_t known = ownFrom_.load(std::memory_order_relaxed);
        while (physical < known && !ownFrom_.compare_exchange_weak(known, physical, std::memory_order_relaxed)) {}
    }
    /// False when that is not known.
    [[nodiscard]] bool owns(std::int64_t physical) const noexcept { return physical >= ownFrom_.load(std::memory_order_relaxed); }

private:
    static constexpr std::size_t kTailUnitsMax = 1024;

    [[nodiscard]] std::int64_t unitSize() const noexcept { return unitBytes(kind_); }
    [[nodiscard]] std::int64_t fileSize() const noexcept {
        return kind_ == QueueKind::Simple ? env_.fileBytes : env_.batchFileBytes;
    }
    [[nodiscard]] std::int64_t fileOf(std::int64_t place) const noexcept {
        return place * unitSize() - place * unitSize() % fileSize();
    }
    [[nodiscard]] std::int64_t unitsPerFile() const noexcept { return fileSize() / unitSize(); }
    [[nodiscard]] std::string directory() const { return env_.layout.queue(topic_->text, id_, kind_); }
    [[nodiscard]] std::string pathOf(std::int64_t start) const { return directory() + "/" + fileName(start); }
    [[nodiscard]] std::size_t tailSize() const noexcept { return tail_ ? tail_->size() / static_cast<std::size_t>(unitSize()) : 0; }
    [[nodiscard]] Unit tailUnit(std::size_t number) const noexcept {
        const auto at = number * static_cast<std::size_t>(unitSize());
        return loadUnit(tail_->data() + at, kind_, written_.load(std::memory_order_relaxed) + static_cast<std::int64_t>(number));
    }
    [[nodiscard]] Result<Ref<QueueFile>> openFile(std::int64_t start) const {
        return env_.open.open(this, start, [&] { return pathOf(start); }, OpenMode::ReadWrite);
    }
    [[nodiscard]] Result<Ref<QueueFile>> fileForWrite(std::int64_t start);
    [[nodiscard]] Result<Unit> readUnit(std::int64_t place) const;
    [[nodiscard]] std::size_t readFile(std::int64_t from, std::span<Unit> to) const;

    // Loading (ConsumeQueueLoad.cpp); mutex_ is held.
    Status loadFiles();
    Status loadLocked();
    Status findFiles(std::vector<std::int64_t>& starts);
    /// The files whose names are offsets; others are set aside, where the disk allows it.
    Status listFiles(std::vector<FileInfo>& found);
    /// Whether there are whole files from `first` to `last` or beyond, without a hole.
    [[nodiscard]] bool hasFiles(std::int64_t first, std::int64_t last) const;
    Status removeStale(std::vector<std::int64_t>& starts);
    Status removeFrom(std::span<const FileInfo> files, std::size_t first);
    /// Before the first change that hides from the next start that units may be missing.
    Status beginMending() { return env_.afterCrash ? env_.dropCheckpoint() : Status::ok(); }
    [[nodiscard]] Status removeEmptyLast(const std::string& path);
    [[nodiscard]] Status extendLast(const FileInfo& info, const std::string& path);
    [[nodiscard]] Result<std::int64_t> findEnd(std::vector<std::int64_t>& starts);
    [[nodiscard]] Result<std::int64_t> unitsIn(std::int64_t start) const;
    Status clearBehind(std::int64_t end);
    void markCleared(std::int64_t file) noexcept;
    [[nodiscard]] std::int64_t findMin(std::int64_t from, std::int64_t to, std::int64_t logMin) const;
    /// The offset at which the unit at a place begins, or the one behind it would.
    [[nodiscard]] std::int64_t offsetOf(std::int64_t place) const;
    void removeBelow(std::int64_t place);
    Result<Restored> restoreSimple(const Unit& unit, bool mayStart);
    /// Of a simple queue whose units are asked for in their order: reads some at once.
    [[nodiscard]] Result<Unit> unitAhead(std::int64_t place);
    Result<Restored> restoreBatch(const Unit& unit, bool mayStart);
    /// Of a batch queue: where the unit is or belongs.
    Result<std::int64_t> placeFor(const Unit& unit);
    Status add(const Unit& unit);
    /// Whether the unit that is there counts and not the one whose record is looked at.
    [[nodiscard]] Result<bool> isLaterLife(const Unit& there, const Unit& unit) const;
    /// Because the messages in it were too old, or with its topic.
    [[nodiscard]] bool wasRemoved(std::int64_t start) const;

    void addTail(const Unit& unit);
    [[nodiscard]] bool isExtended() const noexcept;
    [[nodiscard]] QueueExtension& extension() const;
    /// Lets units in their form on the disk point into the extension; those that cannot stay as they are.
    void extend(std::vector<char>& units);
    Status writeTailLocked();
    Status writeUnits(std::int64_t place, std::string_view bytes);
    void dropTail() noexcept;
    Status truncate(std::int64_t place);
    Status removeAll();

    QueueEnvironment& env_;
    const Ref<TopicName> topic_;
    const std::int32_t id_;
    const QueueKind kind_;
    std::atomic<bool> loaded_;
    std::atomic<bool> listed_{false};
    bool discarded_ = false;                  // guarded by mutex_, like the rest but for the atomics and next_
    bool directoryChanged_ = false;
    std::atomic<std::int64_t> min_{0};
    std::atomic<std::int64_t> visible_{0};
    std::atomic<std::int64_t> newest_{-1};    // position in the log of the newest message; -1: not known
    mutable std::atomic<std::int64_t> ownFrom_{INT64_MAX};  // position in the log; see noteOwn()
    std::atomic<std::int64_t> written_{0};    // place behind the last unit in the files; the tail begins here
    mutable std::atomic<std::int64_t> found_{0};  // place of the unit that find() found last
    std::int64_t next_ = 0;                   // append lock
    std::int64_t promised_ = 0;               // numbers below it were given out, whatever the files say
    std::int64_t foundAtStart_ = 0;           // place
    std::int64_t minPlace_ = 0;
    std::int64_t firstFile_ = -1;             // -1: none
    std::int64_t lastFile_ = -1;
    std::int64_t unsyncedFrom_ = -1;          // first file written since the last sync; -1: none
    mutable std::mutex mutex_;
    mutable std::once_flag extensionMade_;
    mutable std::unique_ptr<QueueExtension> extension_;  // made when it is needed
    std::unique_ptr<std::vector<char>> tail_;
    std::unique_ptr<std::vector<std::int64_t>> tailTimes_;  // of the units in the tail, with an extension only
    std::unique_ptr<Status> failure_;
    struct Ahead {
        static constexpr std::int64_t kUnits = 32;
        std::int64_t from = 0;
        std::int64_t units = 0;
        std::array<char, kUnits * kUnitBytes> bytes;
    };
    std::unique_ptr<Ahead> ahead_;            // recovery; goes with every change of the files
    bool cutShort_ = false;                   // after a crash: its last file was short or missing, and no record was seen since
};

}  // namespace patchbay::mmapstore

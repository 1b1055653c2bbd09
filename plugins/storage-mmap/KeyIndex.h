// KeyIndex: finds messages by the keys that their senders gave them.
#pragma once

#include "Checkpoint.h"
#include "IndexFile.h"
#include "LogReader.h"
#include "StopMark.h"
#include "StoreConfig.h"
#include "StoreState.h"

#include "patchbay/plugin/Logger.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/service/MessageStore.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace patchbay::mmapstore {

/// Purpose: indexes messages from where the newest index file ends, and looks keys up. Appenders hand over the hashes of what they
/// have at hand; a thread writes them. Where it was not handed the whole (after a start, or when it fell behind by more than it may
/// keep in memory) it reads the log instead, which also makes it catch up after a crash, or when the files were removed.
/// Owned by the store. One thread, which sleeps when there is nothing new and looks fifty times a second, or when there is much, while there is.
/// Failure: keys of messages are not found, which is logged; nothing else is affected. Where the next file cannot be made, the index
/// stays where it is and tries again every ten seconds.
class KeyIndex final : public service::AppendListener {
public:
    struct Parts {
        FileSystem& files;
        const Clock& clock;
        plugin::Logger& log;
        const StoreOptions& options;
        const Layout& layout;
        const CommitLog& commitLog;
        ReadWindows& windows;
        StoreState& state;
        std::function<std::string()> fileName;             ///< of a new file
        std::function<void(std::int64_t)> fileCompleted;   ///< a file that ends at that time is full and durable
    };
    explicit KeyIndex(Parts parts) noexcept : p_(std::move(parts)) {}
    ~KeyIndex() override { stopThread(); }

    /// Opens the files. After a crash those that are newer than the checkpoint are removed, as RocketMQ does, and built again.
    /// After a clean stop, those that are not as `mark` says, which may be null, and all later ones are built again as well.
    Status open(const Checkpoint& checkpoint, bool clean, const StopMark* mark);
    void start();
    /// Writes what is left.
    void stop() noexcept;

    void appended(std::span<const service::AppendedRecord> records) noexcept override;

    /// Positions of messages that may have the key, newest first, and no more than kCandidatesMax. Looks at what is visible and not
    /// indexed yet before, unless that is very much. The messages are for the caller to read: they may be on a slow disk.
    Result<std::vector<std::int64_t>> find(const service::KeyQuery& query);
    /// Of the newest entry; zeros when there is none.
    [[nodiscard]] IndexFile::Header last();
    void trim(std::int64_t logMin);
    /// What stop() left in the files.
    [[nodiscard]] std::vector<StopMark::Index> left() const { return left_; }

private:
    static constexpr std::size_t kCandidatesMax = 4096;
    static constexpr std::int64_t kLookedAtMax = 262'144;  // entries of a query: of its key out of its time, and of others in the same slots
    static constexpr std::size_t kPendingMax = 32'768;
    static constexpr std::size_t kHandedMax = 32'768;
    static constexpr std::int64_t kBytesAtOnce = 4 << 20;
    static constexpr std::int64_t kPopulatedAtOnce = 1 << 20;

    struct Entry {
        std::int32_t hash;
        std::int64_t physical;
        std::int64_t storeTime;
    };

    void stopThread() noexcept;
    void handOver(const service::AppendedRecord& record);
    /// Where the log has to be read up to, because nobody handed over what lies before.
    [[nodiscard]] std::int64_t handedFrom();
    void takeHanded();
    Status dropChanged(const StopMark& mark);
    [[nodiscard]] static StopMark::Index describe(const IndexFile& file);
    void run();
    /// Goes on for a while; true when there is more before `end`.
    bool advance(std::int64_t end);
    /// Reads the log for a while; true when there is more before `end`.
    bool step(std::int64_t end);
    /// Makes `window_` cover what begins at `position_`, and sees to it that it can be looked at.
    Status look(std::int64_t bytes, std::int64_t end);
    /// False while there is no file that it could go to.
    bool add(const Entry& entry);
    [[nodiscard]] bool makeRoom();
    /// Whether a file is wanted that could not be made just now.
    [[nodiscard]] bool isWaiting() const;
    Status nextFile();
    void report(const Status& status);

    const Parts p_;
    std::atomic<bool> asleep_{false};
    std::mutex wakeMutex_;
    std::condition_variable wake_;
    bool stopping_ = false;  // guarded by wakeMutex_
    bool hurry_ = false;     // guarded by wakeMutex_; there is much to take
    std::thread thread_;

    std::mutex handMutex_;   // the next three; taken under mutex_
    std::vector<Entry> handed_;
    std::int64_t handedFrom_ = 0;  // handed_ has all keys of the log from here to there
    std::int64_t handedTo_ = 0;

    std::mutex mutex_;       // everything below
    std::vector<Entry> taken_;
    std::vector<std::unique_ptr<IndexFile>> files_;
    std::int64_t position_ = 0;
    std::size_t added_ = 0;         // keys of the message at position_ that are in the index already
    bool lastCompleted_ = false;    // the last file is full, and fileCompleted was called for it
    MonotonicTime nextTry_{};       // to make a file
    Window window_;
    std::int64_t populated_ = 0;  // up to here it can be looked at
    std::vector<StopMark::Index> left_;
    std::vector<std::unique_ptr<IndexFile>> removed_;  // open: the disk takes seconds for their blocks, which the thread waits for and not a start
};

}  // namespace patchbay::mmapstore

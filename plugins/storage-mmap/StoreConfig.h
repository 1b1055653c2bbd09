// StoreConfig: the keys of the store, and their values in the form in which the store uses them.
#pragma once

#include "patchbay/plugin/Config.h"
#include "patchbay/protocol/message/DelayLevels.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::mmapstore {

/// What a store is opened with; constant while it is open.
struct StoreOptions {
    std::string root;
    bool rootLocked = false;                   ///< whoever opens the store has the lock of `root` already, as a broker's process has
    std::vector<std::string> logDirectories;   ///< that get new files of the commit log; empty: root/commitlog
    std::vector<std::string> logDirectoriesRead;  ///< that hold older files of it
    std::int64_t segmentBytes = 1'073'741'824;
    std::int64_t queueFileBytes = 6'000'000;   ///< a multiple of 20
    std::int64_t batchQueueFileBytes = 13'800'000;  ///< a multiple of 46
    std::int64_t extensionFileBytes = 50'331'648;
    bool extendQueues = false;                 ///< units of simple queues get entries in RocketMQ's extension
    /// Whether a topic without queues gets those of RocketMQ's batch kind; empty: none does. Called on any thread, now and then.
    std::function<bool(std::string_view)> hasBatchQueues;
    bool syncFlush = false;
    std::chrono::milliseconds syncFlushTimeout{5000};
    std::int64_t syncFlushQueuedBytes = 64 << 20;
    std::int64_t mappedWindowBytes = 64 << 20;
    std::int64_t mappedWindowsMax = 8;
    std::int64_t memoryMax = 768 << 20;        ///< for mapped windows and all buffers together
    bool loadQueues = true;                    ///< in the background after a start; tests that need the first look switch it off
    std::int64_t hotWindowBytes = 64 << 20;    ///< newest part of the log that surely is in the page cache
    std::int64_t queueFilesOpenMax = 256;
    bool keyIndex = true;
    bool buildIndex = true;                    ///< tools that only want to know what a start finds there switch it off
    bool furtherQueues = false;                ///< messages go to the queues that INNER_MULTI_DISPATCH names as well
    bool appendCrc = false;                    ///< records get a checksum over the whole of them
    bool demandCrc = false;                    ///< recovery takes records without it for damaged
    /// RocketMQ delivers a message of the schedule topic when its queue says, which is by these levels.
    protocol::DelayLevels delayLevels = *protocol::DelayLevels::parse(protocol::kDelayLevelsDefault);
    std::int64_t indexSlots = 5'000'000;
    std::int64_t indexEntries = 20'000'000;
    std::int64_t memoryBytes = 0;              ///< physical memory of the machine; 0: asked for
};

/// What may change while the store runs. Written by one thread, read by all.
struct StoreTunables {
    std::atomic<std::int64_t> maxMessageBytes{4'194'304};
    std::atomic<std::int64_t> flushIntervalMs{500};
    std::atomic<std::int64_t> flushLeastPages{4};
    std::atomic<std::int64_t> flushThoroughMs{10'000};
    std::atomic<std::int64_t> queueFlushIntervalMs{1000};
    std::atomic<std::int64_t> queueFlushThoroughMs{60'000};
    std::atomic<std::int64_t> transferBytesInMemory{262'144};
    std::atomic<std::int64_t> transferCountInMemory{32};
    std::atomic<std::int64_t> transferBytesOnDisk{65'536};
    std::atomic<std::int64_t> transferCountOnDisk{8};
    std::atomic<std::int64_t> filterBytesMax{16'000};
    std::atomic<std::int64_t> inMemoryPercent{40};
    std::atomic<std::int64_t> diskExpirePercent{75};
    std::atomic<std::int64_t> diskCleanPercent{85};
    std::atomic<std::int64_t> diskWarningPercent{90};
    std::atomic<std::int64_t> diskCleanFreeBytes{0};
    std::atomic<std::int64_t> diskFreeBytesMin{0};
    std::atomic<std::int64_t> cleanForcibly{1};
    std::atomic<std::int64_t> reservedHours{72};
    std::atomic<std::int64_t> deleteHours{1 << 4};   ///< a bit for each hour of the day
    std::atomic<std::int64_t> logBytesMax{0};
    std::atomic<std::int64_t> cleanIntervalMs{10'000};
    std::atomic<std::int64_t> deletePauseMs{100};
    std::atomic<std::int64_t> deleteBatchMax{10};

    void assign(const StoreTunables& other) noexcept;
};

[[nodiscard]] std::span<const plugin::ConfigKey> storeConfigKeys() noexcept;
/// How the memory of a store is shared out; the keys of the parts count as far as there is room.
struct MemoryShares {
    std::int64_t windowBytes;         ///< of one window
    std::int64_t windowsBytes;        ///< of all that are mapped
    std::int64_t syncQueuedBytes;     ///< that wait for the disk
};
[[nodiscard]] MemoryShares memorySharesOf(const StoreOptions& options) noexcept;
/// InvalidArgument, naming the key, for what the types cannot check.
Status readOptions(const plugin::ConfigView& config, StoreOptions& options);
/// The hours of a list such as "04;16" as bits; nothing for what is no such list.
[[nodiscard]] std::optional<std::int64_t> parseHours(std::string_view list) noexcept;
void readTunables(const plugin::ConfigView& config, StoreTunables& tunables);

}  // namespace patchbay::mmapstore

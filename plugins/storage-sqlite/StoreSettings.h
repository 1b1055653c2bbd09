// StoreSettings: what the store needs to know from the configuration.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace patchbay::plugins::sqlite {

/// A value; constant while the store is open.
struct StoreSettings {
    std::string directory;                             ///< absolute; made when missing
    bool directoryLocked = false;                      ///< whoever opens the store has the lock of `directory` already
    bool syncFlush = false;
    std::chrono::milliseconds busyTimeout{5000};       ///< how long to wait for locks of other processes
    std::chrono::milliseconds groupTime{20};           ///< a transaction that takes longer is committed as it is
    std::size_t groupMessagesMax = 1024;               ///< messages of one transaction, beyond which no batch is added
    std::size_t bodyBytesMax = 4U << 20;
    std::size_t queuedBytesMax = 64U << 20;            ///< appended but not yet written, beyond which appends are Busy
    std::size_t pageBytes = 8U << 10;                  ///< of a new database; a power of two from 512 to 65536
    std::size_t pageCacheBytes = 4U << 20;             ///< of the writer
    std::size_t readerPageCacheBytes = 1U << 20;       ///< of each reader
    std::size_t tailCacheBytes = 8U << 20;
    std::size_t walBytesMax = 32U << 20;               ///< size of the write-ahead log at which it is copied into the database
    std::int64_t walBytesLimit = 1LL << 30;            ///< size of it at which nothing more is written
    std::int64_t diskFreeBytesMin = 32LL << 20;        ///< appends are refused when less is free
    std::int64_t messageBytesMax = 0;                 ///< record bytes that are kept; 0 = no limit
    std::chrono::milliseconds retention{0};            ///< how long messages are kept; 0 = for ever
    bool checkIntegrity = false;                       ///< on open
};

}  // namespace patchbay::plugins::sqlite

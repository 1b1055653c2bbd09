// LogCopier: copies the write-ahead log into the database beside the writer.
#pragma once

#include "Database.h"
#include "StoreSettings.h"

#include "patchbay/plugin/Logger.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace patchbay::plugins::sqlite {

/// A connection and a thread, because a copy waits for the disk twice and the writer need not. What the writer adds meanwhile is left for
/// the next pass, so the log can only be begun anew after a pass that the writer itself makes (MessageTables::checkpoint). Owned and
/// asked by the writer; stop() ends a pass that runs before it returns.
class LogCopier {
public:
    explicit LogCopier(plugin::Logger& log) : log_(log) {}
    ~LogCopier() { stop(); }

    /// The database has to be one with a write-ahead log.
    Status open(const std::string& path, const StoreSettings& settings);
    void stop() noexcept;

    /// Begins a pass; nothing when one runs.
    void begin();
    /// Waits until none runs.
    void wait();
    [[nodiscard]] bool isBusy() const;
    /// Bytes at the beginning of the log that the last pass found copied.
    [[nodiscard]] std::int64_t copiedBytes() const;
    /// The log was begun anew.
    void forget();

private:
    void loop() noexcept;
    /// Pages of the log that are copied now.
    int pass();

    plugin::Logger& log_;
    Database database_;
    std::int64_t pageBytes_ = 0;
    std::thread thread_;
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool wanted_ = false;   // begun and not ended
    bool running_ = false;
    int copiedPages_ = 0;
};

}  // namespace patchbay::plugins::sqlite

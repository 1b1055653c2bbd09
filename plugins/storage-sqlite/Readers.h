// Readers: connections that only read, one for each thread that reads at the moment.
#pragma once

#include "Database.h"
#include "StoreSettings.h"

#include "patchbay/base/Slice.h"
#include "patchbay/service/MessageStore.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::plugins::sqlite {

/// Messages that a read asked for and the file could not give.
struct PassedOver {
    std::int64_t damaged = 0;
    std::int64_t damagedAt = 0;              ///< offset of the last one, in its queue or physical
    std::string_view why;                    ///< it is damaged
    std::int64_t missing = 0;
    std::int64_t missingAt = 0;              ///< queue offset of the first one
};

struct StoredAt {
    std::int64_t offset;
    std::int64_t timeMs;
};

/// A connection with the queries of the read side; used by one thread at a time.
class Reader {
public:
    static Result<std::unique_ptr<Reader>> open(const std::string& path, const StoreSettings& settings);

    /// Adds records from `offset` up to `end` to `result`, within limits and filter, and moves its nextOffset on.
    /// After a failure what was found before it is there. What is damaged or missing is passed over and counted in `passed`.
    Status readRange(std::int64_t queueRef, std::string_view topic, std::int32_t queueId, std::int64_t end, const service::ReadLimits& limits,
                     const service::ReadFilter* filter, service::ReadResult& result, PassedOver& passed);
    /// The message at an offset or the next one behind it; NotFound when there is none.
    Result<StoredAt> firstFrom(std::int64_t queueRef, std::int64_t offset);
    /// Corrupt when it is there and damaged.
    Result<Slice> at(std::int64_t physicalOffset);
    /// Damaged messages are left out and counted in `passed`.
    Result<std::vector<service::KeyHit>> findByKey(const service::KeyQuery& query, PassedOver& passed);
    /// Store time of the oldest message; -1 when there is none.
    Result<std::int64_t> oldestTime();
    /// The first physical offset whose message was stored at `timeMs` or later, or `end`.
    Result<std::int64_t> physicalByTime(std::int64_t begin, std::int64_t end, std::int64_t timeMs);

    /// Names of the configuration files that are kept.
    Result<std::vector<std::string>> keptFiles();
    Result<std::string> keptFile(const std::string& name);

private:
    Status prepareAll();

    Database database_;
    Statement range_;
    Statement time_;
    Statement at_;
    Statement byKey_;
    Statement oldest_;
    Statement fromPhysical_;
};

/// The pool. Owned by the store; thread-safe. Connections are opened when none is idle; a few idle ones are kept.
class Readers {
public:
    explicit Readers(const StoreSettings& settings) : settings_(settings) {}

    void open(std::string path);
    /// Closes idle connections and those that come back later.
    void close();

    /// Lends a reader to `use`, which returns a Status or Result; failing to open one is answered by that failure.
    template <typename Use>
    auto with(Use&& use) -> decltype(use(std::declval<Reader&>())) {
        auto reader = take();
        if (!reader) return reader.error();
        auto outcome = use(**reader);
        giveBack(std::move(*reader));
        return outcome;
    }

private:
    Result<std::unique_ptr<Reader>> take();
    void giveBack(std::unique_ptr<Reader> reader);

    static constexpr std::size_t kIdleMax = 8;
    const StoreSettings& settings_;
    std::mutex mutex_;
    std::string path_;
    std::vector<std::unique_ptr<Reader>> idle_;
};

}  // namespace patchbay::plugins::sqlite

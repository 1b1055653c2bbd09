// Reader: everything that looks at stored messages.
#pragma once

#include "ConsumeQueueTable.h"
#include "LogReader.h"
#include "ReadWindows.h"
#include "StoreConfig.h"
#include "StoreState.h"

#include "patchbay/service/MessageStore.h"

#include <cstdint>
#include <string_view>

namespace patchbay::mmapstore {

/// Purpose: reads by queue offset, by time and by position. Takes no lock of the append path; what it may see is bounded by
/// the queue's visible maximum. Owned by the store; any thread. May wait for the disk unless hotOnly,
/// which looks neither at the files of a queue that is not loaded yet nor at what is not in memory (but for what is evicted between
/// the two looks). What is there and cannot be read is Failed and passed over by nobody.
class Reader {
public:
    struct Parts {
        const StoreOptions& options;
        const StoreTunables& tunables;
        plugin::Logger& log;
        const Clock& clock;
        const CommitLog& commitLog;
        ConsumeQueueTable& queues;
        ReadWindows& windows;
        const LogReader& records;
        StoreState& state;
    };
    explicit Reader(const Parts& parts) noexcept : p_(parts) {}

    void read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
              const service::ReadFilter* filter, service::ReadResult& result) const noexcept;
    [[nodiscard]] service::OffsetRange range(std::string_view topic, std::int32_t queueId) const noexcept;
    [[nodiscard]] Result<std::int64_t> offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timeMs,
                                               service::Bound bound) const;
    [[nodiscard]] Result<std::int64_t> storeTimeAt(std::string_view topic, std::int32_t queueId, std::int64_t offset) const;
    [[nodiscard]] Result<Slice> at(std::int64_t position) const;
    /// Of the oldest record; -1 when there is none.
    [[nodiscard]] std::int64_t earliestTime() const;

private:
    class Scan;

    void readFrom(const ConsumeQueue& queue, std::int64_t offset, const service::ReadLimits& limits, const service::ReadFilter* filter,
                  service::ReadResult& result) const noexcept;
    /// Null when there is none; an error for one whose files cannot be read.
    [[nodiscard]] Result<Ref<ConsumeQueue>> find(std::string_view topic, std::int32_t queueId) const;
    [[nodiscard]] Status load(ConsumeQueue& queue) const;
    [[nodiscard]] Result<std::int64_t> search(const ConsumeQueue& queue, std::int64_t timeMs, service::Bound bound) const;
    /// Whether the record's queue still has it.
    [[nodiscard]] bool isReachable(std::string_view record) const;
    /// The first place of [from, to) whose store time passes `test`, or `to`.
    template <typename Test>
    [[nodiscard]] Result<std::int64_t> firstWith(const ConsumeQueue& queue, std::int64_t from, std::int64_t to, Test test) const;
    [[nodiscard]] Result<std::int64_t> timeOf(const ConsumeQueue& queue, std::int64_t place) const;
    [[nodiscard]] static Result<Unit> unitAt(const ConsumeQueue& queue, std::int64_t place);

    const Parts p_;
};

}  // namespace patchbay::mmapstore

// OpLog: writes down which half messages have ended.
#pragma once

#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/MessageStore.h"

#include <cstdint>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugins::transaction {

/// Ops in RocketMQ's form: records with tag "d" whose body lists queue offsets, "12,13,". At most one append is under way;
/// what ends meanwhile goes into the next one, so that nothing waits for a timer and a busy broker still writes few ops.
/// Owned by the plugin, which calls finish() before it is destroyed. Any thread. A failed append is tried again a second later.
class OpLog final : private service::AppendBatch {
public:
    OpLog(service::MessageStore& store, plugin::PluginContext& context, std::int32_t bodyBytesMax);

    /// The half message at this queue offset has ended. Written by the next write().
    void add(std::int64_t halfOffset);
    void write() noexcept;
    /// Writes what is left and waits for it. Nothing may be added any more.
    void finish() noexcept;

    /// From recovery: ops that lie in the queue already, in order, and one past the last.
    void recovered(std::int64_t opOffset, std::int64_t highestHalf);
    void recoveredTo(std::int64_t end);
    /// The first op that says something about a half message at `base` or later.
    [[nodiscard]] std::int64_t firstNeeded(std::int64_t base);

    /// Calls f(std::int64_t) for every offset in the body of an op.
    template <typename F>
    static void forEachOffset(std::string_view body, F&& f);
    static bool parseOffset(std::string_view text, std::int64_t& offset) noexcept;

private:
    struct Written {
        std::int64_t offset;
        std::int64_t highestHalf;
    };
    void done() noexcept override;
    void retry() noexcept;
    bool fill();       // with the lock held: makes items of what is pending
    bool collect();    // with the lock held: the outcome of the items

    service::MessageStore& store_;
    plugin::PluginContext& context_;
    const std::size_t bodyBytesMax_;

    std::mutex mutex_;
    std::condition_variable idle_;
    std::vector<std::int64_t> pending_;
    std::vector<std::vector<std::int64_t>> writing_;   // by item
    std::deque<std::string> bodies_;
    bool underWay_ = false;
    bool retrying_ = false;
    bool finished_ = false;   // no retry any more
    std::deque<Written> written_;
    std::int64_t end_ = 0;
};

template <typename F>
void OpLog::forEachOffset(std::string_view body, F&& f) {
    while (!body.empty()) {
        const std::size_t comma = body.find(',');
        std::int64_t offset = 0;
        if (parseOffset(body.substr(0, comma), offset)) f(offset);
        if (comma == std::string_view::npos) break;
        body.remove_prefix(comma + 1);
    }
}

}  // namespace patchbay::plugins::transaction

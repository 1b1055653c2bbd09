// EndProcessor: serves END_TRANSACTION and RESUME_CHECK_HALF_MESSAGE.
#pragma once

#include "HalfMessage.h"
#include "InFlight.h"
#include "OpLog.h"
#include "TransactionConfig.h"
#include "TransactionTable.h"

#include "patchbay/plugin/Plugin.h"
#include "patchbay/protocol/headers/Transaction.h"
#include "patchbay/service/DelaySchedule.h"
#include "patchbay/service/MessageStore.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace patchbay::plugins::transaction {

/// A half message together with the bytes that it shows.
struct LoadedHalf {
    Slice bytes;
    HalfMessage half;
};

/// Commits of one turn of a lane are appended together, as the send plugin does. A half message ends once: a second commit of it
/// is answered like the first and stores nothing. A half message that is not in memory any more is read on the executor. Owned by the plugin, which calls awaitIdle() before it is destroyed.
/// Any lane.
class EndProcessor final : public plugin::Processor {
public:
    EndProcessor(service::MessageStore& store, service::DelaySchedule* delay, TransactionTable& table, OpLog& ops,
                 const TransactionConfig& config, plugin::PluginContext& context);
    ~EndProcessor() override;

    void process(plugin::Request request) override;
    void endOfBatch(plugin::Lane lane) noexcept override;
    void awaitIdle() noexcept { inFlight_.awaitNone(); }

private:
    class Batch;

    void endTransaction(plugin::Request request);
    void resume(plugin::Request request);
    /// Why the half message is not the one that the header means.
    std::optional<plugin::Response> refusal(const protocol::EndTransactionRequest& header, const HalfMessage& half) const;
    /// May wait for the disk.
    std::optional<LoadedHalf> load(std::int64_t physicalOffset) const;
    /// For a request on a loop only what is at hand: nothing found there says that the executor has to look.
    std::optional<LoadedHalf> load(const plugin::Request& request, const TransactionTable::Place& place) const;
    /// Follows copies; true when `found` is the caller's to end.
    bool take(LoadedHalf& found, bool commit, plugin::Request& request);
    void commit(LoadedHalf found, plugin::Request request);
    void rollBack(const LoadedHalf& found, plugin::Request request);
    Batch& batchOf(plugin::Lane lane);

    service::MessageStore& store_;
    service::DelaySchedule* const delay_;   // may be null
    TransactionTable& table_;
    OpLog& ops_;
    const TransactionConfig& config_;
    plugin::PluginContext& context_;
    plugin::Counter& commits_;
    plugin::Counter& rollbacks_;
    InFlight inFlight_;
    std::vector<std::unique_ptr<Batch>> lanes_;
};

}  // namespace patchbay::plugins::transaction

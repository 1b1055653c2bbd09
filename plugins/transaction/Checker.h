// Checker: asks producers about half messages that stay open.
#pragma once

#include "HalfMessage.h"
#include "InFlight.h"
#include "OpLog.h"
#include "QueueScan.h"
#include "TransactionConfig.h"
#include "TransactionTable.h"

#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/ClientRegistry.h"
#include "patchbay/service/ConsumerOffsets.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/TopicConfigs.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

namespace patchbay::plugins::transaction {

/// What it borrows; valid as long as it.
struct CheckerServices {
    service::MessageStore& store;
    service::ConsumerOffsets& offsets;
    service::ClientRegistry& clients;
    service::TopicConfigs& topics;
};

/// Works in rounds, transactionCheckInterval apart, while half messages are open; otherwise no timer is set. A round walks over
/// those that were there when it began. One that is old enough is appended again with a higher count, so that the front of
/// the queue moves on, and its producer is asked about the copy. One that was asked about often enough, is about to be dropped
/// by the store, or cannot be understood goes to TRANS_CHECK_MAX_TIME_TOPIC. None keeps the others waiting: what could not be
/// copied is tried again in the next round. Progress is kept in the consumer offsets after each round.
/// Owned by the plugin. arm() on any thread; rounds run on the control executor, and end on whatever thread the store uses.
class Checker {
public:
    Checker(const CheckerServices& services, TransactionTable& table, OpLog& ops, const TransactionConfig& config,
            plugin::PluginContext& context);

    /// There may be something open.
    void arm();
    /// No round starts or goes on any more.
    void drain() noexcept { draining_.store(true, std::memory_order_release); }
    /// After drain(): waits for what the store has, then keeps the progress.
    void stop() noexcept;

private:
    class Copies;
    enum class Purpose : std::uint8_t { Ask, Postpone, SetAside, Bad };

    void begin();
    void step();
    void consider(const ScannedRecord& scanned, Copies& copies);
    void add(const HalfMessage& half, Purpose purpose, Copies& copies);
    void finish();
    void ask(const HalfMessage& half, const service::AppendItem& copy) noexcept;
    void keepProgress();

    CheckerServices services_;
    TransactionTable& table_;
    OpLog& ops_;
    const TransactionConfig& config_;
    plugin::PluginContext& context_;
    plugin::Counter& asked_;
    plugin::Counter& setAside_;
    plugin::Counter& bad_;
    InFlight inFlight_;

    std::atomic<bool> armed_{false};
    std::atomic<bool> draining_{false};
    std::atomic<std::uint32_t> turn_{0};     // which producer of a group is asked next

    // The round; control executor only.
    QueueScan scan_;
    std::int64_t cursor_ = 0;
    std::int64_t roundEnd_ = 0;
    std::int64_t nowMs_ = 0;
};

}  // namespace patchbay::plugins::transaction

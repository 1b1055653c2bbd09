// SendProcessor: serves SEND_MESSAGE, SEND_MESSAGE_V2 and SEND_BATCH_MESSAGE.
#pragma once

#include "SendBatch.h"
#include "SendChecks.h"
#include "SendConfig.h"

#include "patchbay/plugin/Plugin.h"
#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/service/DelaySchedule.h"
#include "patchbay/service/RetryPolicy.h"
#include "patchbay/service/TransactionStore.h"

#include <array>
#include <memory>
#include <mutex>
#include <vector>

namespace patchbay::plugins::send {

struct PropertyScan;

/// What the processor borrows; valid as long as it.
struct SendServices {
    plugin::ServiceRef<service::MessageStore> store;
    plugin::ServiceRef<service::TopicConfigs> topics;
    plugin::ServiceRef<service::DelaySchedule> delay;   ///< may be empty
    plugin::ServiceRef<service::RetryPolicy> retry;     ///< may be empty
    plugin::ServiceRef<service::TransactionStore> transactions;   ///< may be empty
};

/// Checks each message as it comes and appends those of one turn of a lane together, with one write. Answers come from
/// SendBatch::done(). Owned by the plugin. process() and endOfBatch() run on any lane.
class SendProcessor final : public plugin::Processor {
public:
    SendProcessor(SendServices services, plugin::PluginContext& context, const SendConfig& config);

    void process(plugin::Request request) override;
    void endOfBatch(plugin::Lane lane) noexcept override;
    /// Blocks until the store has answered all that was handed to it. No lane may call process() any more.
    void awaitIdle() noexcept { pool_.awaitIdle(); }

private:
    struct alignas(64) LaneState {
        SendBatch* batch = nullptr;
        std::uint32_t chance = 0;
    };

    std::optional<Refusal> accept(const protocol::SendMessageRequest& header, plugin::Request& request, LaneState& lane);
    std::optional<Refusal> addSingle(const protocol::SendMessageRequest& header, plugin::Request& request, SendBatch& batch,
                                     service::AppendItem item, bool needsKey);
    std::optional<Refusal> addMany(const protocol::SendMessageRequest& header, plugin::Request& request, SendBatch& batch,
                                   const service::AppendItem& pattern, bool together);
    /// A batch that is stored as one record.
    void addTogether(const protocol::SendMessageRequest& header, plugin::Request& request, SendBatch& batch, service::AppendItem item,
                     const PropertyScan& shared, std::uint32_t count);
    /// What the producer needs to call a timed message back; empty for all others.
    std::string_view recallHandle(const protocol::SendMessageRequest& header, const service::AppendItem& item,
                                  std::string_view uniqueKey, SendBatch& batch) const;
    std::optional<Refusal> prepareHalf(service::AppendItem& item, SendBatch& batch);
    /// Sends a message whose retries are used up to the dead letters.
    std::optional<Refusal> judgeRetry(const protocol::SendMessageRequest& header, const plugin::Request& request,
                                      SendBatch& batch, service::AppendItem& item);
    std::optional<Refusal> schedule(service::AppendItem& item, const PropertyScan& scan, SendBatch& batch);
    void refuse(plugin::Request request, Refusal refusal);
    void submit(LaneState& lane) noexcept;

    SendServices services_;
    const plugin::BrokerIdentity& identity_;
    const SendConfig& config_;
    AnswerFacts facts_;
    SendChecks checks_;
    SendBatchPool pool_;
    protocol::UniqueIdGenerator ids_;
    // What is stored behind every message's own properties, with and without a separator in front.
    std::string brokerProperties_;
    std::string separatedProperties_;
    bool innerBatches_;
    std::vector<LaneState> lanes_;
};

}  // namespace patchbay::plugins::send

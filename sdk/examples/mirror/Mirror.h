// Mirror: forwards the messages of topics to another cluster.
#pragma once

#include "Bundle.h"
#include "MirrorConfig.h"
#include "Progress.h"
#include "Targets.h"

#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/MessageStore.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mirror {

/// Reads queues as a consumer would, but from the store itself, and sends what it read with the kernel's connections. A queue has one send
/// under way at a time, so that order stays; its offset moves when the other cluster has answered. Everything runs on the kernel's control
/// executor, in small pieces, but for the end of a send that is cut off by a stop; hence the lock. Nothing runs on the way of clients'
/// requests. Owned by the kernel.
class Mirror final : public patchbay::plugin::Plugin {
public:
    std::span<const patchbay::plugin::ConfigKey> configKeys() const noexcept override { return MirrorConfig::keys(); }
    patchbay::Status configure(const patchbay::plugin::ConfigView& config) override;
    patchbay::Status init(patchbay::plugin::PluginContext& context) override;
    patchbay::Status start() override;
    void drain() noexcept override;
    void stop() noexcept override;

private:
    struct Queue {
        std::string topic;
        std::int32_t id = 0;
        std::int64_t next = 0;
        std::int64_t singlyUntil = 0;   ///< up to there one message at a time, to find the one that is refused
        patchbay::MonotonicTime notBefore{};
        bool sending = false;
    };
    struct Counters {
        patchbay::plugin::Counter* forwarded = nullptr;
        patchbay::plugin::Counter* repeated = nullptr;
        patchbay::plugin::Counter* refused = nullptr;
        patchbay::plugin::Counter* gone = nullptr;
    };

    // All under mutex_.
    void lookForQueues(bool atStart);
    void advanceAll();
    void advance(Queue& queue);
    /// What is next in the queue; nothing when there is nothing to send now.
    [[nodiscard]] std::optional<Bundle> read(Queue& queue);
    /// Where to go on after a read that found nothing.
    void follow(Queue& queue, const patchbay::service::ReadResult& read);
    void send(Queue& queue, const Bundle& bundle, const TargetQueue& to);
    void moveTo(Queue& queue, std::int64_t next);
    /// True when the send need not be repeated.
    bool settled(Queue& queue, const patchbay::Result<patchbay::protocol::RemotingCommand>& answer, std::size_t count, std::int64_t end);
    void save();

    void answered(Queue& queue, const patchbay::Result<patchbay::protocol::RemotingCommand>& answer, std::size_t count, std::int64_t end,
                  std::int64_t bytes);

    MirrorConfig config_;
    patchbay::plugin::PluginContext* context_ = nullptr;
    patchbay::plugin::ServiceRef<patchbay::service::MessageStore> store_;
    Counters counters_;

    std::mutex mutex_;
    // Guarded by mutex_.
    std::unique_ptr<Progress> progress_;
    std::unique_ptr<Targets> targets_;
    std::map<std::pair<std::string, std::int32_t>, Queue> queues_;   // none is removed before stop(): sends refer to them
    std::int64_t inFlightBytes_ = 0;
    bool ending_ = false;
};

}  // namespace mirror

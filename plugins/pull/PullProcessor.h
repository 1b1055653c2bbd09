// PullProcessor: serves PULL_MESSAGE and LITE_PULL_MESSAGE.
#pragma once

#include "PullChecks.h"
#include "PullConfig.h"
#include "PullHold.h"

#include <string>
#include <vector>

namespace patchbay::plugins::pull {

/// Reads on the loop what is in memory, on the "pull" executor what may have to come from the disk, and holds pulls that find
/// nothing. Owned by the plugin. process() runs on any lane.
class PullProcessor final : public plugin::Processor {
public:
    PullProcessor(const PullServices& services, plugin::PluginContext& context, const PullConfig& config,
                  const PullLimits& limits, PullHold& hold)
        : services_(services), clock_(context.clock()), config_(config), limits_(limits), log_(context.log()),
          unseatedRemark_("OFFSET_OVERFLOW_ONE; not held, because this connection has as many pulls held as it may: heldPullsOfConnectionMax=" +
                          std::to_string(config.heldPullsOfConnectionMax)),
          checks_(services, context.identity(), config, limits), hold_(hold), lanes_(context.laneCount()) {}

    void process(plugin::Request request) override;

private:
    struct alignas(64) LaneState {
        service::ReadResult result;
    };

    void read(const protocol::PullMessageRequest& pull, const Admission& admission, bool hotOnly,
              service::ReadResult& result) const;
    /// An offset that the client has to go on from instead of the one that it asks for; -1: none.
    std::int64_t startedElsewhere(const protocol::PullMessageRequest& pull, const Admission& admission, const plugin::Peer& peer) const;
    /// `clientId` holds the text.
    service::BroadcastPull broadcastPull(const protocol::PullMessageRequest& pull, const plugin::Peer& peer, std::string& clientId) const;
    /// Remembers the pull, for operators and for broadcasting clients.
    void note(const protocol::PullMessageRequest& pull, const Admission& admission, const plugin::Peer& peer,
              const service::ReadResult& result, bool mayHold) const;
    bool tryHold(const protocol::PullMessageRequest& pull, Admission& admission, Seat seat, plugin::Request& request);
    void answer(plugin::Request request, const protocol::PullMessageRequest& pull, const Admission& admission,
                service::ReadResult& result, std::string_view remark) const;

    const PullServices& services_;
    const Clock& clock_;
    const PullConfig& config_;
    const PullLimits& limits_;
    plugin::Logger& log_;
    const std::string unseatedRemark_;  // RocketMQ's word, and why the pull was not held
    PullChecks checks_;
    PullHold& hold_;
    std::vector<LaneState> lanes_;
};

}  // namespace patchbay::plugins::pull

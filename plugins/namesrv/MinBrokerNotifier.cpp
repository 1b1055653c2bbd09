#include "MinBrokerNotifier.h"

#include <chrono>

namespace patchbay::plugins::namesrv {

namespace {

constexpr std::chrono::milliseconds kNotifyTimeout{300};

protocol::RemotingCommand notification(const MinBrokerChange& change) {
    auto command = protocol::RemotingCommand::request(protocol::RequestCode::NotifyMinBrokerIdChange);
    command.flag |= protocol::kFlagOneway;
    command.set("minBrokerId", std::to_string(change.minBrokerId));
    command.set("minBrokerAddr", change.minBrokerAddr);
    if (!change.offlineBrokerAddr.empty()) command.set("offlineBrokerAddr", change.offlineBrokerAddr);
    if (!change.haBrokerAddr.empty()) command.set("haBrokerAddr", change.haBrokerAddr);
    return command;
}

}  // namespace

void MinBrokerNotifier::changed(const MinBrokerChange& change) {
    if (!switches_.notifyMinBrokerIdChanged.load(std::memory_order_relaxed)) return;
    for (const std::string& address : change.recipients) {
        remoting_.invoke(address, notification(change), kNotifyTimeout, [](Result<protocol::RemotingCommand>) {});
    }
}

void MinBrokerNotifier::departed(const UnregisterOutcome& outcome, std::string_view reason) {
    for (const std::string& broker : outcome.gone) log_.info("broker left", {{"broker", broker}, {"reason", reason}});
    for (const MinBrokerChange& change : outcome.changes) changed(change);
}

}  // namespace patchbay::plugins::namesrv

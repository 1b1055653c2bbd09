#include "ReachProcessor.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace patchbay::plugins::namesrv {

using plugin::Response;
using protocol::ResponseCode;

namespace {

// Shorter than the broker waits for this answer.
constexpr std::chrono::milliseconds kPatience{3'000};

}  // namespace

std::optional<ReachProcessor::Began::iterator> ReachProcessor::enter(std::string& refusal) {
    const auto now = clock_.now();
    const std::lock_guard lock(mutex_);
    if (underWay_.size() < underWayMax_) return underWay_.insert(underWay_.end(), now);
    const auto waited = underWay_.empty() ? std::chrono::nanoseconds(0) : now - underWay_.front();
    refusal = "[OVERLOAD]system busy, start flow control for a while, " + std::to_string(underWay_.size()) +
              " brokers are being reached for, the oldest for " +
              std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(waited).count()) + "ms, limit brokerReachesMax " +
              std::to_string(underWayMax_);
    return std::nullopt;
}

void ReachProcessor::process(plugin::Request request) {
    const auto field = request.command().find("address");
    if (!field || field->empty()) return std::move(request).respond(ResponseCode::InvalidParameter, "the field address is missing");
    // Otherwise anybody could have this server knock at any door.
    if (!routes_.isBroker(request.peer())) {
        return std::move(request).respond(ResponseCode::NoPermission, "only a broker that is registered over this connection may ask");
    }
    std::string refusal;
    const auto place = enter(refusal);
    if (!place) return std::move(request).respond(ResponseCode::SystemBusy, std::move(refusal));
    const std::string address(*field);
    request.detach();
    // A callback has to be copyable.
    auto asked = std::make_shared<plugin::Request>(std::move(request));
    remoting_.invoke(address, protocol::RemotingCommand::request(protocol::RequestCode::GetBrokerRuntimeInfo), kPatience,
                     [this, asked, at = *place](Result<protocol::RemotingCommand> answer) {
                         {
                             const std::lock_guard lock(mutex_);
                             underWay_.erase(at);
                         }
                         Response response;
                         response.fields().add("reached", answer ? "true" : "false");
                         if (!answer) response.fields().add("error", answer.error().toString());
                         std::move(*asked).respond(std::move(response));
                     });
}

}  // namespace patchbay::plugins::namesrv

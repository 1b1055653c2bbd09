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

void ReachProcessor::process(plugin::Request request) {
    const auto field = request.command().find("address");
    if (!field || field->empty()) return std::move(request).respond(ResponseCode::InvalidParameter, "the field address is missing");
    // Otherwise anybody could have this server knock at any door.
    if (!routes_.isBroker(request.peer())) {
        return std::move(request).respond(ResponseCode::NoPermission, "only a broker that is registered over this connection may ask");
    }
    if (underWay_.fetch_add(1) >= underWayMax_) {
        underWay_.fetch_sub(1);
        return std::move(request).respond(ResponseCode::SystemBusy, "[OVERLOAD]system busy, start flow control for a while, " +
                                                                        std::to_string(underWayMax_) + " brokers are being reached for, limit brokerReachesMax");
    }
    const std::string address(*field);
    request.detach();
    // A callback has to be copyable.
    auto asked = std::make_shared<plugin::Request>(std::move(request));
    remoting_.invoke(address, protocol::RemotingCommand::request(protocol::RequestCode::GetBrokerRuntimeInfo), kPatience,
                     [this, asked](Result<protocol::RemotingCommand> answer) {
                         underWay_.fetch_sub(1);
                         Response response;
                         response.fields().add("reached", answer ? "true" : "false");
                         if (!answer) response.fields().add("error", answer.error().toString());
                         std::move(*asked).respond(std::move(response));
                     });
}

}  // namespace patchbay::plugins::namesrv

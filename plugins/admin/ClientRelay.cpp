#include "ClientRelay.h"

#include <algorithm>
#include <chrono>
#include <memory>

namespace patchbay::plugins::admin {

using protocol::ResponseCode;

namespace {

constexpr std::chrono::milliseconds kClientTimeout{10'000};
// V3_1_8_SNAPSHOT: older clients do not know these requests.
constexpr std::int32_t kClientVersionMin = 62;

}  // namespace

void ClientRelay::process(plugin::Request request) {
    if (auto refused = withoutField(request, {"consumerGroup", "clientId"})) {
        std::move(request).respond(std::move(*refused));
        return;
    }
    const std::string group(fieldOf(request, "consumerGroup"));
    const std::string clientId(fieldOf(request, "clientId"));
    const auto members = services_.clients->consumers(group);
    const auto found = std::ranges::find(members, clientId, &service::ClientInfo::clientId);
    if (found == members.end()) {
        std::move(request).respond(ResponseCode::SystemError, "The Consumer <" + group + "> <" + clientId + "> not online");
        return;
    }
    if (found->version < kClientVersionMin) {
        std::move(request).respond(ResponseCode::SystemError, "The Consumer <" + clientId + "> Version <" +
                                   std::to_string(found->version) + "> too low to finish, please upgrade it to V3_1_8_SNAPSHOT");
        return;
    }
    protocol::RemotingCommand forward = protocol::RemotingCommand::from(request.command());
    // A task that can be copied cannot own a request; the last copy of this one does.
    auto waiting = std::make_shared<plugin::Request>(std::move(request));
    found->peer->invoke(std::move(forward), kClientTimeout, [waiting, group, clientId](Result<protocol::RemotingCommand> answer) {
        if (!answer) {
            const bool late = answer.error().code() == StatusCode::DeadlineExceeded;
            std::move(*waiting).respond(late ? ResponseCode::ConsumeMsgTimeout : ResponseCode::SystemError,
                                        "consumer <" + group + "> <" + clientId + "> " + answer.error().message());
            return;
        }
        plugin::Response response(static_cast<ResponseCode>(answer->code), answer->remark.value_or(std::string()));
        for (const auto& [key, value] : answer->fields) response.fields().add(key, value);
        response.setBody(std::move(answer->body));
        std::move(*waiting).respond(std::move(response));
    });
}

}  // namespace patchbay::plugins::admin

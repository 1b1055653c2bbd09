#include "AdminProcessor.h"

namespace patchbay::plugins::admin {

void AdminProcessor::process(plugin::Request request) {
    if (auto refused = services_.localOnly.refuse(request)) {
        std::move(request).respond(std::move(*refused));
        return;
    }
    plugin::Response response = answer(request);
    std::move(request).respond(std::move(response));
}

plugin::Response withBody(std::string body) {
    plugin::Response response(protocol::ResponseCode::Success);
    response.setBody(std::move(body));
    return response;
}

plugin::Response doneAsBorn() { return plugin::Response(protocol::ResponseCode::Success, "not set any response code"); }

std::string_view fieldOf(const plugin::Request& request, std::string_view name) noexcept {
    return request.command().find(name).value_or(std::string_view());
}

std::optional<plugin::Response> withoutField(const plugin::Request& request, std::initializer_list<std::string_view> names) {
    for (const auto name : names) {
        if (request.command().find(name)) continue;
        return refusal(protocol::ResponseCode::SystemError, "header field '" + std::string(name) + "' is missing");
    }
    return std::nullopt;
}

plugin::Response refusal(protocol::ResponseCode code, std::string remark) { return plugin::Response(code, std::move(remark)); }

}  // namespace patchbay::plugins::admin

#include "ControlProcessor.h"

#include "Bodies.h"
#include "patchbay/protocol/PrivateCode.h"

#include <memory>
#include <utility>

namespace patchbay::plugins::control {

using plugin::Request;
using plugin::Response;
using protocol::PrivateCode;
using protocol::ResponseCode;

namespace {

Response withBody(std::string body) {
    Response response;
    response.setBody(std::move(body));
    return response;
}

/// std::function wants to copy what it owns.
auto shared(Request request) {
    return std::make_shared<Request>(std::move(request));
}

}  // namespace

void ControlProcessor::process(Request request) {
    if (auto refused = localOnly_.refuse(request)) return std::move(request).respond(std::move(*refused));
    const auto code = static_cast<PrivateCode>(request.command().code);
    const std::string name(request.command().find("name").value_or(std::string_view()));
    const bool named = code == PrivateCode::InspectPlugin || code == PrivateCode::ReloadPlugin || code == PrivateCode::EnablePlugin ||
                       code == PrivateCode::DisablePlugin;
    if (named && name.empty()) return std::move(request).respond(ResponseCode::SystemError, "the field name is missing: which plugin?");
    const auto answer = [&request](Response response) { std::move(request).respond(std::move(response)); };
    switch (code) {
        case PrivateCode::ListPlugins: return list(std::move(request));
        case PrivateCode::InspectPlugin: return answer(inspect(name));
        case PrivateCode::GetMetrics: return answer(metrics());
        case PrivateCode::CompareConfiguration: return answer(configuration());
        case PrivateCode::CheckConfiguration: return answer(check(request.command()));
        case PrivateCode::UnsetConfiguration: return answer(unset(request.command()));
        default: return change(std::move(request), name);
    }
}

void ControlProcessor::list(Request request) {
    services_.plugins->list([held = shared(std::move(request))](Result<std::vector<service::PluginInfo>> plugins) {
        std::move(*held).respond(plugins ? withBody(pluginsBody(*plugins)) : Response(plugins.error()));
    });
}

void ControlProcessor::change(Request request, const std::string& name) {
    const auto code = static_cast<PrivateCode>(request.command().code);
    auto done = [held = shared(std::move(request))](Status status) {
        std::move(*held).respond(status ? ResponseCode::Success : ResponseCode::SystemError, status.message());
    };
    if (code == PrivateCode::ReloadPlugin) return services_.plugins->reload(name, std::move(done));
    if (code == PrivateCode::ReloadConfiguration) return services_.plugins->reloadConfiguration(std::move(done));
    services_.plugins->enable(name, code == PrivateCode::EnablePlugin, std::move(done));
}

Response ControlProcessor::inspect(const std::string& name) {
    const auto found = services_.plugins->inspect(name);
    return found ? withBody(inspectionBody(*found)) : Response(ResponseCode::SystemError, found.error().message());
}

Response ControlProcessor::metrics() {
    return withBody(metricsBody(*services_.observation, services_.metrics, services_.clock.wallMs()));
}

Response ControlProcessor::configuration() {
    const auto facts = services_.config->compare();
    return facts ? withBody(configurationBody(*facts)) : Response(ResponseCode::SystemError, facts.error().message());
}

Response ControlProcessor::check(const protocol::CommandView& command) {
    const auto field = [&command](std::string_view name) { return std::string(command.find(name).value_or(std::string_view())); };
    const auto key = field("key");
    if (key.empty()) return Response(ResponseCode::SystemError, "the field key is missing");
    const auto listener = field("listener");
    const Status status = services_.config->check(listener.empty() ? "broker" : listener, key, field("value"));
    if (status) return Response(ResponseCode::Success);
    // What a change would be answered, but for the words.
    return Response(status.code() == StatusCode::Denied ? ResponseCode::NoPermission : ResponseCode::SystemError, status.message());
}

Response ControlProcessor::unset(const protocol::CommandView& command) {
    const std::string key(command.find("key").value_or(std::string_view()));
    if (key.empty()) return Response(ResponseCode::SystemError, "the field key is missing");
    const bool dryRun = command.find("dryRun").value_or(std::string_view()) == "true";
    const Status status = services_.config->unset(key, dryRun);
    if (status) return Response(ResponseCode::Success);
    if (status.code() == StatusCode::Denied) return Response(ResponseCode::NoPermission, status.message());
    return Response(status.code() == StatusCode::NotFound ? ResponseCode::QueryNotFound : ResponseCode::SystemError, status.message());
}

}  // namespace patchbay::plugins::control

#include "ConfigProcessor.h"

#include "patchbay/protocol/headers/NameServer.h"
#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/protocol/route/ConfigText.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace patchbay::plugins::namesrv {

using plugin::Response;
using protocol::RequestCode;
using protocol::ResponseCode;

namespace {

constexpr std::string_view kListener = "namesrv";
constexpr std::string_view kBlackListed = "Can not update config in black list.";

std::string_view orNull(std::string_view text) noexcept { return text.data() == nullptr ? "null" : text; }

/// Keys that nobody may change from afar: a peer that could say where files are written could write any file.
bool isBlackListed(std::string_view key) noexcept {
    // Keys of plugins and services, which no table of keys shows.
    static constexpr std::array<std::string_view, 3> kBeginnings{"plugin.", "service.", "executor."};
    static constexpr std::array<std::string_view, 3> kNames{"configblacklist", "rocketmqhome", "pluginpath"};
    static constexpr std::array<std::string_view, 4> kEndings{"path", "dir", "home", "file"};
    std::string lower(key);
    std::ranges::transform(lower, lower.begin(), [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return std::ranges::find(kNames, lower) != kNames.end() ||
           std::ranges::any_of(kBeginnings, [&](std::string_view beginning) { return lower.starts_with(beginning); }) ||
           std::ranges::any_of(kEndings, [&](std::string_view ending) { return lower.ends_with(ending); });
}

bool hasControlCharacters(std::string_view text) noexcept {
    return std::ranges::any_of(text, [](char c) { return std::iscntrl(static_cast<unsigned char>(c)) != 0; });
}

}  // namespace

void ConfigProcessor::process(plugin::Request request) {
    Response response = answer(request);
    std::move(request).respond(std::move(response));
}

Response ConfigProcessor::answer(const plugin::Request& request) {
    if (auto refused = localOnly_.refuse(request)) return std::move(*refused);
    const auto& command = request.command();
    switch (static_cast<RequestCode>(command.code)) {
        case RequestCode::PutKvConfig: return put(command);
        case RequestCode::GetKvConfig: return get(command);
        case RequestCode::DeleteKvConfig: return remove(command);
        case RequestCode::GetKvlistByNamespace: return list(command);
        case RequestCode::UpdateNamesrvConfig: return updateConfig(request);
        default: return showConfig();
    }
}

Response ConfigProcessor::put(const protocol::CommandView& command) {
    auto header = protocol::KvConfigRequest::parse(command);
    if (!header) return Response(header.error());
    if (header->nameSpace.data() == nullptr || header->key.data() == nullptr) {
        return Response(ResponseCode::SystemError, "namespace or key is null");
    }
    const Status done = kv_.put(header->nameSpace, header->key, header->value);
    if (done.code() == StatusCode::InvalidArgument) return Response(ResponseCode::InvalidParameter, done.message());
    return done ? Response(ResponseCode::Success) : Response(done);
}

Response ConfigProcessor::get(const protocol::CommandView& command) const {
    auto header = protocol::KvConfigRequest::parse(command);
    if (!header) return Response(header.error());
    Response response;
    response.fields().markPresent();
    if (auto value = kv_.get(header->nameSpace, header->key)) {
        response.fields().add("value", *value);
        return response;
    }
    response.code = ResponseCode::QueryNotFound;
    response.remark = "No config item, Namespace: ";
    response.remark += orNull(header->nameSpace);
    response.remark += " Key: ";
    response.remark += orNull(header->key);
    return response;
}

Response ConfigProcessor::remove(const protocol::CommandView& command) {
    auto header = protocol::KvConfigRequest::parse(command);
    if (!header) return Response(header.error());
    const Status done = kv_.remove(header->nameSpace, header->key);
    return done ? Response(ResponseCode::Success) : Response(done);
}

Response ConfigProcessor::list(const protocol::CommandView& command) const {
    auto header = protocol::KvNamespaceRequest::parse(command);
    if (!header) return Response(header.error());
    Response response;
    if (auto table = kv_.list(header->nameSpace)) {
        response.setBody(protocol::KvTable{std::move(*table)}.toJson());
        return response;
    }
    response.code = ResponseCode::QueryNotFound;
    response.remark = "No config item, Namespace: ";
    response.remark += orNull(header->nameSpace);
    return response;
}

Response ConfigProcessor::updateConfig(const plugin::Request& request) {
    auto wanted = protocol::parseConfigText(request.body());
    if (!wanted) return Response(wanted.error());
    const auto known = config_.snapshot(kListener);
    std::vector<plugin::ConfigEntry> changes;
    for (const auto& [key, value] : *wanted) {
        if (isBlackListed(key)) return Response(ResponseCode::NoPermission, std::string(kBlackListed));
        if (hasControlCharacters(value)) return Response(ResponseCode::InvalidParameter, "a value has control characters");
        // RocketMQ passes over keys it does not know, and tools send such.
        if (std::ranges::find(known, key, &plugin::ConfigEntry::key) != known.end()) changes.push_back({key, value});
    }
    if (changes.empty()) return Response(ResponseCode::Success);
    const Status done = config_.apply(kListener, changes);
    log_.info("configuration change asked for", {{"peer", request.peer().remote().toString()}, {"keys", changes.size()},
                                                 {"outcome", done.toString()}});
    if (done.code() == StatusCode::Denied) return Response(ResponseCode::NoPermission, std::string(kBlackListed));
    return done ? Response(ResponseCode::Success) : Response(ResponseCode::SystemError, done.message());
}

Response ConfigProcessor::showConfig() const {
    protocol::ConfigTable table;
    for (auto& entry : config_.snapshot(kListener)) table[entry.key] = entry.secret ? "***" : std::move(entry.value);
    Response response;
    response.setBody(protocol::configText(table));
    return response;
}

}  // namespace patchbay::plugins::namesrv

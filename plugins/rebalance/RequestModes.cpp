#include "RequestModes.h"

#include "patchbay/base/BackedFile.h"
#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/json/Writer.h"

namespace patchbay::plugins::rebalance {

std::string_view toString(RequestMode mode) noexcept { return mode == RequestMode::Pop ? "POP" : "PULL"; }

std::optional<RequestMode> requestModeOf(std::string_view name) noexcept {
    if (name == "PULL") return RequestMode::Pull;
    if (name == "POP") return RequestMode::Pop;
    return std::nullopt;
}

RequestModes::RequestModes(plugin::PluginContext& context)
    : context_(context), path_(context.identity().storeRoot + "/config/messageRequestMode.json") {}

Status RequestModes::load() {
    const auto content = readBacked(context_.files(), path_, [this](std::string_view text) -> Status {
        auto topics = decode(text);
        if (!topics) return topics.error();
        const std::lock_guard lock(mutex_);
        topics_ = std::move(*topics);
        return Status::ok();
    });
    if (!content) return content.error();
    if (!content->problem.empty()) {
        context_.log().error("message request modes were damaged", {{"file", path_}, {"problem", content->problem}});
    }
    return Status::ok();
}

Status RequestModes::set(const std::string& topic, const std::string& group, ModeSetting setting) {
    const std::lock_guard one(writing_);
    Topics topics;
    {
        const std::lock_guard lock(mutex_);
        topics = topics_;
    }
    topics[topic].insert_or_assign(group, setting);
    if (Status made = context_.files().makeDirectories(directoryOf(path_)); !made) return made;
    if (Status written = context_.files().replaceAtomically(path_, encode(topics), true); !written) return written;
    const std::lock_guard lock(mutex_);
    topics_ = std::move(topics);
    return Status::ok();
}

std::optional<ModeSetting> RequestModes::find(std::string_view topic, std::string_view group) const {
    const std::lock_guard lock(mutex_);
    const auto groups = topics_.find(topic);
    if (groups == topics_.end()) return std::nullopt;
    const auto setting = groups->second.find(group);
    return setting == groups->second.end() ? std::nullopt : std::optional(setting->second);
}

std::string RequestModes::encode(const Topics& topics) {
    std::string text;
    json::Writer out(text, json::Dialect::Pretty);
    out.beginObject();
    out.key("messageRequestModeMap");
    out.beginObject();
    for (const auto& [topic, groups] : topics) {
        out.key(topic);
        out.beginObject();
        for (const auto& [group, setting] : groups) {
            out.key(group);
            out.beginObject();
            out.member("consumerGroup", group);
            out.member("mode", toString(setting.mode));
            out.member("popShareQueueNum", setting.popShareQueueNum);
            out.member("topic", topic);
            out.endObject();
        }
        out.endObject();
    }
    out.endObject();
    out.endObject();
    return text;
}

Result<RequestModes::Topics> RequestModes::decode(std::string_view text) {
    const auto document = json::Document::parse(text);
    if (!document) return document.error();
    const json::Value map = document->root()["messageRequestModeMap"];
    if (!map.isObject()) return Status(StatusCode::Corrupt, "messageRequestModeMap is missing");
    Topics topics;
    for (const auto& [topic, groups] : map) {
        for (const auto& [group, entry] : groups) {
            ModeSetting setting;
            setting.mode = requestModeOf(entry["mode"].string().value_or("")).value_or(RequestMode::Pull);
            setting.popShareQueueNum = static_cast<std::int32_t>(entry["popShareQueueNum"].integer().value_or(0));
            topics[std::string(topic)].emplace(group, setting);
        }
    }
    return topics;
}

}  // namespace patchbay::plugins::rebalance

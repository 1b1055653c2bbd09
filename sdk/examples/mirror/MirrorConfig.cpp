#include "MirrorConfig.h"

#include "patchbay/protocol/message/Names.h"

#include <algorithm>

namespace mirror {

using namespace patchbay;
using plugin::ConfigType;

namespace {

constexpr plugin::ConfigKey kKeys[] = {
    {"mirrorTopics", ConfigType::Text, "", "Topics that are forwarded, separated by blanks."},
    {"mirrorNamesrvAddr", ConfigType::Text, "", "Name servers of the other cluster, \"host:port;host:port\"."},
    {"mirrorTopicPrefix", ConfigType::Text, "", "Put in front of a topic's name over there."},
    {"mirrorFromBeginning", ConfigType::Bool, "false", "Whether a topic that is mirrored for the first time is forwarded from its oldest message; else from now on."},
    {"mirrorStateFile", ConfigType::Path, "", "File that keeps how far each queue is; unset: config/mirror.progress in the store's directory."},
    {"mirrorBatchMessages", ConfigType::Int, "64", "Messages that are sent at once.", 0, 1, 1024},
    {"mirrorBatchBytes", ConfigType::Bytes, "256K", "Bytes that are sent at once; one larger message goes alone.", 0, 1024, 2 << 20},
    {"mirrorInFlightBytesMax", ConfigType::Bytes, "16M", "Bytes of all sends that are not answered yet.", 0, 1024, 1 << 30},
    {"mirrorPollInterval", ConfigType::Millis, "50ms", "How often queues whose messages were all forwarded are looked at.", 0, 1, 60'000},
    {"mirrorLookInterval", ConfigType::Millis, "1s", "How often new queues are looked for.", 0, 10, 600'000},
    {"mirrorRetryDelay", ConfigType::Millis, "1s", "Pause of a queue whose send failed.", 0, 10, 600'000},
    {"mirrorTimeout", ConfigType::Millis, "5s", "How long an answer may take.", 0, 100, 600'000},
    {"mirrorRouteInterval", ConfigType::Millis, "30s", "Age at which the other cluster's name servers are asked again for a topic.", 0, 1000, 3'600'000},
    {"mirrorSaveInterval", ConfigType::Millis, "1s", "How often progress is written down; what was sent since is sent again after a crash.", 0, 10, 600'000},
};

std::vector<std::string> split(std::string_view text, std::string_view separators) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of(separators), text.size());
        if (end > 0) words.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

Status wrong(std::string_view key, const std::string& what) {
    return {StatusCode::InvalidArgument, std::string(key) + ": " + what};
}

}  // namespace

std::span<const plugin::ConfigKey> MirrorConfig::keys() noexcept {
    return kKeys;
}

Result<MirrorConfig> MirrorConfig::from(const plugin::ConfigView& view) {
    MirrorConfig config;
    config.topics = split(view.text("mirrorTopics"), " ,");
    config.nameServers = split(view.text("mirrorNamesrvAddr"), "; ");
    config.prefix = view.text("mirrorTopicPrefix");
    config.stateFile = view.text("mirrorStateFile");
    if (config.topics.empty()) return wrong("mirrorTopics", "no topic is named");
    if (config.nameServers.empty()) return wrong("mirrorNamesrvAddr", "the other cluster's name servers are not named");
    for (const auto& topic : config.topics) {
        if (auto valid = protocol::validateTopicName(config.prefix + topic); !valid) return wrong("mirrorTopics", "'" + topic + "': " + std::string(valid.message()));
        if (protocol::isSystemTopicName(topic)) return wrong("mirrorTopics", "'" + topic + "' is the broker's own");
    }
    for (const auto& server : config.nameServers) {
        if (server.find(':') == std::string::npos) return wrong("mirrorNamesrvAddr", "'" + server + "' is not host:port");
    }
    config.fromBeginning = view.flag("mirrorFromBeginning");
    config.batchMessages = static_cast<std::int32_t>(view.integer("mirrorBatchMessages"));
    config.batchBytes = static_cast<std::int32_t>(view.integer("mirrorBatchBytes"));
    config.inFlightBytesMax = view.integer("mirrorInFlightBytesMax");
    config.poll = view.millis("mirrorPollInterval");
    config.look = view.millis("mirrorLookInterval");
    config.retry = view.millis("mirrorRetryDelay");
    config.timeout = view.millis("mirrorTimeout");
    config.route = view.millis("mirrorRouteInterval");
    config.save = view.millis("mirrorSaveInterval");
    return config;
}

}  // namespace mirror

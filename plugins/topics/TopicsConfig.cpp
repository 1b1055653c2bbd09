#include "TopicsConfig.h"

#include "patchbay/protocol/message/Names.h"

#include <array>

namespace patchbay::plugins::topics {

namespace {

using plugin::ConfigType;
using plugin::kReloadable;

constexpr std::array kKeys{
    plugin::ConfigKey{"autoCreateTopicEnable", ConfigType::Bool, "true",
                      "Sending to an unknown topic creates it; when off, no default topic whatsoever allows it.", kReloadable},
    plugin::ConfigKey{"defaultTopicQueueNums", ConfigType::Int, "8", "Queues of TBW102, the most an auto-created topic gets.", 0, 1,
                      protocol::kTopicQueuesMax},
    plugin::ConfigKey{"clusterTopicEnable", ConfigType::Bool, "true", "The topic named after the cluster can be read, written and inherited."},
    plugin::ConfigKey{"brokerTopicEnable", ConfigType::Bool, "true", "The topic named after the broker can be read, written and inherited."},
    plugin::ConfigKey{"traceTopicEnable", ConfigType::Bool, "false", "Creates the topic for message traces at start."},
    plugin::ConfigKey{"msgTraceTopicName", ConfigType::Text, "RMQ_SYS_TRACE_TOPIC", "Name of the topic for message traces."},
    plugin::ConfigKey{"reviveQueueNum", ConfigType::Int, "8", "Queues of the revive topic of pop consumption.", 0, 1, protocol::kTopicQueuesMax},
    plugin::ConfigKey{"timerWheelEnable", ConfigType::Bool, "true", "Creates the topic of timed messages at start."},
    plugin::ConfigKey{"enableLmq", ConfigType::Bool, "false", "Every topic whose name begins with %LMQ% exists, with one queue."},
    plugin::ConfigKey{"autoCreateSubscriptionGroup", ConfigType::Bool, "true", "Using an unknown consumer group creates it.",
                      kReloadable},
    plugin::ConfigKey{"enableCreateSysGroup", ConfigType::Bool, "true",
                      "Groups named CID_RMQ_SYS_… are created on use even when autoCreateSubscriptionGroup is off.", kReloadable},
    plugin::ConfigKey{"configJournalSyncInterval", ConfigType::Millis, "1000",
                      "A change of topics or groups, which survives a killed process at once, survives a power cut after this time.",
                      0, 1, 3'600'000},
    plugin::ConfigKey{"configJournalQuietInterval", ConfigType::Millis, "60000",
                      "Changes are folded into topics.json and subscriptionGroup.json when there were none for this time.", 0, 10,
                      86'400'000},
    plugin::ConfigKey{"configJournalBytesMax", ConfigType::Bytes, "1M",
                      "Changes are folded when their journal has grown by this much and by the size of the file itself.", 0, 4096,
                      std::int64_t{1} << 30},
};

}  // namespace

std::span<const plugin::ConfigKey> TopicsConfig::keys() noexcept { return kKeys; }

TopicsConfig TopicsConfig::from(const plugin::ConfigView& view) {
    TopicsConfig config;
    config.autoCreateTopic = view.flag("autoCreateTopicEnable");
    config.defaultTopicQueueNums = static_cast<std::int32_t>(view.integer("defaultTopicQueueNums"));
    config.clusterTopic = view.flag("clusterTopicEnable");
    config.brokerTopic = view.flag("brokerTopicEnable");
    config.traceTopic = view.flag("traceTopicEnable");
    config.traceTopicName = view.text("msgTraceTopicName");
    config.reviveQueueNum = static_cast<std::int32_t>(view.integer("reviveQueueNum"));
    config.timerTopic = view.flag("timerWheelEnable");
    config.lmq = view.flag("enableLmq");
    config.autoCreateGroup = view.flag("autoCreateSubscriptionGroup");
    config.createSystemGroup = view.flag("enableCreateSysGroup");
    config.journalSync = view.millis("configJournalSyncInterval");
    config.journalQuiet = view.millis("configJournalQuietInterval");
    config.journalBytesMax = static_cast<std::uint64_t>(view.integer("configJournalBytesMax"));
    return config;
}

Status TopicsConfig::check() const {
    if (!traceTopic) return Status::ok();
    if (Status valid = protocol::validateTopicName(traceTopicName); !valid) {
        return {StatusCode::InvalidArgument, "msgTraceTopicName: " + valid.message()};
    }
    return Status::ok();
}

}  // namespace patchbay::plugins::topics

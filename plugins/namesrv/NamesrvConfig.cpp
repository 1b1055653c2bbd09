#include "NamesrvConfig.h"

#include <array>

namespace patchbay::plugins::namesrv {

using plugin::ConfigKey;
using plugin::ConfigType;
using plugin::kReloadable;

namespace {

constexpr std::array kKeys{
    ConfigKey{.name = "kvConfigPath", .type = ConfigType::Path, .defaultValue = "",
              .doc = "File of the key-value table; empty: kvConfig.json under storePathRootDir."},
    ConfigKey{.name = "scanNotActiveBrokerInterval", .type = ConfigType::Millis, .defaultValue = "10s",
              .doc = "Time between two searches for brokers that have gone silent.", .flags = kReloadable, .min = 100,
              .max = 3'600'000},
    ConfigKey{.name = "scanNotActiveBrokerDelay", .type = ConfigType::Millis, .defaultValue = "5s",
              .doc = "Time from the start to the first of these searches.", .min = 0, .max = 3'600'000},
    ConfigKey{.name = "brokerChannelExpiredTime", .type = ConfigType::Millis, .defaultValue = "2m",
              .doc = "How long a broker may be silent before it leaves the routes, unless it named a time of its own.",
              .flags = kReloadable, .min = 1'000, .max = 86'400'000},
    ConfigKey{.name = "defaultThreadPoolQueueCapacity", .type = ConfigType::Int, .defaultValue = "10000",
              .doc = "Registrations and administration requests that may wait; more are refused as busy.", .min = 1,
              .max = 1'000'000},
    ConfigKey{.name = "brokerReachesMax", .type = ConfigType::Int, .defaultValue = "64",
              .doc = "Brokers that are being told at once whether their address can be reached from here.", .min = 1, .max = 10'000},
    ConfigKey{.name = "namesrvLocalOnlyCodes", .type = ConfigType::Text, .defaultValue = "318",
              .doc = "Of the codes 100, 101, 102, 219, 318 and 319, those that only peers of the same machine may ask for; empty serves "
                     "everybody."},
    ConfigKey{.name = "orderMessageEnable", .type = ConfigType::Bool, .defaultValue = "false",
              .doc = "Adds the order configuration of a topic to its route.", .flags = kReloadable},
    ConfigKey{.name = "returnOrderTopicConfigToBroker", .type = ConfigType::Bool, .defaultValue = "true",
              .doc = "Answers registrations with the order configuration of all topics.", .flags = kReloadable},
    ConfigKey{.name = "supportActingMaster", .type = ConfigType::Bool, .defaultValue = "false",
              .doc = "Presents the first slave of a group that lost its master as the master.", .flags = kReloadable},
    ConfigKey{.name = "notifyMinBrokerIdChanged", .type = ConfigType::Bool, .defaultValue = "false",
              .doc = "Tells the members of a group when the smallest broker id in it changes.", .flags = kReloadable},
    ConfigKey{.name = "enableAllTopicList", .type = ConfigType::Bool, .defaultValue = "true",
              .doc = "Answers requests for all topic names.", .flags = kReloadable},
    ConfigKey{.name = "enableTopicList", .type = ConfigType::Bool, .defaultValue = "true",
              .doc = "Answers requests for the topic names of a cluster or kind.", .flags = kReloadable},
    ConfigKey{.name = "deleteTopicWithBrokerRegistration", .type = ConfigType::Bool, .defaultValue = "false",
              .doc = "Takes topics that a registration does not name out of that broker's routes.", .flags = kReloadable},
    ConfigKey{.name = "needWaitForService", .type = ConfigType::Bool, .defaultValue = "false",
              .doc = "Refuses route requests for waitSecondsForService after the start, so that brokers can register first.",
              .flags = kReloadable},
    ConfigKey{.name = "waitSecondsForService", .type = ConfigType::Int, .defaultValue = "45",
              .doc = "Seconds for needWaitForService.", .flags = kReloadable, .min = 0, .max = 86'400},
};

}  // namespace

std::span<const ConfigKey> NamesrvConfig::keys() noexcept { return kKeys; }

void NamesrvConfig::read(const plugin::ConfigView& config) {
    kvConfigPath = config.text("kvConfigPath");
    scanFirst = config.millis("scanNotActiveBrokerDelay");
    scanInterval = config.millis("scanNotActiveBrokerInterval");
    brokerExpiry = config.millis("brokerChannelExpiredTime");
    reachesMax = static_cast<std::uint32_t>(config.integer("brokerReachesMax"));
    queueCapacity = static_cast<std::uint32_t>(config.integer("defaultThreadPoolQueueCapacity"));
    switches.orderMessageEnable = config.flag("orderMessageEnable");
    switches.returnOrderTopicConfigToBroker = config.flag("returnOrderTopicConfigToBroker");
    switches.supportActingMaster = config.flag("supportActingMaster");
    switches.notifyMinBrokerIdChanged = config.flag("notifyMinBrokerIdChanged");
    switches.enableAllTopicList = config.flag("enableAllTopicList");
    switches.enableTopicList = config.flag("enableTopicList");
    switches.deleteTopicWithBrokerRegistration = config.flag("deleteTopicWithBrokerRegistration");
    switches.needWaitForService = config.flag("needWaitForService");
    switches.waitSecondsForService = config.integer("waitSecondsForService");
}

}  // namespace patchbay::plugins::namesrv

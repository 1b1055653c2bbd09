#include "PullConfig.h"

#include <array>

namespace patchbay::plugins::pull {

namespace {

using plugin::ConfigType;

constexpr std::array kKeys{
    plugin::ConfigKey{"longPollingEnable", ConfigType::Bool, "true",
                      "Holds a pull that finds nothing until a message arrives or the time asked for has passed."},
    plugin::ConfigKey{"shortPollingTimeMills", ConfigType::Millis, "1000",
                      "How long such a pull is held when long polling is off.", 0, 1, 60'000},
    plugin::ConfigKey{"litePullMessageEnable", ConfigType::Bool, "true", "Serves LITE_PULL_MESSAGE."},
    plugin::ConfigKey{"rejectPullConsumerEnable", ConfigType::Bool, "false",
                      "Refuses pulls of groups that have no registered consumer on the same connection."},
    plugin::ConfigKey{"slaveReadEnable", ConfigType::Bool, "false",
                      "Sends a group that is far behind to the broker that its whichBrokerWhenConsumeSlowly names, others to its brokerId."},
    plugin::ConfigKey{"heldPullsMax", ConfigType::Int, "200000",
                      "Pulls that may be held at once; beyond it a pull that finds nothing is answered at once.", 0, 0, 100'000'000},
    plugin::ConfigKey{"heldPullsOfConnectionMax", ConfigType::Int, "20000",
                      "How many of them may be of one connection.", 0, 1, 100'000'000},
    plugin::ConfigKey{"heldPullsBytesMax", ConfigType::Bytes, "268435456",
                      "Bytes of the headers and tags of all held pulls; beyond it a pull that finds nothing is answered at once.", 0, 0, std::int64_t{1} << 40},
    plugin::ConfigKey{"groupLengthMax", ConfigType::Int, "255", "Pulls with a longer name of a group are refused.", 0, 1, 65'535},
    plugin::ConfigKey{"clientIdLengthMax", ConfigType::Int, "1024", "Pulls that a proxy passes on for a longer client id are refused.", 0, 1, 65'535},
    plugin::ConfigKey{"subscriptionLengthMax", ConfigType::Bytes, "65536",
                      "Pulls with a longer subscription (topic, kind and text of the expression together) are refused.", 0, 256, 16'000'000},
    plugin::ConfigKey{"pullMessageThreadPoolNums", ConfigType::Int, "2",
                      "Threads for pulls and queries that have to wait for the disk; executorThreadsMax bounds them.", 0, 1, 65'536},
    plugin::ConfigKey{"pullThreadPoolQueueCapacity", ConfigType::Int, "100000",
                      "Pulls that may wait for such a thread; beyond it they are answered SYSTEM_BUSY.", 0, 1, 10'000'000},
    plugin::ConfigKey{"waitTimeMillsInPullQueue", ConfigType::Millis, "5000",
                      "A pull that waited longer for a thread is answered SYSTEM_BUSY.", 0, 0, 3'600'000},
    plugin::ConfigKey{"maxTransferCountOnMessageInMemory", ConfigType::Int, "32",
                      "Messages in one answer at most, whatever the client asks for.", plugin::kReloadable, 1, 65'536},
    plugin::ConfigKey{"maxTransferBytesOnMessageInMemory", ConfigType::Bytes, "262144",
                      "Bytes in one answer at most; a single larger message is sent alone.", plugin::kReloadable, 1, 16'000'000},
    plugin::ConfigKey{"brokerPermission", ConfigType::Int, "6", "Pulls are refused (16) where it does not allow reading: 2 write, 4 read, 6 both.",
                      plugin::kReloadable, 0, 7},
    plugin::ConfigKey{"defaultQueryMaxNum", ConfigType::Int, "32", "Messages in the answer to a query by unique key.", 0, 1, 1024},
};

}  // namespace

std::span<const plugin::ConfigKey> PullConfig::keys() noexcept { return kKeys; }

PullConfig PullConfig::from(const plugin::ConfigView& view) {
    PullConfig config;
    config.longPolling = view.flag("longPollingEnable");
    config.shortPolling = view.millis("shortPollingTimeMills");
    config.litePull = view.flag("litePullMessageEnable");
    config.rejectPullConsumers = view.flag("rejectPullConsumerEnable");
    config.slaveRead = view.flag("slaveReadEnable");
    config.heldPullsMax = static_cast<std::size_t>(view.integer("heldPullsMax"));
    config.heldPullsOfConnectionMax = static_cast<std::size_t>(view.integer("heldPullsOfConnectionMax"));
    config.heldPullsBytesMax = static_cast<std::size_t>(view.integer("heldPullsBytesMax"));
    config.groupLengthMax = static_cast<std::size_t>(view.integer("groupLengthMax"));
    config.clientIdLengthMax = static_cast<std::size_t>(view.integer("clientIdLengthMax"));
    config.subscriptionLengthMax = static_cast<std::size_t>(view.integer("subscriptionLengthMax"));
    config.threads = static_cast<std::uint32_t>(view.integer("pullMessageThreadPoolNums"));
    config.queueCapacity = static_cast<std::uint32_t>(view.integer("pullThreadPoolQueueCapacity"));
    config.queueWaitMax = view.millis("waitTimeMillsInPullQueue");
    config.queryMax = static_cast<std::int32_t>(view.integer("defaultQueryMaxNum"));
    return config;
}

void PullLimits::set(const plugin::ConfigView& view) {
    messagesMax.store(static_cast<std::int32_t>(view.integer("maxTransferCountOnMessageInMemory")), std::memory_order_relaxed);
    bytesMax.store(static_cast<std::int32_t>(view.integer("maxTransferBytesOnMessageInMemory")), std::memory_order_relaxed);
    permission.store(static_cast<std::uint32_t>(view.integer("brokerPermission")), std::memory_order_relaxed);
}

}  // namespace patchbay::plugins::pull

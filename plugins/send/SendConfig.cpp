#include "SendConfig.h"

#include <array>
#include <limits>

namespace patchbay::plugins::send {

namespace {

using plugin::ConfigType;
using plugin::kReloadable;

constexpr std::array kKeys{
    plugin::ConfigKey{"startAcceptSendRequestTimeStamp", ConfigType::Int, "0",
                      "Sends are refused before this wall-clock time, in milliseconds since the epoch.", kReloadable, 0},
    plugin::ConfigKey{"sendThreadPoolQueueCapacity", ConfigType::Int, "10000",
                      "Messages that may wait for their flush at once; beyond it a send is answered SYSTEM_BUSY.",
                      kReloadable, 1, 10'000'000},
    plugin::ConfigKey{"maxMessageSize", ConfigType::Bytes, "4194304",
                      "Largest message body, and largest body of a whole batch; what a frame can bring (frameMaxLength) bounds it, too.",
                      kReloadable, 1024, std::numeric_limits<std::int32_t>::max()},
    plugin::ConfigKey{"traceOn", ConfigType::Bool, "true", "Tells clients that their message traces are wanted."},
    plugin::ConfigKey{"rejectTransactionMessage", ConfigType::Bool, "false", "Refuses transactional messages.", kReloadable},
    plugin::ConfigKey{"brokerPermission", ConfigType::Int, "6",
                      "Messages to ordered topics are refused (16) where it does not allow writing: 2 write, 4 read, 6 both.", kReloadable, 0, 7},
};

}  // namespace

std::span<const plugin::ConfigKey> SendConfig::keys() noexcept { return kKeys; }

void SendConfig::set(const plugin::ConfigView& view) {
    acceptFromMs = view.integer("startAcceptSendRequestTimeStamp");
    inFlightMax = static_cast<std::int32_t>(view.integer("sendThreadPoolQueueCapacity"));
    bodyBytesMax = view.integer("maxMessageSize");
    rejectTransactions = view.flag("rejectTransactionMessage");
    permission = static_cast<std::uint32_t>(view.integer("brokerPermission"));
}

}  // namespace patchbay::plugins::send

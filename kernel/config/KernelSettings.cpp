#include "config/KernelSettings.h"

#include "patchbay/base/SocketAddress.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

namespace patchbay::kernel {

using plugin::ConfigKey;
using plugin::ConfigType;

namespace {

constexpr ConfigKey kKeys[] = {
    {"roles", ConfigType::Text, "namesrv broker", "What this process is: namesrv, broker or both, separated by blanks."},
    {"listenPort", ConfigType::Int, "10911",
     "Port of the broker; with `roles = namesrv` alone the port of the name server (then 9876 by default). 0 takes a free one.", 0, 0, 65535},
    {"namesrv.listenPort", ConfigType::Int, "9876", "Port of the name server. 0 takes a free one.", 0, 0, 65535},
    {"bindAddress", ConfigType::Text, "0.0.0.0", "Numeric address that the listeners for clients bind."},
    {"adminListenPort", ConfigType::Int, "-1",
     "Port of a listener of its own for administration, which then is not served on the others; 0 takes a free one, -1 is none.", 0, -1, 65535},
    {"adminBindAddress", ConfigType::Text, "127.0.0.1", "Numeric address that the listener for administration binds."},
    {"brokerIP1", ConfigType::Text, "",
     "Address or host name that clients are told; chosen from the machine's addresses and logged when it is not set."},
    {"brokerIP2", ConfigType::Text, "", "Address that slaves are told; brokerIP1 when it is not set."},
    {"haListenPort", ConfigType::Int, "0", "Port that slaves are told; 0 is the broker's port plus one.", 0, 0, 65535},
    {"brokerClusterName", ConfigType::Text, "DefaultCluster", "Cluster that the broker registers in."},
    {"brokerName", ConfigType::Text, "", "Name of the broker; the host name when it is not set."},
    {"brokerId", ConfigType::Int, "0", "0 for a master.", 0, 0, std::numeric_limits<std::int64_t>::max()},
    {"brokerRole", ConfigType::Text, "ASYNC_MASTER", "ASYNC_MASTER or SYNC_MASTER; both are the same while there are no slaves to wait for.", 0,
     std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), "", "ASYNC_MASTER SYNC_MASTER"},
    {"brokerPermission", ConfigType::Int, "6", "What clients may do: 2 write, 4 read, 6 both.", plugin::kReloadable, 0, 7},
    {"regionId", ConfigType::Text, "DefaultRegion", "Region that traces name."},
    {"namesrvAddr", ConfigType::Text, "",
     "Name servers, \"host:port;host:port\", besides this process's own. Unset, and without an own one: the variable NAMESRV_ADDR."},
    {"storePathRootDir", ConfigType::Path, "~/store", "Directory of everything that has to survive a restart."},
    {"runDirectory", ConfigType::Path, "run", "Directory of what does not have to: private copies of plugin libraries."},
    {"pluginDirectory", ConfigType::Path, "",
     "Directory of plugin libraries; unset: lib/patchbay/plugins or plugins beside the executable's directory."},
    {"pluginConfigDirectory", ConfigType::Path, "", "Directory of the plugins' files; unset: plugins.d beside the main file."},
    {"logConfig", ConfigType::Path, "", "Log settings file; unset: log.conf beside the main file, if there is one."},
    {"pidFile", ConfigType::Path, "", "File that holds the process number while it runs; unset: none."},
    {"ioThreads", ConfigType::Int, "0", "Threads that serve connections; 0 is one for two cores, half of the cores beyond, four at most.", 0, 0, 64},
    {"executorThreadsMax", ConfigType::Int, "64", "Threads of all executors together.", 0, 1, 4096},
    {"serverConnectionsMax", ConfigType::Int, "20000",
     "Connections of all listeners together; where it is not set, fewer if the limit of open files says so.", 0, 1, 10'000'000},
    {"executorQueueBytesMax", ConfigType::Bytes, "64M", "Bytes of the requests that wait in the queue of one executor.", 0, 1 << 20, std::int64_t{1} << 40},
    {"frameMaxLength", ConfigType::Bytes, "16777216", "Longest frame that is taken, with its length word.", 0, 1024, 1 << 30},
    {"serverInFlightMax", ConfigType::Int, "8192", "Requests of one connection that are being served before it is read no further.", 0, 1,
     1'000'000},
    {"serverReadBudget", ConfigType::Bytes, "256K", "Bytes of one connection that are read before others have their turn.", 0, 4096, 1 << 28},
    {"serverReceiveChunk", ConfigType::Bytes, "256K", "Size of the buffer of each I/O thread that is received into.", 0, 8192, 1 << 28},
    {"writeBufferHighWaterMark", ConfigType::Bytes, "4M",
     "Unsent bytes of one connection at which it is read no further; 0 is the default.", 0, 0, 1 << 30},
    {"writeBufferLowWaterMark", ConfigType::Bytes, "1M", "Unsent bytes of one connection at which reading goes on; 0 is the default.", 0, 0,
     1 << 30},
    {"serverOutboundTotalMax", ConfigType::Bytes, "256M", "Unsent bytes of all connections together.", 0, 1 << 20, std::int64_t{1} << 40},
    {"serverHeldBackMax", ConfigType::Int, "20000",
     "Requests that wait because their connections do not take the answers that they have, all together; more are answered SYSTEM_BUSY.", 0, 1, 10'000'000},
    {"serverHeldBackBytesMax", ConfigType::Bytes, "64M", "Bytes of these requests.", 0, 1 << 20, std::int64_t{1} << 40},
    {"serverUnfinishedTotalMax", ConfigType::Bytes, "256M",
     "Memory for frames that have not come whole, all connections together; beyond it the connection whose frame began first is closed.", 0, 1 << 20,
     std::int64_t{1} << 40},
    {"serverChannelMaxIdleTimeSeconds", ConfigType::Int, "120", "Seconds without reading and writing after which a connection is closed.", 0, 1,
     1'000'000},
    {"serverSocketSndBufSize", ConfigType::Bytes, "0", "Send buffer of a socket in bytes; 0 leaves it to the system.", 0, 0, 1 << 30},
    {"serverSocketRcvBufSize", ConfigType::Bytes, "0", "Receive buffer of a socket in bytes; 0 leaves it to the system.", 0, 0, 1 << 30},
    {"serverSocketBacklog", ConfigType::Int, "1024", "Connections that the system may accept in advance.", 0, 1, 1'000'000},
    {"drainTimeout", ConfigType::Millis, "5000", "How long a stop waits for requests that are being served.", 0, 0, 600'000},
    {"stopTimeout", ConfigType::Millis, "60s",
     "A stop that takes longer, because a plugin does not come back, ends the process at once, as a kill would; 0 is never.", 0, 0, 3'600'000},
    {"slowCallWarning", ConfigType::Millis, "100ms", "A plugin that holds up an I/O loop for so long is named in the log and counted; 0 is never.", 0, 0,
     600'000},
    {"pluginStepWarning", ConfigType::Millis, "10s", "A plugin that does not come back from a step of its life for so long is named in the log.", 0, 10, 600'000},
    {"reload.holdMs", ConfigType::Millis, "2000",
     "How long requests wait while a plugin that offers a service is exchanged; below the time after which clients give up (3 s).", 0, 100, 60'000},
    {"reload.holdRequestsMax", ConfigType::Int, "20000", "Requests that wait meanwhile; more are answered SYSTEM_BUSY.", 0, 1, 10'000'000},
    {"reload.holdBytesMax", ConfigType::Bytes, "64M", "Bytes of the requests that wait meanwhile.", 0, 1 << 20, std::int64_t{1} << 40},
    {"reload.retireTimeout", ConfigType::Millis, "60s",
     "How long an exchanged generation may go on with its last requests; afterwards it is left in memory, and a line says so.", 0, 1'000, 86'400'000},
    {"plugin.unload", ConfigType::Bool, "false", "Whether stopped plugins are unmapped; for tests of plugins only."},
    {"configBlackList", ConfigType::Text, "configBlackList;brokerConfigPath;configStorePath;kvConfigPath",
     "Keys that nobody may change at run time, separated by semicolons."},
};

std::string whereOf(const ConfigValues& values, std::string_view key) {
    return values.find(key)->value.where;
}

std::string firstExisting(std::initializer_list<std::string> candidates) {
    std::error_code ignored;
    for (const auto& candidate : candidates) {
        if (std::filesystem::is_directory(candidate, ignored)) return std::filesystem::path(candidate).lexically_normal().string();
    }
    return std::filesystem::path(*candidates.begin()).lexically_normal().string();
}

void takeRoles(const ConfigValues& values, KernelSettings& out, Problems& problems) {
    std::string_view rest = values.text("roles");
    while (!rest.empty()) {
        const auto end = std::min(rest.find_first_of(" ,"), rest.size());
        const auto word = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (word == "namesrv") {
            out.hasNamesrv = true;
        } else if (word == "broker") {
            out.hasBroker = true;
        } else if (!word.empty()) {
            problems.add(ErrorNumber::NotAChoice, whereOf(values, "roles"),
                         "roles: '" + std::string(word) + "' is none of: namesrv, broker");
        }
    }
    if (!out.hasNamesrv && !out.hasBroker) {
        problems.add(ErrorNumber::NotAChoice, whereOf(values, "roles"), "roles: none given; use namesrv, broker or both");
    }
}

void takePorts(const ConfigValues& values, KernelSettings& out, Problems& problems) {
    out.brokerPort = static_cast<std::uint16_t>(values.integer("listenPort"));
    out.namesrvPort = static_cast<std::uint16_t>(values.integer("namesrv.listenPort"));
    out.haPort = static_cast<std::uint16_t>(values.integer("haListenPort"));
    // RocketMQ's namesrv.conf calls its port listenPort too.
    if (out.hasNamesrv && !out.hasBroker && values.isSet("listenPort")) out.namesrvPort = out.brokerPort;
    if (out.hasNamesrv && out.hasBroker && out.brokerPort != 0 && out.brokerPort == out.namesrvPort) {
        problems.add(ErrorNumber::BadAddress, whereOf(values, "listenPort"),
                     "listenPort and namesrv.listenPort are both " + std::to_string(out.brokerPort));
    }
    const auto admin = values.integer("adminListenPort");
    if (admin < 0) return;
    out.adminPort = static_cast<std::uint16_t>(admin);
    if (admin != 0 && ((out.hasBroker && admin == out.brokerPort) || (out.hasNamesrv && admin == out.namesrvPort))) {
        problems.add(ErrorNumber::BadAddress, whereOf(values, "adminListenPort"),
                     "adminListenPort: " + std::to_string(admin) + " is the port of another listener");
    }
}

void takeAddresses(const ConfigValues& values, KernelSettings& out, Problems& problems) {
    for (auto [key, address] : {std::pair{"bindAddress", &out.bindAddress}, std::pair{"adminBindAddress", &out.adminBindAddress}}) {
        *address = values.text(key);
        if (SocketAddress::parse(address->find(':') == std::string::npos ? *address + ":0" : "[" + *address + "]:0")) continue;
        problems.add(ErrorNumber::BadAddress, whereOf(values, key), std::string(key) + ": '" + *address + "' is not a numeric address");
    }
    out.brokerIp1 = values.text("brokerIP1");
    out.brokerIp2 = values.text("brokerIP2");
    for (const std::string_view key : {"brokerIP1", "brokerIP2"}) {
        const auto text = values.text(key);
        if (!values.isSet(key) || isAdvertisable(text)) continue;
        problems.add(ErrorNumber::BadAddress, whereOf(values, key),
                     std::string(key) + ": '" + std::string(text) + "' is not an address or host name that clients could use");
    }
    out.namesrvAddr = values.text("namesrvAddr");
    out.namesrvAddrWhere = whereOf(values, "namesrvAddr");
}

/// RocketMQ takes any name, and some of them break later: blanks part the fields of the handles that clients bring back, ';' and ':' part the
/// brokers of an order configuration, and a topic, which is a folder, is named after the broker.
std::string_view wrongInBrokerName(std::string_view name) {
    if (name == "." || name == "..") return "names a folder";
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= ' ' || byte == 0x7F) return "holds a blank or a control character";
        if (c == '/' || c == '\\' || c == ':' || c == ';') return "holds one of / \\ : ;";
    }
    return {};
}

std::string printable(std::string_view text) {
    std::string out;
    for (const char c : text) out += static_cast<unsigned char>(c) < ' ' || c == 0x7F ? '?' : c;
    return out;
}

void takeIdentity(const ConfigValues& values, const Surroundings& around, KernelSettings& out, Problems& problems) {
    out.clusterName = values.text("brokerClusterName");
    out.brokerName = values.text("brokerName");
    if (out.brokerName.empty()) out.brokerName = around.hostName.empty() ? "DEFAULT_BROKER" : around.hostName;
    out.brokerId = values.integer("brokerId");
    out.permission = static_cast<std::int32_t>(values.integer("brokerPermission"));
    out.regionId = values.text("regionId");
    if (out.brokerId != 0) {
        // RocketMQ sets it to 0 without a word, and two masters of one name then share their clients' messages.
        problems.add(ErrorNumber::BadIdentity, whereOf(values, "brokerId"),
                     "brokerId: " + std::to_string(out.brokerId) + " is for slaves, but brokerRole is " +
                         std::string(values.text("brokerRole")) + "; a master has 0");
    }
    if (out.clusterName.empty()) {
        problems.add(ErrorNumber::BadIdentity, whereOf(values, "brokerClusterName"), "brokerClusterName is empty");
    }
    if (const auto wrong = wrongInBrokerName(out.brokerName); !wrong.empty()) {
        problems.add(ErrorNumber::BadIdentity, whereOf(values, "brokerName"), "brokerName: '" + printable(out.brokerName) + "' " + std::string(wrong));
    }
}

void takeLimits(const ConfigValues& values, KernelSettings& out, Problems& problems) {
    auto& limits = out.limits;
    const ServerLimits defaults;
    limits.ioThreads = static_cast<std::uint32_t>(values.integer("ioThreads"));
    limits.executorThreadsMax = static_cast<std::uint32_t>(values.integer("executorThreadsMax"));
    limits.connectionsMax = static_cast<std::size_t>(values.integer("serverConnectionsMax"));
    out.connectionsMaxSet = values.isSet("serverConnectionsMax");
    limits.frameBytesMax = static_cast<std::size_t>(values.integer("frameMaxLength"));
    limits.inFlightMax = static_cast<std::uint32_t>(values.integer("serverInFlightMax"));
    limits.readBudget = static_cast<std::size_t>(values.integer("serverReadBudget"));
    limits.receiveChunk = static_cast<std::size_t>(values.integer("serverReceiveChunk"));
    // RocketMQ's files say 0 for "as it is by itself".
    const auto high = static_cast<std::size_t>(values.integer("writeBufferHighWaterMark"));
    const auto low = static_cast<std::size_t>(values.integer("writeBufferLowWaterMark"));
    limits.outboundHigh = high != 0 ? high : defaults.outboundHigh;
    limits.outboundLow = low != 0 ? low : std::min(defaults.outboundLow, limits.outboundHigh / 2);
    if (limits.outboundLow > limits.outboundHigh) {
        problems.add(ErrorNumber::OutOfRange, whereOf(values, "writeBufferLowWaterMark"),
                     "writeBufferLowWaterMark: " + std::to_string(low) + " is above writeBufferHighWaterMark");
    }
    limits.outboundTotalMax = static_cast<std::size_t>(values.integer("serverOutboundTotalMax"));
    limits.heldBackMax = static_cast<std::size_t>(values.integer("serverHeldBackMax"));
    limits.heldBackBytesMax = static_cast<std::size_t>(values.integer("serverHeldBackBytesMax"));
    limits.unfinishedTotalMax = static_cast<std::size_t>(values.integer("serverUnfinishedTotalMax"));
    limits.idle = std::chrono::seconds(values.integer("serverChannelMaxIdleTimeSeconds"));
    limits.socketSendBuffer = static_cast<int>(values.integer("serverSocketSndBufSize"));
    limits.socketReceiveBuffer = static_cast<int>(values.integer("serverSocketRcvBufSize"));
    limits.backlog = static_cast<int>(values.integer("serverSocketBacklog"));
}

std::vector<std::string> splitList(std::string_view text) {
    std::vector<std::string> list;
    while (!text.empty()) {
        const auto end = std::min(text.find(';'), text.size());
        if (end > 0) list.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return list;
}

std::string pathOr(const ConfigValues& values, std::string_view key, const std::string& otherwise) {
    const auto text = values.text(key);
    return text.empty() ? otherwise : std::string(text);
}

}  // namespace

std::span<const ConfigKey> kernelKeys() noexcept {
    return kKeys;
}

KernelSettings KernelSettings::from(const ConfigValues& values, const ConfigSources& sources, const Surroundings& around,
                                    Problems& problems) {
    KernelSettings out;
    takeRoles(values, out, problems);
    takePorts(values, out, problems);
    takeAddresses(values, out, problems);
    if (out.namesrvAddr.empty() && !out.hasNamesrv && !around.namesrvAddrVariable.empty()) {
        out.namesrvAddr = around.namesrvAddrVariable;
        out.namesrvAddrWhere = "variable NAMESRV_ADDR";
    }
    if (const auto wrong = wrongInAddressList(out.namesrvAddr); !wrong.empty()) {
        problems.add(ErrorNumber::BadAddress, out.namesrvAddrWhere, "namesrvAddr: " + wrong);
    }
    takeIdentity(values, around, out, problems);
    out.storeRoot = std::filesystem::absolute(values.text("storePathRootDir")).lexically_normal().string();
    out.runDirectory = pathOr(values, "runDirectory", "run");
    if (!values.isSet("runDirectory")) out.runDirectory = out.storeRoot + "/run";
    out.pluginDirectory = pathOr(values, "pluginDirectory",
                                 firstExisting({around.executableDirectory + "/../lib/patchbay/plugins",
                                                around.executableDirectory + "/../plugins"}));
    out.pluginConfigDirectory = pathOr(values, "pluginConfigDirectory", sources.mainDirectory() + "/plugins.d");
    out.logConfig = pathOr(values, "logConfig", "");
    out.pidFile = values.text("pidFile");
    takeLimits(values, out, problems);
    out.configBlackList = splitList(values.text("configBlackList"));
    out.unloadPlugins = values.flag("plugin.unload");
    out.drainTimeout = values.millis("drainTimeout");
    out.stopTimeout = values.millis("stopTimeout");
    out.limits.slowCall = values.millis("slowCallWarning");
    out.limits.executorQueueBytesMax = static_cast<std::size_t>(values.integer("executorQueueBytesMax"));
    out.limits.hold = values.millis("reload.holdMs");
    out.limits.holdRequestsMax = static_cast<std::size_t>(values.integer("reload.holdRequestsMax"));
    out.limits.holdBytesMax = static_cast<std::size_t>(values.integer("reload.holdBytesMax"));
    out.pluginStepWarning = values.millis("pluginStepWarning");
    out.retireTimeout = values.millis("reload.retireTimeout");
    return out;
}

bool isAdvertisable(std::string_view host) noexcept {
    if (host.empty() || host.size() > 253) return false;
    if (host.find(':') != std::string_view::npos) {
        const auto v6 = SocketAddress::parse("[" + std::string(host) + "]:1");
        return v6.has_value() && host != "::";
    }
    if (host.find_first_not_of("0123456789.") == std::string_view::npos) {
        return SocketAddress::parse(std::string(host) + ":1").has_value() && host != "0.0.0.0";
    }
    const bool plain = std::all_of(host.begin(), host.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
    });
    return plain && host.front() != '-' && host.front() != '.' && host.find("..") == std::string_view::npos;
}

std::string wrongInAddressList(std::string_view list) {
    while (!list.empty()) {
        const auto end = std::min(list.find(';'), list.size());
        const auto entry = list.substr(0, end);
        list.remove_prefix(std::min(end + 1, list.size()));
        if (entry.empty()) continue;
        const auto colon = entry.rfind(':');
        unsigned port = 0;
        bool good = colon != std::string_view::npos;
        if (good) {
            auto host = entry.substr(0, colon);
            if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
            const auto digits = entry.substr(colon + 1);
            const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), port);
            good = isAdvertisable(host) && parsed.ec == std::errc() && parsed.ptr == digits.data() + digits.size() &&
                   port >= 1 && port <= 65535;
        }
        if (!good) return "'" + std::string(entry) + "' is not host:port";
    }
    return {};
}

}  // namespace patchbay::kernel

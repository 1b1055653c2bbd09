#include "app/StartSummary.h"

#include <algorithm>

namespace patchbay::kernel {

namespace {

std::string megabytes(std::size_t bytes) {
    return std::to_string(bytes >> 20) + " MB";
}

std::string who(const SummaryFacts& facts) {
    const auto& settings = facts.prepared.settings;
    std::string text = "this is: patchbay " PATCHBAY_VERSION ", ";
    if (!settings.hasBroker) return text + "a name server";
    text += settings.hasNamesrv ? "name server and broker " : "broker ";
    return text + facts.identity.brokerName + " of cluster " + facts.identity.clusterName + ", " +
           std::string(facts.prepared.kernelValues.text("brokerRole"));
}

std::string names(const SummaryFacts& facts) {
    const auto& me = facts.identity;
    if (me.namesrvAddr.empty()) return "name servers: none; clients that do not know this address do not find this broker";
    const bool own = facts.prepared.settings.namesrvAddr.empty();
    return "name servers: " + me.namesrvAddr + (own ? ", its own" : " (" + facts.prepared.settings.namesrvAddrWhere + ")");
}

/// What an acknowledged message outlives.
std::string durability(const ConfigValues& store) {
    const auto* flush = store.find("flushDiskType");
    if (flush == nullptr) return {};
    if (flush->value.text == "SYNC_FLUSH") return "; an acknowledged message is on disk and outlives a power cut (SYNC_FLUSH)";
    return "; an acknowledged message outlives the process; the newest may be lost in a power cut (" + flush->value.text + ")";
}

std::string store(const SummaryFacts& facts) {
    for (const auto& instance : facts.prepared.host->instances()) {
        const auto& provides = instance->description().provides;
        if (std::find(provides.begin(), provides.end(), "patchbay.MessageStore/1") == provides.end()) continue;
        return "messages: " + instance->name() + " in " + facts.prepared.settings.storeRoot + durability(instance->values());
    }
    return {};
}

std::string memory(const SummaryFacts& facts) {
    const auto& limits = facts.prepared.settings.limits;
    return "memory at most: unsent answers " + megabytes(limits.outboundTotalMax) + ", unfinished frames " +
           megabytes(limits.unfinishedTotalMax) + ", " + std::to_string(facts.executors) + " queues of " +
           megabytes(limits.executorQueueBytesMax) + ", held while plugins are exchanged " + megabytes(limits.holdBytesMax) +
           "; beside it the store's caches and about 1 KB a connection";
}

std::string plugins(const SummaryFacts& facts) {
    std::string text = "plugins: ";
    for (const auto& instance : facts.prepared.host->instances()) text += instance->name() + " ";
    text.pop_back();
    std::string off;
    for (const auto& file : facts.prepared.sources.pluginFiles()) {
        if (!file.enabled && !file.plugin.empty()) off += (off.empty() ? "" : " ") + file.plugin;
    }
    return text + (off.empty() ? "" : "; off: " + off);
}

std::string limitsLine(const SummaryFacts& facts) {
    const auto& limits = facts.prepared.settings.limits;
    std::string text = "limits: " + std::to_string(limits.connectionsMax) + " connections, " + std::to_string(facts.openFilesLimit) + " open files";
    if (limits.connectionsMax < ServerLimits().connectionsMax && !facts.prepared.settings.connectionsMaxSet) {
        text += "; too few open files for the default of " + std::to_string(ServerLimits().connectionsMax) + " connections: raise LimitNOFILE or ulimit -n";
    }
    return text;
}

}  // namespace

std::vector<std::string> startSummary(const SummaryFacts& facts) {
    std::vector<std::string> lines{who(facts), "listens on: " + facts.listening};
    if (facts.prepared.settings.hasBroker) {
        lines.push_back("clients are told: " + facts.identity.address() + " (" + facts.advertisedWhy + ")");
        lines.push_back(names(facts));
        lines.push_back(store(facts));
    }
    lines.push_back(memory(facts));
    lines.push_back(plugins(facts));
    lines.push_back(limitsLine(facts));
    std::erase(lines, std::string());
    return lines;
}

}  // namespace patchbay::kernel

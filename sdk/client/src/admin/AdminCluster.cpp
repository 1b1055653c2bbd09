// Clusters, name servers and brokers as a whole.
#include "admin/AdminImpl.h"
#include "patchbay/protocol/headers/Admin.h"
#include "patchbay/protocol/headers/NameServer.h"

#include <algorithm>

namespace patchbay::client {

using protocol::RemotingCommand;
using protocol::RequestCode;

namespace {

std::vector<std::string> addressesOf(const protocol::ClusterInfo& info, std::string_view cluster, bool slaves) {
    std::vector<std::string> addresses;
    for (const auto& [name, broker] : info.brokerAddrTable) {
        if (!cluster.empty() && broker.cluster != cluster) continue;
        for (const auto& [id, address] : broker.brokerAddrs) {
            if (slaves || id == protocol::kMasterId) addresses.push_back(address);
        }
    }
    return addresses;
}

Result<std::vector<std::string>> addresses(const Result<protocol::ClusterInfo>& info, std::string_view cluster, bool slaves) {
    if (!info) return info.error();
    if (!cluster.empty() && !info->clusterAddrTable.contains(cluster)) {
        return Status(StatusCode::NotFound, "there is no cluster '" + std::string(cluster) + "'; see cluster()");
    }
    return addressesOf(*info, cluster, slaves);
}

RemotingCommand kvCommand(RequestCode code, std::string_view nameSpace, std::string_view key, std::string_view value = {}) {
    protocol::KvConfigRequest header;
    header.nameSpace = nameSpace;
    header.key = key;
    header.value = value;
    return commandOf(code, header);
}

Result<protocol::ConfigTable> configOf(const Result<RemotingCommand>& answer, std::string_view what) {
    if (auto status = succeeded(answer, what); !status) return status;
    return protocol::parseConfigText(answer->body);
}

}  // namespace

Result<protocol::ClusterInfo> AdminClient::cluster() {
    return bodyOf<protocol::ClusterInfo>(impl_->askNameServer(RemotingCommand::request(RequestCode::GetBrokerClusterInfo)), "the cluster list");
}

Result<std::vector<std::string>> AdminClient::masters(std::string_view name) { return addresses(cluster(), name, false); }
Result<std::vector<std::string>> AdminClient::brokers(std::string_view name) { return addresses(cluster(), name, true); }

Result<std::string> AdminClient::masterOf(std::string_view brokerName) {
    const auto info = cluster();
    if (!info) return info.error();
    const auto found = info->brokerAddrTable.find(brokerName);
    if (found != info->brokerAddrTable.end()) {
        const auto master = found->second.brokerAddrs.find(protocol::kMasterId);
        if (master != found->second.brokerAddrs.end()) return master->second;
    }
    return Status(StatusCode::NotFound, "no master is called '" + std::string(brokerName) + "'; see cluster()");
}

Result<protocol::TopicRouteData> AdminClient::route(std::string_view topic) {
    auto found = impl_->route(std::string(topic));
    if (!found) return found.error();
    return (*found)->data;
}

Result<std::vector<std::string>> AdminClient::topics() {
    auto list = bodyOf<protocol::TopicList>(impl_->askNameServer(RemotingCommand::request(RequestCode::GetAllTopicListFromNameserver)), "the topic list");
    if (!list) return list.error();
    return std::move(list->topicList);
}

Result<std::vector<std::string>> AdminClient::topicsOf(std::string_view cluster) {
    protocol::TopicsByClusterRequest header;
    header.cluster = cluster;
    auto list = bodyOf<protocol::TopicList>(impl_->askNameServer(commandOf(RequestCode::GetTopicsByCluster, header)), "the cluster's topic list");
    if (!list) return list.error();
    return std::move(list->topicList);
}

Result<std::string> AdminClient::keyValue(std::string_view nameSpace, std::string_view key) {
    const auto answer = impl_->askNameServer(kvCommand(RequestCode::GetKvConfig, nameSpace, key));
    if (auto status = succeeded(answer, "reading a key"); !status) return status;
    return std::string(answer->find("value").value_or(""));
}

Result<std::map<std::string, std::string, std::less<>>> AdminClient::keyValues(std::string_view nameSpace) {
    protocol::KvNamespaceRequest header;
    header.nameSpace = nameSpace;
    auto table = bodyOf<protocol::KvTable>(impl_->askNameServer(commandOf(RequestCode::GetKvlistByNamespace, header)), "reading keys");
    if (!table) return table.error();
    return std::move(table->table);
}

Status AdminClient::putKeyValue(std::string_view nameSpace, std::string_view key, std::string_view value) {
    return succeeded(invokeAllNameServers(kvCommand(RequestCode::PutKvConfig, nameSpace, key, value)), "writing a key");
}

Status AdminClient::deleteKeyValue(std::string_view nameSpace, std::string_view key) {
    return succeeded(invokeAllNameServers(kvCommand(RequestCode::DeleteKvConfig, nameSpace, key)), "deleting a key");
}

Result<protocol::ConfigTable> AdminClient::nameServerConfig(const std::string& address) {
    return configOf(impl_->ask(address, RemotingCommand::request(RequestCode::GetNamesrvConfig)), "the name server's configuration");
}

Status AdminClient::updateNameServerConfig(const protocol::ConfigTable& changes) {
    auto command = RemotingCommand::request(RequestCode::UpdateNamesrvConfig);
    command.body = protocol::configText(changes);
    return succeeded(invokeAllNameServers(command), "changing the name servers' configuration");
}

Result<std::int32_t> AdminClient::wipeWritePermission(std::string_view brokerName) {
    protocol::BrokerNameRequest header;
    header.brokerName = brokerName;
    const auto count = numberOf(invokeAllNameServers(commandOf(RequestCode::WipeWritePermOfBroker, header)), "wipeTopicCount", "wiping the write permission");
    if (!count) return count.error();
    return static_cast<std::int32_t>(*count);
}

Result<std::int32_t> AdminClient::addWritePermission(std::string_view brokerName) {
    protocol::BrokerNameRequest header;
    header.brokerName = brokerName;
    const auto count = numberOf(invokeAllNameServers(commandOf(RequestCode::AddWritePermOfBroker, header)), "addTopicCount", "adding the write permission");
    if (!count) return count.error();
    return static_cast<std::int32_t>(*count);
}

Result<std::map<std::string, std::string, std::less<>>> AdminClient::runtimeInfo(const std::string& broker) {
    auto table = bodyOf<protocol::KvTable>(impl_->ask(broker, RemotingCommand::request(RequestCode::GetBrokerRuntimeInfo)), "the broker's state");
    if (!table) return table.error();
    return std::move(table->table);
}

Result<protocol::ConfigTable> AdminClient::brokerConfig(const std::string& broker) {
    return configOf(impl_->ask(broker, RemotingCommand::request(RequestCode::GetBrokerConfig)), "the broker's configuration");
}

Status AdminClient::updateBrokerConfig(const std::string& broker, const protocol::ConfigTable& changes) {
    auto command = RemotingCommand::request(RequestCode::UpdateBrokerConfig);
    command.body = protocol::configText(changes);
    return succeeded(impl_->ask(broker, std::move(command)), "changing the broker's configuration");
}

}  // namespace patchbay::client

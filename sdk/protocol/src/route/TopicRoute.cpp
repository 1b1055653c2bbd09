#include "patchbay/protocol/route/TopicRoute.h"

#include "Fields.h"
#include "Writing.h"

namespace patchbay::protocol {

void QueueData::write(json::Writer& out) const {
    out.beginObject();
    out.member("brokerName", brokerName);
    out.member("perm", perm);
    out.member("readQueueNums", readQueueNums);
    out.member("topicSysFlag", topicSysFlag);
    out.member("writeQueueNums", writeQueueNums);
    out.endObject();
}

Result<QueueData> QueueData::read(json::Value value) {
    QueueData data;
    Fields fields(value, "queue data");
    fields.read("brokerName", data.brokerName)
        .read("perm", data.perm)
        .read("readQueueNums", data.readQueueNums)
        .read("topicSysFlag", data.topicSysFlag)
        .read("writeQueueNums", data.writeQueueNums);
    return std::move(fields).finish(std::move(data));
}

Result<QueueDataList> QueueDataList::read(json::Value value) {
    QueueDataList list;
    Fields fields(value, "queue data list");
    fields.read("queueDatas", list.queueDatas);
    return std::move(fields).finish(std::move(list));
}

void BrokerData::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "brokerAddrs", brokerAddrs);
    out.member("brokerName", brokerName);
    out.member("cluster", cluster);
    out.member("enableActingMaster", enableActingMaster);
    writeMember(out, "zoneName", zoneName);
    out.endObject();
}

Result<BrokerData> BrokerData::read(json::Value value) {
    BrokerData data;
    Fields fields(value, "broker data");
    fields.read("brokerAddrs", data.brokerAddrs)
        .read("brokerName", data.brokerName)
        .read("cluster", data.cluster)
        .read("enableActingMaster", data.enableActingMaster)
        .read("zoneName", data.zoneName);
    return std::move(fields).finish(std::move(data));
}

void TopicRouteData::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "brokerDatas", brokerDatas);
    writeMember(out, "filterServerTable", filterServerTable);
    writeMember(out, "orderTopicConf", orderTopicConf);
    writeMember(out, "queueDatas", queueDatas);
    writeMember(out, "topicQueueMappingByBroker", topicQueueMappingByBroker);
    out.endObject();
}

Result<TopicRouteData> TopicRouteData::read(json::Value value) {
    TopicRouteData data;
    Fields fields(value, "topic route");
    fields.read("brokerDatas", data.brokerDatas)
        .read("filterServerTable", data.filterServerTable)
        .read("orderTopicConf", data.orderTopicConf)
        .read("queueDatas", data.queueDatas)
        .read("topicQueueMappingByBroker", data.topicQueueMappingByBroker);
    return std::move(fields).finish(std::move(data));
}

void ClusterInfo::write(json::Writer& out) const {
    out.beginObject();
    writeMember(out, "brokerAddrTable", brokerAddrTable);
    writeMember(out, "clusterAddrTable", clusterAddrTable);
    out.endObject();
}

Result<ClusterInfo> ClusterInfo::read(json::Value value) {
    ClusterInfo info;
    Fields fields(value, "cluster info");
    fields.read("brokerAddrTable", info.brokerAddrTable).read("clusterAddrTable", info.clusterAddrTable);
    return std::move(fields).finish(std::move(info));
}

void BrokerMemberGroup::write(json::Writer& out) const {
    out.beginObject();
    out.key("brokerMemberGroup");
    out.beginObject();
    writeMember(out, "brokerAddrs", brokerAddrs);
    out.member("brokerName", brokerName);
    out.member("cluster", cluster);
    out.endObject();
    out.endObject();
}

Result<BrokerMemberGroup> BrokerMemberGroup::read(json::Value value) {
    BrokerMemberGroup group;
    Fields fields(value["brokerMemberGroup"], "broker member group");
    fields.read("brokerAddrs", group.brokerAddrs).read("brokerName", group.brokerName).read("cluster", group.cluster);
    return std::move(fields).finish(std::move(group));
}

}  // namespace patchbay::protocol

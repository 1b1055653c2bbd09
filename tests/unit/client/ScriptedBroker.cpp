#include "ScriptedBroker.h"

#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/route/AdminBodies.h"
#include "patchbay/protocol/route/Heartbeat.h"

#include <gtest/gtest.h>

#include <chrono>

namespace patchbay::test {

using protocol::RemotingCommand;
using protocol::RequestCode;

std::optional<RemotingCommand> ScriptedBroker::script(const RemotingCommand& asked) {
    if (first_) {
        if (auto decided = first_(asked)) return *decided;
    }
    auto answer = answerTo(asked);
    switch (static_cast<RequestCode>(asked.code)) {
        case RequestCode::GetRouteinfoByTopic: answer.body = routeBody({{"broker-a", server_.address()}}, 1); break;
        case RequestCode::SendMessageV2:
        case RequestCode::SendBatchMessage:
        case RequestCode::SendReplyMessageV2:
            answer.set("msgId", "7F00000100002A9F0000000000000000");
            answer.set("queueId", "0");
            answer.set("queueOffset", "3");
            answer.set("MSG_REGION", "north");
            answer.set("TRACE_ON", "true");
            break;
        case RequestCode::GetConsumerListByGroup: {
            protocol::ConsumerIdList list;
            const std::lock_guard lock(mutex_);
            list.consumerIdList = {clientId_};
            answer.body = list.toJson();
            break;
        }
        case RequestCode::HeartBeat: {
            const auto beat = protocol::HeartbeatData::fromJson(asked.body);
            const std::lock_guard lock(mutex_);
            if (beat && !beat->consumerDataSet.empty()) clientId_ = beat->clientId;
            break;
        }
        case RequestCode::QueryConsumerOffset: answer.set("offset", "0"); break;
        case RequestCode::LockBatchMq: answer.body = R"({"lockOKMQSet":[{"brokerName":"broker-a","queueId":0,"topic":"T"}]})"; break;
        case RequestCode::PullMessage:
        case RequestCode::LitePullMessage: return pulled(asked);
        default: break;
    }
    if (asked.isOneway() || asked.isResponse()) return std::nullopt;
    return answer;
}

// One message, then silence.
std::optional<RemotingCommand> ScriptedBroker::pulled(const RemotingCommand& asked) {
    const std::string topic(asked.find("topic").value_or(""));
    if (asked.find("queueOffset") != "0" || !(topic == "T" || topic.ends_with("%T"))) return std::nullopt;
    auto answer = answerTo(asked);
    answer.set("suggestWhichBrokerId", "0");
    answer.set("nextBeginOffset", "1");
    answer.set("minOffset", "0");
    answer.set("maxOffset", "1");
    protocol::RecordFields record;
    record.topic = topic;
    record.body = "x";
    record.properties = "UNIQ_KEY\x01" "AB\x02KEYS\x01k1 k2\x02MSG_REGION\x01north\x02TRACE_ON\x01true\x02";
    answer.body.resize(recordSize(record));
    encodeRecord(answer.body.data(), record);
    return answer;
}

bool ScriptedBroker::asked(RequestCode code, std::size_t count) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (server_.requests(code).size() < count) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::yield();
    }
    return true;
}

RemotingCommand ScriptedBroker::first(RequestCode code) const {
    if (asked(code, 1)) return server_.requests(code).front();
    ADD_FAILURE() << "no request " << static_cast<int>(code);
    return {};
}

}  // namespace patchbay::test

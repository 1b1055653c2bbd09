#include "instance/Heartbeats.h"

#include "instance/Log.h"
#include "patchbay/protocol/util/Hash.h"

namespace patchbay::client {

using protocol::HeartbeatData;
using protocol::RemotingCommand;

namespace {

// Equal as long as nothing but versions of subscriptions changes; never 0, which means "first version".
std::int32_t fingerprintOf(HeartbeatData data) {
    data.clientId.clear();
    for (auto& consumer : data.consumerDataSet) {
        for (auto& subscription : consumer.subscriptionDataSet) subscription.subVersion = 0;
    }
    const auto hash = protocol::javaHashCode(data.toJson());
    return hash == 0 ? 1 : hash;
}

}  // namespace

void Heartbeats::send(const std::set<std::string>& addresses, HeartbeatData data, bool whole,
                      const std::function<void(const std::string&, bool)>& done) {
    const auto fingerprint = secondVersion_ ? fingerprintOf(data) : 0;
    data.heartbeatFingerprint = fingerprint;
    const auto full = data.toJson();
    data.withoutSub = true;
    for (auto& consumer : data.consumerDataSet) consumer.subscriptionDataSet.clear();
    const auto deadline = asker_.deadlineIn(timeout_);
    for (const auto& address : addresses) {
        auto& peer = peers_[address];
        if (whole) peer.fingerprint = 0;
        const bool brief = secondVersion_ && peer.knowsSecondVersion && peer.fingerprint == fingerprint;
        auto command = RemotingCommand::request(protocol::RequestCode::HeartBeat);
        command.body = brief ? data.toJson() : full;
        asker_.ask(address, std::move(command), deadline, [this, address, fingerprint, done](const Result<RemotingCommand>& answer) {
            answered(address, fingerprint, answer);
            if (done) done(address, answer && answer->code == 0);
        });
    }
}

void Heartbeats::answered(const std::string& address, std::int32_t fingerprint, const Result<RemotingCommand>& answer) {
    auto& peer = peers_[address];
    if (!answer || answer->code != 0) {
        peer.fingerprint = 0;
        if (answer) return log_.warn("heartbeat: " + statusOf(*answer, address).message());
        if (answer.error().code() != StatusCode::Cancelled) log_.info("heartbeat: " + answer.error().message());
        return;
    }
    const auto is = [&](std::string_view name) { return answer->find(name).value_or("") == "true"; };
    peer.knowsSecondVersion = is("IS_SUPPORT_HEART_BEAT_V2");
    peer.fingerprint = is("IS_SUB_CHANGE") ? 0 : fingerprint;
}

}  // namespace patchbay::client

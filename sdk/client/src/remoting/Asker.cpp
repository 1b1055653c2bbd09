#include "remoting/Asker.h"

#include <utility>

namespace patchbay::client {

using protocol::ResponseCode;

void Asker::ask(const std::string& address, protocol::RemotingCommand command, MonotonicTime deadline, AnswerDone done) {
    attempt(address, std::move(command), deadline, std::move(done), true);
}

void Asker::attempt(const std::string& address, protocol::RemotingCommand command, MonotonicTime deadline, AnswerDone done, bool again) {
    auto frame = frames_.request(command);
    if (!frame) return done(frame.error());
    auto call = makeCall([this, address, command = std::move(command), deadline, done = std::move(done),
                          again](const Status& status, const protocol::CommandView* answer) mutable {
        if (!status) return done(status);
        if (again && answer->code == static_cast<std::int32_t>(ResponseCode::GoAway)) {
            return attempt(address, std::move(command), deadline, std::move(done), false);
        }
        done(protocol::RemotingCommand::from(*answer));
    });
    channels_.send(address, std::move(*frame), deadline, std::move(call));
}

void Asker::tell(const std::string& address, const protocol::RemotingCommand& command) {
    if (auto frame = frames_.request(command, true)) channels_.sendOneway(address, std::move(*frame));
}

namespace {

struct Meaning {
    ResponseCode code;
    StatusCode status;
    std::string_view advice;
};

constexpr Meaning kMeanings[] = {
    {ResponseCode::SystemBusy, StatusCode::Busy, "the server is overloaded; try again later or send less at once"},
    {ResponseCode::FlowControl, StatusCode::Busy, "the server limits this client; try again later"},
    {ResponseCode::RequestCodeNotSupported, StatusCode::Unsupported, "this server does not offer it, or on its port for administration only (adminListenPort)"},
    {ResponseCode::MessageIllegal, StatusCode::InvalidArgument, "change the message"},
    {ResponseCode::InvalidParameter, StatusCode::InvalidArgument, "change the request"},
    {ResponseCode::SubscriptionParseFailed, StatusCode::InvalidArgument, "correct the filter expression"},
    {ResponseCode::ServiceNotAvailable, StatusCode::Unavailable, "the broker refuses writes; look at its disk and its log"},
    {ResponseCode::SlaveNotAvailable, StatusCode::NotLeader, "ask the master"},
    {ResponseCode::GoAway, StatusCode::Unavailable, "the server is going away; try again"},
    {ResponseCode::NoPermission, StatusCode::Denied, "check credentials, access rules and the topic's permission"},
    {ResponseCode::TopicNotExist, StatusCode::NotFound, "create the topic, or check the name server address"},
    {ResponseCode::QueryNotFound, StatusCode::NotFound, "nothing is there"},
    {ResponseCode::SubscriptionGroupNotExist, StatusCode::NotFound, "create the consumer group"},
    {ResponseCode::SubscriptionNotExist, StatusCode::NotFound, "the group has no such subscription on the broker yet"},
    {ResponseCode::ConsumerNotOnline, StatusCode::NotFound, "no consumer of the group is connected"},
    {ResponseCode::NoMessage, StatusCode::NotFound, "nothing is there"},
    {ResponseCode::BrokerNotExist, StatusCode::NotFound, "check the broker's name"},
    {ResponseCode::ConsumeMsgTimeout, StatusCode::DeadlineExceeded, "the consumer did not answer in time"},
    {ResponseCode::UserNotExist, StatusCode::NotFound, "create the user"},
    {ResponseCode::PolicyNotExist, StatusCode::NotFound, "create the rule"},
};

}  // namespace

Status statusOf(std::int32_t code, std::string_view remark, std::string_view what) {
    auto kind = StatusCode::Internal;
    std::string_view advice = "look at the server's log";
    for (const auto& meaning : kMeanings) {
        if (static_cast<std::int32_t>(meaning.code) != code) continue;
        kind = meaning.status;
        advice = meaning.advice;
    }
    std::string text(what);
    text.append(" was answered with code ").append(std::to_string(code));
    if (const auto name = toString(static_cast<ResponseCode>(code)); !name.empty()) text.append(" ").append(name);
    // Behind the first line RocketMQ points to its web pages.
    remark = remark.substr(0, remark.find('\n'));
    if (!remark.empty()) text.append(" (").append(remark).append(")");
    return {kind, text.append("; ").append(advice)};
}

Status statusOf(const protocol::RemotingCommand& answer, std::string_view what) {
    return statusOf(answer.code, answer.remark.value_or(""), what);
}

}  // namespace patchbay::client

#include "consumer/ListenerCall.h"

#include "patchbay/protocol/json/Body.h"

#include <utility>

namespace patchbay::client {

using protocol::RemotingCommand;

namespace {

std::string encode(const DirectOutcome& outcome, bool orderly, std::chrono::milliseconds spent) {
    std::string text;
    json::Writer writer(text);
    writer.beginObject();
    writer.member("autoCommit", true);
    writer.member("consumeResult", !outcome.thrown.empty() ? "CR_THROW_EXCEPTION" : outcome.success ? "CR_SUCCESS" : "CR_LATER");
    writer.member("order", orderly);
    if (!outcome.thrown.empty()) writer.member("remark", outcome.thrown);
    writer.member("spentTimeMills", static_cast<std::int64_t>(spent.count()));
    writer.endObject();
    return text;
}

}  // namespace

bool consumeDirectly(const std::shared_ptr<ConsumerCore>& core, ListenerPool& pool, Channel& channel, const RemotingCommand& request,
                     protocol::SerializeType type, bool orderly, DirectListener listener) {
    if (request.code != static_cast<std::int32_t>(protocol::RequestCode::ConsumeMessageDirectly)) return false;
    auto messages = decodeMessages(request.body, request.find("brokerName").value_or(""), core->adjuster());
    if (!messages || messages->empty()) return false;
    auto asker = Ref<Channel>::share(&channel);
    pool.post([core, asker, opaque = request.opaque, type, orderly, batch = std::move(*messages), listener = std::move(listener)]() mutable {
        const auto& clock = core->instance().runtime().clock();
        const auto begun = clock.now();
        const auto outcome = listener(batch);
        auto answer = RemotingCommand::response(protocol::ResponseCode::Success, opaque);
        answer.body = encode(outcome, orderly, std::chrono::duration_cast<std::chrono::milliseconds>(clock.now() - begun));
        core->loop().post([asker = std::move(asker), answer, type] { asker->reply(answer, type); });
    });
    return true;
}

}  // namespace patchbay::client

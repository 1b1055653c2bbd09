#include "server/PendingCalls.h"

#include <utility>

namespace patchbay::kernel {

void PendingCalls::add(std::int32_t opaque, std::chrono::milliseconds timeout, plugin::InvokeDone done) {
    const auto timer = loop_.after(timeout, [this, opaque] {
        fail(opaque, {StatusCode::DeadlineExceeded, "no answer in time"});
    });
    calls_.insert_or_assign(opaque, Call{std::move(done), timer});
}

void PendingCalls::answered(const protocol::CommandView& answer) {
    if (calls_.contains(answer.opaque)) finish(answer.opaque, protocol::RemotingCommand::from(answer));
}

void PendingCalls::fail(std::int32_t opaque, Status why) { finish(opaque, std::move(why)); }

void PendingCalls::failAll(const Status& why) {
    while (!calls_.empty()) finish(calls_.begin()->first, why);
}

void PendingCalls::finish(std::int32_t opaque, Result<protocol::RemotingCommand> result) {
    auto call = calls_.extract(opaque);
    if (call.empty()) return;
    loop_.cancel(call.mapped().timer);
    post_([done = std::move(call.mapped().done), result = std::move(result)]() mutable { done(std::move(result)); });
}

void PendingCalls::refuse(const PostTask& post, plugin::InvokeDone done, Status why) {
    post([done = std::move(done), why = std::move(why)]() mutable { done(std::move(why)); });
}

}  // namespace patchbay::kernel

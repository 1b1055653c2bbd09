#include "Forbidding.h"

#include "patchbay/protocol/headers/ConsumerAdmin.h"
#include "patchbay/protocol/json/Writer.h"

namespace patchbay::plugins::consumer_admin {

using plugin::Response;
using protocol::ResponseCode;

void Forbidding::process(plugin::Request request) {
    Response response = answer(request);
    std::move(request).respond(std::move(response));
}

Response Forbidding::answer(const plugin::Request& request) const {
    const auto wish = protocol::GroupForbiddenRequest::parse(request.command());
    if (!wish) return Response(wish.error());
    if (wish->readable) {
        const Status done = services_.groups->setReadForbidden(wish->group, wish->topic, !*wish->readable);
        // RocketMQ remembers it for groups that do not exist; that would be found by nobody, so it is said.
        if (done.code() == StatusCode::NotFound) {
            return Response(ResponseCode::SubscriptionGroupNotExist, "Group " + std::string(wish->group) + " does not exist");
        }
        if (!done) return Response(ResponseCode::SystemError, done.message());
        context_.log().limited(plugin::LogLevel::Info, "a group's right to read a topic is set",
                               {{"group", wish->group}, {"topic", wish->topic}, {"readable", *wish->readable},
                                {"by", request.peer().remote().toString()}});
        services_.clients->notifyChanged(wish->group);
    }
    std::string body;
    json::Writer out(body);
    out.beginObject();
    out.member("group", wish->group);
    out.member("readable", !services_.groups->readForbidden(wish->group, wish->topic));
    out.member("topic", wish->topic);
    out.endObject();
    Response response = withBody(std::move(body));
    return response;
}

}  // namespace patchbay::plugins::consumer_admin

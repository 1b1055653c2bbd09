#include "AdminProcessor.h"

namespace patchbay::plugins::admin {

void AdminProcessor::process(plugin::Request request) {
    plugin::Response response = answer(request);
    std::move(request).respond(std::move(response));
}

plugin::Response withBody(std::string body) {
    plugin::Response response(protocol::ResponseCode::Success);
    response.setBody(std::move(body));
    return response;
}

plugin::Response refusal(protocol::ResponseCode code, std::string remark) { return plugin::Response(code, std::move(remark)); }

}  // namespace patchbay::plugins::admin

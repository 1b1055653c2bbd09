#include "Answers.h"

#include "patchbay/protocol/json/Writer.h"

namespace patchbay::plugins::consumer_admin {

void write(json::Writer& out, const OffsetsByQueue& offsets) {
    out.beginObject();
    for (const auto& [queue, offset] : offsets) {
        out.objectKey(queue.toJson());
        out.integer(offset);
    }
    out.endObject();
}

std::string offsetTable(const OffsetsByQueue& offsets) {
    std::string body;
    json::Writer out(body);
    out.beginObject();
    out.key("offsetTable");
    write(out, offsets);
    out.endObject();
    return body;
}

std::string offsetList(const OffsetsByQueue& offsets) {
    std::string body;
    json::Writer out(body);
    out.beginObject();
    out.key("offsetTable");
    out.beginArray();
    for (const auto& [queue, offset] : offsets) {
        out.beginObject();
        out.member("brokerName", queue.brokerName);
        out.member("offset", offset);
        out.member("queueId", queue.queueId);
        out.member("topic", queue.topic);
        out.endObject();
    }
    out.endArray();
    out.endObject();
    return body;
}

plugin::Response withBody(std::string body) {
    plugin::Response response(protocol::ResponseCode::Success);
    response.setBody(std::move(body));
    return response;
}

std::string_view fieldOf(const plugin::Request& request, std::string_view name) noexcept {
    return request.command().find(name).value_or(std::string_view());
}

}  // namespace patchbay::plugins::consumer_admin

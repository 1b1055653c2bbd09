#include "WhyStuck.h"

#include "patchbay/protocol/Language.h"
#include "patchbay/protocol/headers/Admin.h"
#include "patchbay/protocol/json/Writer.h"

namespace patchbay::plugins::consumer_admin {

namespace {

std::string_view nameOf(service::PullOutcome outcome) noexcept {
    switch (outcome) {
        case service::PullOutcome::None: break;
        case service::PullOutcome::Delivered: return "delivered";
        case service::PullOutcome::Held: return "waits";
        case service::PullOutcome::AtEnd: return "atEnd";
        case service::PullOutcome::Filtered: return "filtered";
        case service::PullOutcome::Moved: return "moved";
    }
    return "none";
}

std::string_view nameOf(service::GroupConflict::Kind kind) noexcept {
    switch (kind) {
        case service::GroupConflict::Kind::Topics: return "topics";
        case service::GroupConflict::Kind::Expressions: return "expressions";
        case service::GroupConflict::Kind::ClientIds: break;
    }
    return "clientIds";
}

void write(json::Writer& out, const service::GroupConflict& conflict) {
    out.beginObject();
    out.member("kind", nameOf(conflict.kind));
    out.member("topic", conflict.topic);
    out.key("parties");
    out.beginArray();
    for (const auto& party : conflict.parties) {
        out.beginObject();
        out.member("address", party.address);
        out.member("clientId", party.clientId);
        out.member("expression", party.says);
        out.endObject();
    }
    out.endArray();
    out.endObject();
}

void write(json::Writer& out, const QueueReport& queue) {
    const auto& pull = queue.progress.pull;
    out.beginObject();
    out.member("queueId", queue.queueId);
    out.member("minOffset", queue.range.min);
    out.member("maxOffset", queue.range.max);
    out.member("committed", queue.progress.committed);
    out.member("commitAgeMs", queue.commitAgeMs);
    out.member("lag", queue.lag);
    out.member("owner", queue.owner);
    out.member("ownerAddress", queue.ownerAddress);
    out.member("lastPull", nameOf(pull.outcome));
    out.member("pullAgeMs", queue.pullAgeMs);
    out.member("pullOffset", pull.outcome == service::PullOutcome::None ? std::int64_t{-1} : pull.nextOffset);
    out.member("inHand", queue.inHand);
    out.member("delivered", pull.delivered);
    out.member("filtered", pull.filtered);
    out.member("resetTo", queue.progress.reset);
    out.member("lockHolder", queue.lockHolder);
    out.member("lockAgeMs", queue.lockAgeMs);
    out.member("problem", queue.problem);
    out.endObject();
}

void write(json::Writer& out, const TopicReport& topic) {
    out.beginObject();
    out.member("topic", topic.topic);
    out.member("expression", topic.expression);
    out.member("problem", topic.problem);
    out.key("queues");
    out.beginArray();
    for (const auto& queue : topic.queues) write(out, queue);
    out.endArray();
    out.endObject();
}

}  // namespace

void WhyStuck::process(plugin::Request request) {
    const auto header = protocol::GroupRequest::parse(request.command());
    if (!header) return std::move(request).respond(plugin::Response(header.error()));
    std::move(request).respond(withBody(encode(reporter_.report(header->group))));
}

std::string WhyStuck::encode(const GroupReport& report) const {
    std::string body;
    json::Writer out(body, json::Dialect::Strict);
    out.beginObject();
    out.member("group", report.group);
    out.member("broker", identity_.brokerName);
    out.member("sentence", report.sentence);
    out.member("exists", report.exists);
    out.member("online", report.state.online);
    out.member("broadcasting", report.state.model == service::MessageModel::Broadcasting);
    out.member("consumeEnable", report.facts.consumeEnable);
    out.member("lag", report.lag);
    out.member("deadLetters", report.deadLetters);
    out.key("members");
    out.beginArray();
    for (const auto& member : report.members) {
        out.beginObject();
        out.member("clientId", member.clientId);
        out.member("address", member.peer->remote().toString());
        out.member("language", protocol::toString(static_cast<protocol::Language>(member.language)));
        out.member("version", member.version);
        out.member("heartbeatAgeMs", clock_.wallMs() - member.lastHeartbeatMs);
        out.endObject();
    }
    out.endArray();
    out.key("conflicts");
    out.beginArray();
    for (const auto& conflict : report.conflicts) write(out, conflict);
    out.endArray();
    out.key("topics");
    out.beginArray();
    for (const auto& topic : report.topics) write(out, topic);
    out.endArray();
    out.endObject();
    return body;
}

}  // namespace patchbay::plugins::consumer_admin

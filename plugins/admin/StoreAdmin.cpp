#include "StoreAdmin.h"

#include "patchbay/protocol/json/Writer.h"
#include "patchbay/protocol/message/MessageRecord.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <vector>

namespace patchbay::plugins::admin {

using plugin::Response;
using protocol::RequestCode;
using protocol::ResponseCode;

namespace {

/// Lets everything through and remembers what the queue keeps beside each message.
class CodeNotes final : public service::ReadFilter {
public:
    [[nodiscard]] bool matchesTags(std::int64_t tagsCode) const noexcept override {
        if (used_ < codes_.size()) codes_[used_++] = tagsCode;
        return true;
    }
    explicit CodeNotes(std::size_t entries) : codes_(entries) {}
    [[nodiscard]] std::int64_t at(std::size_t index) const noexcept { return index < used_ ? codes_[index] : 0; }

private:
    mutable std::vector<std::int64_t> codes_;
    mutable std::size_t used_ = 0;
};

template <typename Number>
bool readNumber(std::string_view text, Number& out) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
    return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

/// Appends the entries that one read found and returns how many.
std::int32_t writeEntries(json::Writer& out, const service::ReadResult& result, const CodeNotes& notes) {
    std::string joined;
    for (const auto piece : result.pieces) joined += piece;
    std::string_view rest = joined;
    std::int32_t entries = 0;
    while (rest.size() >= protocol::kRecordBornHostAt) {
        const std::int32_t size = protocol::loadI32(rest.data());
        if (size <= 0 || static_cast<std::size_t>(size) > rest.size()) break;
        out.beginObject();
        out.member("eval", false);
        out.member("physicOffset", protocol::loadI64(rest.data() + protocol::kRecordPhysicalOffsetAt));
        out.member("physicSize", size);
        out.member("tagsCode", notes.at(static_cast<std::size_t>(entries)));
        out.endObject();
        rest.remove_prefix(static_cast<std::size_t>(size));
        ++entries;
    }
    return entries;
}

}  // namespace

Response StoreAdmin::answer(const plugin::Request& request) {
    switch (static_cast<RequestCode>(request.command().code)) {
        case RequestCode::CleanExpiredConsumequeue: return cleanQueues();
        case RequestCode::CleanUnusedTopic: return cleanUnusedTopics();
        case RequestCode::DeleteExpiredCommitlog: return removeExpired();
        default: return queue(request);
    }
}

Response StoreAdmin::queue(const plugin::Request& request) const {
    if (auto refused = withoutField(request, {"topic", "queueId", "index", "count"})) return std::move(*refused);
    const std::string topic(fieldOf(request, "topic"));
    std::int32_t queueId = 0;
    std::int32_t count = 0;
    std::int64_t index = 0;
    if (!readNumber(fieldOf(request, "queueId"), queueId) || !readNumber(fieldOf(request, "count"), count) ||
        !readNumber(fieldOf(request, "index"), index)) {
        return refusal(ResponseCode::SystemError, "queueId, index and count are numbers");
    }
    const auto range = services_.store->range(topic, queueId);
    const std::string name = std::to_string(queueId) + "@" + topic;
    if (!range.exists) return refusal(ResponseCode::SystemError, name + " is not exist!");
    if (index < range.min || index >= range.max) {
        return Response(ResponseCode::Success, "Index " + std::to_string(index) + " of " + name + " is not exist!");
    }
    std::string body;
    json::Writer out(body);
    out.beginObject();
    const auto group = request.command().find("consumerGroup");
    const auto subscription = group ? services_.clients->subscription(*group, topic) : std::nullopt;
    if (group) {
        // RocketMQ writes the property filter of the subscription as text; subscriptions by tags have none.
        out.member("filterData", subscription ? std::string("null") : std::string(*group) + "@" + topic + " is not online!");
    }
    out.member("maxQueueIndex", range.max);
    out.member("minQueueIndex", range.min);
    out.key("queueData");
    out.beginArray();
    service::ReadResult result;
    for (std::int32_t left = std::min(count, config_.queueEntriesMax); left > 0;) {
        service::ReadLimits limits;
        limits.messagesMax = left;
        const CodeNotes notes(static_cast<std::size_t>(left));
        services_.store->read(topic, queueId, index, limits, &notes, result);
        if (result.status != service::ReadStatus::Found) break;
        const std::int32_t written = writeEntries(out, result, notes);
        if (written == 0) break;
        left -= written;
        index = result.nextOffset;
    }
    out.endArray();
    if (subscription) {
        out.key("subscriptionData");
        subscription->write(out);
    }
    out.endObject();
    Response response = doneAsBorn();
    response.setBody(std::move(body));
    return response;
}

Response StoreAdmin::unsupported(std::string_view what, std::string_view why) const {
    std::string remark(what);
    remark.append(" is not supported by this store (").append(services_.store->capabilities().name).append("): ").append(why);
    return refusal(ResponseCode::RequestCodeNotSupported, std::move(remark));
}

Response StoreAdmin::cleanQueues() {
    if (!services_.store->capabilities().commitLog) {
        return unsupported("CLEAN_EXPIRED_CONSUMEQUEUE", "it has no consume-queue files; the entries of a queue go with their messages");
    }
    // Queues let go of entries whose messages are gone; the store knows from where on its messages begin.
    const Status cleaned = services_.store->trim(services_.store->stats().minPhysicalOffset);
    return cleaned ? Response(ResponseCode::Success) : refusal(ResponseCode::SystemError, cleaned.message());
}

Response StoreAdmin::cleanUnusedTopics() {
    std::set<std::string> unused;
    for (auto& queue : services_.store->queues()) {
        service::TopicFacts facts;
        if (services_.topics->find(queue.topic, facts) || services_.topics->isSystem(queue.topic)) continue;
        unused.insert(std::move(queue.topic));
    }
    for (const auto& topic : unused) {
        services_.offsets->removeTopic(topic);
        const Status deleted = services_.store->deleteTopic(topic);
        if (!deleted && deleted.code() != StatusCode::NotFound) return refusal(ResponseCode::SystemError, deleted.message());
    }
    return Response(ResponseCode::Success);
}

Result<std::optional<std::int64_t>> StoreAdmin::firstSince(const service::QueueKey& queue, std::int64_t sinceMs) const {
    using service::ReadStatus;
    const auto found = services_.store->offsetAt(queue.topic, queue.queueId, sinceMs, service::Bound::Lower);
    if (!found) return found.error();
    service::ReadLimits limits;
    limits.messagesMax = 1;
    service::ReadResult result;
    std::int64_t offset = *found;
    while (true) {
        services_.store->read(queue.topic, queue.queueId, offset, limits, nullptr, result);
        const bool removed = result.status == ReadStatus::Gone || result.status == ReadStatus::OffsetTooSmall;
        if (!removed || result.nextOffset <= offset) break;
        offset = result.nextOffset;
    }
    if (result.status == ReadStatus::OffsetAtEnd || result.status == ReadStatus::QueueEmpty) return std::optional<std::int64_t>();
    std::string record;
    for (const auto piece : result.pieces) record += piece;
    if (result.status != ReadStatus::Found || record.size() < protocol::kRecordBornHostAt) {
        return Status(StatusCode::Io, "message " + std::to_string(offset) + " cannot be read");
    }
    return std::optional(protocol::loadI64(record.data() + protocol::kRecordPhysicalOffsetAt));
}

Response StoreAdmin::removeExpired() {
    std::int64_t hours = 0;
    for (const auto& entry : context_.runtimeConfig().snapshot("broker")) {
        if (entry.key == "fileReservedTime") (void)readNumber(entry.value, hours);
    }
    if (hours <= 0) return Response(ResponseCode::Success);   // messages are kept for ever
    const std::int64_t since = context_.clock().wallMs() - hours * 3'600'000;
    // The queues of deleted topics hold nothing, so what no queue begins with is old or unreachable.
    std::int64_t keepFrom = services_.store->stats().maxPhysicalOffset;
    for (const auto& queue : services_.store->queues()) {
        // What cannot be read may be young: nothing is removed without knowing.
        const auto first = firstSince(queue, since);
        if (!first) {
            return refusal(ResponseCode::SystemError, "nothing is removed, because queue " + std::to_string(queue.queueId) + "@" + queue.topic +
                                                          " does not tell how old it is: " + first.error().message());
        }
        if (*first) keepFrom = std::min(keepFrom, **first);
    }
    const Status removed = services_.store->trim(keepFrom);
    return removed ? Response(ResponseCode::Success) : refusal(ResponseCode::SystemError, removed.message());
}

}  // namespace patchbay::plugins::admin

#include "RecallProcessor.h"

#include "TimerMessage.h"

#include "patchbay/protocol/headers/Recall.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/PropertyNames.h"
#include "patchbay/protocol/util/Hash.h"

#include <memory>
#include <utility>

namespace patchbay::plugins::timer {

using namespace protocol;

namespace {

constexpr std::string_view kRecallTag = "_RECALL_TAG_";
constexpr std::string_view kRecallBody = "0";

}  // namespace

/// One recall on its way into the store. Destroys itself in done().
class RecallProcessor::Append final : public service::AppendBatch {
public:
    Append(RecallProcessor& processor, plugin::Request from) : processor_(processor), request(std::move(from)) {}

    void done() noexcept override {
        RecallProcessor& processor = processor_;
        {
            const std::unique_ptr<Append> self(this);
            plugin::Response response;
            response.fields().add(kPropertyMsgRegion, processor.identity_.regionId);
            if (service::isStored(items.front().status)) {
                response.code = ResponseCode::Success;
                RecallMessageResponse{uniqueKey}.write(response.fields());
            } else {
                processor.recalls_.undo(key);
                response.code = ResponseCode::SystemError;
                response.remark = "recall failed, execute error";
                if (!failure.isOk()) response.remark += ": " + failure.message();
            }
            std::move(request).respond(std::move(response));
        }
        processor.end();
    }

private:
    RecallProcessor& processor_;

public:
    plugin::Request request;
    std::string topic;
    std::string uniqueKey;
    std::string key;
    std::string asked;        ///< properties as a producer would send them
    std::string properties;   ///< as they are stored
};

void RecallProcessor::process(plugin::Request request) {
    const auto header = RecallMessageRequest::parse(request.command());
    if (!header) return std::move(request).respond(ResponseCode::SystemError, header.error().message());
    auto answer = mayRecall();
    if (!answer) {
        Answer refused{};
        const auto handle = handleOf(header->topic, header->recallHandle, refused);
        answer = handle ? submit(request, *handle, header->producerGroup) : std::move(refused);
    }
    if (answer) std::move(request).respond(answer->code, std::move(answer->remark));
}

std::optional<RecallProcessor::Answer> RecallProcessor::mayRecall() const {
    if (!config_.recall) return Answer{ResponseCode::NoPermission, "recall failed, operation is forbidden"};
    if (identity_.brokerId != 0) return Answer{ResponseCode::SlaveNotAvailable, "recall failed, broker service not available"};
    if (!isWriteable(permission_.load(std::memory_order_relaxed)) && !config_.recallWhenNotWriteable) {
        return Answer{ResponseCode::ServiceNotAvailable, "recall failed, broker service not available"};
    }
    return std::nullopt;
}

Result<RecallHandle> RecallProcessor::handleOf(std::string_view topic, std::string_view text, Answer& answer) const {
    const auto refuse = [&answer](ResponseCode code, std::string remark) {
        answer = {code, std::move(remark)};
        return Status(StatusCode::InvalidArgument, answer.remark);
    };
    if (service::TopicFacts facts; !topics_.find(topic, facts)) {
        return refuse(ResponseCode::TopicNotExist, "recall failed, the topic[" + std::string(topic) + "] not exist");
    }
    auto handle = RecallHandle::decode(text);
    if (!handle) return refuse(ResponseCode::IllegalOperation, handle.error().message());
    if (handle->topic != topic) return refuse(ResponseCode::IllegalOperation, "recall failed, topic not match");
    if (handle->brokerName != identity_.brokerName) {
        return refuse(ResponseCode::IllegalOperation, "recall failed, broker service not available");
    }
    const std::int64_t left = handle->deliverMs - clock_.wallMs();
    if (left <= 0 || left >= config_.maxDelayMs) return refuse(ResponseCode::IllegalOperation, "recall failed, timestamp invalid");
    return handle;
}

std::optional<RecallProcessor::Answer> RecallProcessor::submit(plugin::Request& request, const RecallHandle& handle,
                                                               std::string_view producerGroup) {
    const std::string now = std::to_string(clock_.wallMs());
    auto append = std::make_unique<Append>(*this, plugin::Request());
    append->topic = handle.topic;
    append->uniqueKey = handle.uniqueKey;
    append->key = TimerMessage::recallKeyOf(handle.topic, handle.uniqueKey);
    Properties properties;
    properties.set(kPropertyTimerDelUniqueKey, append->key);
    properties.set(kPropertyUniqueKey, handle.uniqueKey);
    properties.set(kPropertyTimerDeliverMs, std::to_string(handle.deliverMs));
    properties.set(kPropertyTags, kRecallTag);
    properties.set(kPropertyBornTimestamp, now);
    properties.set(kPropertyProducerGroup, producerGroup);
    append->asked = properties.encode();

    service::AppendItem item;
    item.topic = append->topic;
    item.body = kRecallBody;
    item.properties = append->asked;
    item.bornHost = request.peer().remote();
    item.storeHost = identity_.storeHost;
    item.bornTimestamp = clock_.wallMs();
    item.tagsCode = tagsCode(kRecallTag);
    if (const Status prepared = rewrite_.prepare(item, append->properties); !prepared) {
        return Answer{ResponseCode::SystemError, "recall failed, execute error: " + prepared.message()};
    }
    append->items.push_back(item);
    switch (recalls_.recall(append->key, handle.deliverMs)) {
        case Recalls::Answer::Recalled: break;
        case Recalls::Answer::TooLate: return Answer{ResponseCode::IllegalOperation, "recall failed, timestamp invalid"};
        case Recalls::Answer::TooMany:
            return Answer{ResponseCode::SystemBusy, "recall failed, too many messages are called back already (timerPendingMax)"};
    }
    append->request = std::move(request);
    begin();
    // The append destroys itself when the store is done with it.
    store_.append(*append.release());
    return std::nullopt;
}

void RecallProcessor::begin() {
    const std::lock_guard lock(mutex_);
    ++inFlight_;
}

void RecallProcessor::end() noexcept {
    // The signal under the lock: whoever waits destroys this object next.
    const std::lock_guard lock(mutex_);
    if (--inFlight_ == 0) none_.notify_all();
}

void RecallProcessor::awaitIdle() noexcept {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return inFlight_ == 0; });
}

}  // namespace patchbay::plugins::timer

#include "SendBatch.h"

#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/protocol/message/PropertyNames.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace patchbay::plugins::send {

using protocol::ResponseCode;
using service::AppendItem;
using service::AppendStatus;

namespace {

// A batch object that grew for a burst must not keep that memory for ever.
constexpr std::size_t kKeptItems = 1024;
constexpr std::size_t kKeptBatches = 16;

ResponseCode codeOf(AppendStatus status) noexcept {
    switch (status) {
        case AppendStatus::PutOk: return ResponseCode::Success;
        case AppendStatus::FlushDiskTimeout: return ResponseCode::FlushDiskTimeout;
        case AppendStatus::FlushSlaveTimeout: return ResponseCode::FlushSlaveTimeout;
        case AppendStatus::SlaveNotAvailable: return ResponseCode::SlaveNotAvailable;
        case AppendStatus::ServiceNotAvailable: return ResponseCode::ServiceNotAvailable;
        case AppendStatus::MessageIllegal:
        case AppendStatus::PropertiesSizeExceeded: return ResponseCode::MessageIllegal;
        case AppendStatus::Busy: return ResponseCode::SystemBusy;
        case AppendStatus::Failed: break;
    }
    return ResponseCode::SystemError;
}

std::string remarkOf(AppendStatus status, const Status& failure, std::int64_t bodyBytesMax) {
    switch (status) {
        case AppendStatus::MessageIllegal:
        case AppendStatus::PropertiesSizeExceeded:
            return "the message is illegal, maybe msg body or properties length not matched. msg body length limit " +
                   std::to_string(bodyBytesMax) + "B, msg properties length limit 32KB.";
        case AppendStatus::ServiceNotAvailable: return "service not available now. " + failure.message();
        case AppendStatus::Busy: return "[PC_SYNCHRONIZED]broker busy, start flow control for a while, " + failure.message();
        default: return failure.isOk() ? "UNKNOWN_ERROR" : failure.message();
    }
}

/// What was sent and what is allowed, behind the sentence that clients know.
std::string sizesOf(std::span<const service::AppendItem> group) {
    std::size_t most = 0;
    for (const auto& item : group) most = std::max(most, item.properties.size() + item.brokerProperties.size());
    return " The properties with the broker's own have " + std::to_string(most) + " bytes, allowed are " +
           std::to_string(protocol::kRecordPropertiesBytesMax) + ".";
}

}  // namespace

void AnswerFacts::write(protocol::FieldList& fields) const {
    fields.add(protocol::kPropertyMsgRegion, region);
    fields.add(protocol::kPropertyTraceSwitch, traceOn);
}

void SendBatch::add(plugin::Request request, std::size_t itemCount, std::string_view uniqueKey, bool batch,
                    std::int32_t queueId, std::string_view recallHandle) {
    const auto first = static_cast<std::uint32_t>(items.size() - itemCount);
    sent_.push_back({std::move(request), uniqueKey, recallHandle, first, static_cast<std::uint32_t>(itemCount), queueId, batch});
}

void SendBatch::answer(Sent& sent) {
    const AppendItem& first = items[sent.firstItem];
    const AnswerFacts& facts = pool_.facts();
    plugin::Response response;
    auto& fields = response.fields();
    facts.write(fields);
    response.code = codeOf(first.status);
    if (!service::isStored(first.status)) {
        response.remark = remarkOf(first.status, failure, facts.bodyBytesMax);
        if (first.status == AppendStatus::PropertiesSizeExceeded) {
            response.remark += sizesOf(std::span(items).subspan(sent.firstItem, sent.itemCount));
        }
        if (sent.request.command().isOneway()) pool_.untold(sent.request, response.remark);
        std::move(sent.request).respond(std::move(response));
        return;
    }
    char id[protocol::kMessageIdCharsV6];
    if (!sent.batch) {
        fields.add("msgId", std::string_view(id, protocol::writeMessageId(id, first.storeHost, first.physicalOffset)));
    } else {
        std::string ids;
        ids.reserve(sent.itemCount * (protocol::kMessageIdCharsV4 + 1));
        for (std::uint32_t i = 0; i < sent.itemCount; ++i) {
            if (i > 0) ids += ',';
            const AppendItem& item = items[sent.firstItem + i];
            ids.append(id, protocol::writeMessageId(id, item.storeHost, item.physicalOffset));
        }
        fields.add("msgId", ids);
    }
    fields.add("queueId", sent.queueId);
    fields.add("queueOffset", first.queueOffset);
    if (!sent.uniqueKey.empty()) fields.add("transactionId", sent.uniqueKey);
    if (!sent.recallHandle.empty()) fields.add("recallHandle", sent.recallHandle);
    if ((first.sysFlag & protocol::kSysFlagInnerBatch) != 0) fields.add("batchUniqId", sent.uniqueKey);
    std::move(sent.request).respond(std::move(response));
}

void SendBatch::done() noexcept {
    for (auto& sent : sent_) answer(sent);
    pool_.giveBack(this);
}

void SendBatch::reset() noexcept {
    if (items.capacity() > kKeptItems) {
        std::vector<AppendItem>().swap(items);
        std::vector<Sent>().swap(sent_);
    }
    items.clear();
    sent_.clear();
    if (!texts_.empty()) std::deque<std::string>().swap(texts_);
    bodyBytes_ = 0;
    submittedAt_.store({}, std::memory_order_relaxed);
    failure = Status::ok();
}

SendBatch* SendBatchPool::take() {
    const std::lock_guard lock(mutex_);
    SendBatch* batch = nullptr;
    if (free_.empty()) {
        all_.push_back(std::make_unique<SendBatch>(*this));
        batch = all_.back().get();
    } else {
        batch = free_.back();
        free_.pop_back();
    }
    batch->older_ = std::exchange(newest_, batch);
    (batch->older_ != nullptr ? batch->older_->newer_ : oldest_) = batch;
    return batch;
}

std::chrono::milliseconds SendBatchPool::oldestWait() noexcept {
    const MonotonicTime now = clock_.now();
    const std::lock_guard lock(mutex_);
    // Each lane fills one at most; all others were submitted, nearly in this order.
    const SendBatch* batch = oldest_;
    while (batch != nullptr && batch->submittedAt_.load(std::memory_order_relaxed) == MonotonicTime()) batch = batch->newer_;
    if (batch == nullptr) return {};
    const auto waited = now - batch->submittedAt_.load(std::memory_order_relaxed);
    return std::max(std::chrono::milliseconds(0), std::chrono::duration_cast<std::chrono::milliseconds>(waited));
}

void SendBatchPool::untold(const plugin::Request& request, std::string_view remark) noexcept {
    untold_.add();
    log_.limited(plugin::LogLevel::Warn, "a one-way message was refused, which its producer is not told",
                 {{"client", request.peer().remote().toString()}, {"reason", remark}});
}

void SendBatchPool::giveBack(SendBatch* batch) noexcept {
    const auto items = static_cast<std::int64_t>(batch->items.size());
    batch->reset();
    // Everything under the lock, the signal too: whoever waits for idleness destroys this object next.
    const std::lock_guard lock(mutex_);
    (batch->older_ != nullptr ? batch->older_->newer_ : oldest_) = batch->newer_;
    (batch->newer_ != nullptr ? batch->newer_->older_ : newest_) = batch->older_;
    batch->older_ = batch->newer_ = nullptr;
    if (free_.size() < kKeptBatches) {
        free_.push_back(batch);
    } else {
        std::erase_if(all_, [batch](const auto& owned) { return owned.get() == batch; });
    }
    if (inFlight_.fetch_sub(items, std::memory_order_relaxed) == items) idle_.notify_all();
}

void SendBatchPool::awaitIdle() noexcept {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return inFlight() == 0; });
}

}  // namespace patchbay::plugins::send

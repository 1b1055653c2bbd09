#include "EndProcessor.h"

#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/message/SysFlag.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <utility>

namespace patchbay::plugins::transaction {

using plugin::Response;
using protocol::ResponseCode;
using service::AppendStatus;

namespace {

constexpr std::int32_t kUnknown = protocol::kSysFlagNotTransactional;
constexpr std::int32_t kCommit = protocol::kSysFlagCommit;
constexpr std::int32_t kRollback = protocol::kSysFlagRollback;
// RocketMQ's answer to a rollback, by which nobody can be misled: its code is 0.
constexpr std::string_view kRolledBackRemark = "not set any response code";
constexpr std::string_view kNotFoundRemark = "Find prepared transaction message failed";
constexpr std::string_view kResumeRemark = "Exception was thrown when putting message back to RMQ_SYS_TRANS_HALF_TOPIC.";

Response answerTo(AppendStatus status, const Status& failure) {
    switch (status) {
        case AppendStatus::ServiceNotAvailable:
            return Response(ResponseCode::ServiceNotAvailable, "Service not available now. " + failure.message());
        case AppendStatus::MessageIllegal:
        case AppendStatus::PropertiesSizeExceeded:
            return Response(ResponseCode::MessageIllegal,
                            "The message is illegal, maybe msg body or properties length not matched. msg properties length limit 32KB.");
        case AppendStatus::Busy: return Response(ResponseCode::SystemError, "OS page cache busy, please try another machine");
        default: return Response(ResponseCode::SystemError, failure.isOk() ? "UNKNOWN_ERROR" : failure.message());
    }
}

bool isDelayed(const HalfMessage& half) noexcept {
    std::int32_t level = 0;
    std::from_chars(half.delayLevel.data(), half.delayLevel.data() + half.delayLevel.size(), level);
    return half.timed || level > 0;
}

}  // namespace

/// What one turn of a lane appends. Owned by the lane until it is submitted, then by itself, until done().
class EndProcessor::Batch final : public service::AppendBatch {
public:
    explicit Batch(EndProcessor& owner) : owner_(owner) {}

    void commit(LoadedHalf found, service::AppendItem item, plugin::Request request) {
        items.push_back(item);
        works_.push_back({std::move(request), std::move(found), false});
    }
    void resume(LoadedHalf found, service::AppendItem item, plugin::Request request) {
        items.push_back(item);
        works_.push_back({std::move(request), std::move(found), true});
    }
    std::string_view keepText(std::string text) { return texts_.emplace_back(std::move(text)); }

    void done() noexcept override {
        std::unique_ptr<Batch> self(this);
        EndProcessor& owner = owner_;
        for (std::size_t i = 0; i < items.size(); ++i) {
            works_[i].resumed ? answerResumed(works_[i], items[i]) : answerCommitted(works_[i], items[i]);
        }
        owner.ops_.write();
        self.reset();
        owner.inFlight_.leave();
    }

private:
    struct Work {
        plugin::Request request;
        LoadedHalf found;
        bool resumed;
    };

    void answerCommitted(Work& work, const service::AppendItem& item) {
        const HalfMessage& half = work.found.half;
        const std::int64_t offset = half.record.queueOffset;
        if (!service::isStored(item.status)) {
            owner_.table_.reopen(offset);
            owner_.context_.log().limited(plugin::LogLevel::Error, "a commit could not be stored, its message stays open",
                                          {{"topic", half.realTopic}, {"half", offset}, {"problem", failure.message()}});
            std::move(work.request).respond(answerTo(item.status, failure));
            return;
        }
        owner_.table_.end(offset, half.copied ? half.key() : std::string());
        owner_.ops_.add(offset);
        owner_.commits_.add();
        std::move(work.request).respond(Response(ResponseCode::Success));
    }

    void answerResumed(Work& work, const service::AppendItem& item) {
        if (!service::isStored(item.status)) {
            std::move(work.request).respond(ResponseCode::SystemError, "Put message back to RMQ_SYS_TRANS_HALF_TOPIC failed.");
            return;
        }
        owner_.table_.addCopy(work.found.half.key(), {item.queueOffset, item.physicalOffset});
        std::move(work.request).respond(Response(ResponseCode::Success));
    }

    EndProcessor& owner_;
    std::vector<Work> works_;
    std::deque<std::string> texts_;  // a deque: handed-out views stay valid
};

EndProcessor::EndProcessor(service::MessageStore& store, service::DelaySchedule* delay, TransactionTable& table, OpLog& ops,
                           const TransactionConfig& config, plugin::PluginContext& context)
    : store_(store), delay_(delay), table_(table), ops_(ops), config_(config), context_(context),
      commits_(context.metrics().counter("transaction_commits_total", "Transactions that were committed.")),
      rollbacks_(context.metrics().counter("transaction_rollbacks_total", "Transactions that were rolled back.")),
      lanes_(context.laneCount()) {}

EndProcessor::~EndProcessor() = default;

void EndProcessor::process(plugin::Request request) {
    if (request.command().code == static_cast<std::int32_t>(protocol::RequestCode::EndTransaction)) {
        endTransaction(std::move(request));
    } else {
        resume(std::move(request));
    }
}

void EndProcessor::endOfBatch(plugin::Lane lane) noexcept {
    if (lanes_[lane]) {
        inFlight_.enter();
        store_.append(*lanes_[lane].release());
    }
    ops_.write();
}

EndProcessor::Batch& EndProcessor::batchOf(plugin::Lane lane) {
    if (!lanes_[lane]) lanes_[lane] = std::make_unique<Batch>(*this);
    return *lanes_[lane];
}

void EndProcessor::endTransaction(plugin::Request request) {
    const auto header = protocol::EndTransactionRequest::parse(request.command());
    if (!header) {
        std::move(request).respond(ResponseCode::SystemError, header.error().message());
        return;
    }
    const std::int32_t wish = header->commitOrRollback;
    if (wish != kUnknown && wish != kCommit && wish != kRollback) {
        std::move(request).respond(ResponseCode::SystemError, "commitOrRollback field wrong");
        return;
    }
    if (context_.identity().brokerId != 0) {
        std::move(request).respond(Response(ResponseCode::SlaveNotAvailable));
        return;
    }
    if (wish == kUnknown) {
        std::move(request).respond(Response(ResponseCode::Success));
        return;
    }
    auto found = load(request, {header->tranStateTableOffset, header->commitLogOffset});
    if (!found && !request.deferred()) return std::move(request).defer();
    if (!found) {
        std::move(request).respond(ResponseCode::SystemError, std::string(kNotFoundRemark));
        return;
    }
    if (auto refused = refusal(*header, found->half)) {
        std::move(request).respond(std::move(*refused));
        return;
    }
    if (!take(*found, wish == kCommit, request)) return;
    if (wish == kCommit) commit(std::move(*found), std::move(request));
    else rollBack(*found, std::move(request));
}

std::optional<LoadedHalf> EndProcessor::load(std::int64_t physicalOffset) const {
    auto record = store_.at(physicalOffset);
    protocol::RecordView view;
    if (!record || protocol::RecordView::parse(record->bytes, view) != protocol::RecordStatus::Message) return std::nullopt;
    return LoadedHalf{std::move(*record), HalfMessage::of(view)};
}

std::optional<LoadedHalf> EndProcessor::load(const plugin::Request& request, const TransactionTable::Place& place) const {
    if (request.deferred()) return load(place.physicalOffset);
    service::ReadLimits limits;
    limits.messagesMax = 1;
    limits.hotOnly = true;
    service::ReadResult result;
    store_.read(protocol::kTopicTransHalf, kQueueId, place.offset, limits, nullptr, result);
    protocol::RecordView view;
    if (result.status != service::ReadStatus::Found || result.pieces.size() != 1 || result.keep.size() != 1) return std::nullopt;
    if (protocol::RecordView::parse(result.pieces[0], view) != protocol::RecordStatus::Message) return std::nullopt;
    if (view.physicalOffset != place.physicalOffset) return std::nullopt;
    return LoadedHalf{{result.pieces[0], std::move(result.keep[0])}, HalfMessage::of(view)};
}

std::optional<Response> EndProcessor::refusal(const protocol::EndTransactionRequest& header, const HalfMessage& half) const {
    if (half.record.topic != protocol::kTopicTransHalf) return Response(ResponseCode::SystemError, std::string(kNotFoundRemark));
    if (const auto immunity = half.immunityMs(config_.timeoutMs); immunity && !header.fromTransactionCheck) {
        const std::int64_t age = context_.clock().wallMs() - half.record.bornTimestamp;
        if (age > std::max<std::int64_t>(*immunity, config_.timeoutMs)) {
            return Response(ResponseCode::IllegalOperation, "too late, the producer is being asked for the state of this transaction");
        }
    }
    if (half.group.empty() || half.group != header.producerGroup) return Response(ResponseCode::SystemError, "The producer group wrong");
    if (half.record.queueOffset != header.tranStateTableOffset) {
        return Response(ResponseCode::SystemError, "The transaction state table offset wrong");
    }
    if (half.record.physicalOffset != header.commitLogOffset) {
        return Response(ResponseCode::SystemError, "The commit log offset wrong");
    }
    if (!half.isUsable()) return Response(ResponseCode::SystemError, std::string(kNotFoundRemark));
    return std::nullopt;
}

bool EndProcessor::take(LoadedHalf& found, bool commit, plugin::Request& request) {
    for (;;) {
        const std::int64_t offset = found.half.record.queueOffset;
        switch (table_.claim(offset, request)) {
            case Claim::Taken: return true;
            case Claim::Held: return false;
            case Claim::InProgress: break;
            case Claim::Ended: {
                // The producer speaks of a place from which the message was copied forward.
                const auto copy = table_.copyOf(found.half.key());
                if (!copy || copy->offset <= offset) break;
                auto loaded = load(request, *copy);
                if (!loaded && !request.deferred()) {
                    std::move(request).defer();
                    return false;
                }
                if (!loaded) break;
                found = std::move(*loaded);
                continue;
            }
        }
        std::move(request).respond(ResponseCode::Success, commit ? std::string() : std::string(kRolledBackRemark));
        return false;
    }
}

void EndProcessor::commit(LoadedHalf found, plugin::Request request) {
    const HalfMessage& half = found.half;
    Batch& batch = batchOf(request.lane());
    service::AppendItem item = half.item(half.realTopic, half.realQueueId, half.record.properties);
    item.sysFlag = protocol::withTransactionType(item.sysFlag, protocol::kSysFlagCommit);
    item.preparedTransactionOffset = half.record.physicalOffset;
    if (isDelayed(half)) {
        std::string properties;
        const Status prepared = delay_ != nullptr ? delay_->prepare(item, properties)
                                : Status(StatusCode::Unavailable, "no plugin provides patchbay.DelaySchedule");
        if (!prepared) {
            table_.reopen(half.record.queueOffset);
            std::move(request).respond(ResponseCode::MessageIllegal, prepared.message());
            return;
        }
        if (!properties.empty()) item.properties = batch.keepText(std::move(properties));
    }
    batch.commit(std::move(found), item, std::move(request));
}

void EndProcessor::rollBack(const LoadedHalf& found, plugin::Request request) {
    const HalfMessage& half = found.half;
    table_.end(half.record.queueOffset, half.copied ? half.key() : std::string());
    ops_.add(half.record.queueOffset);
    rollbacks_.add();
    std::move(request).respond(ResponseCode::Success, std::string(kRolledBackRemark));
}

void EndProcessor::resume(plugin::Request request) {
    const auto id = protocol::MessageId::parse(request.command().find("msgId").value_or(std::string_view()));
    auto found = id ? load(id->physicalOffset) : std::nullopt;
    const bool half = found && found->half.isUsable() && (found->half.record.topic == protocol::kTopicTransHalf ||
                                                          found->half.record.topic == protocol::kTopicTransCheckMaxTime);
    if (!half) {
        std::move(request).respond(ResponseCode::SystemError, std::string(kResumeRemark));
        return;
    }
    const std::int64_t offset = found->half.record.queueOffset;
    if (found->half.record.topic == protocol::kTopicTransHalf && table_.nextOpen(offset, offset + 1) == offset) {
        std::move(request).respond(Response(ResponseCode::Success));  // it is being asked about anyway
        return;
    }
    protocol::Properties properties(found->half.record.properties);
    properties.set(protocol::kPropertyTransactionCheckTimes, "0");
    Batch& batch = batchOf(request.lane());
    const auto item = found->half.item(protocol::kTopicTransHalf, kQueueId, batch.keepText(properties.encode()));
    batch.resume(std::move(*found), item, std::move(request));
}

}  // namespace patchbay::plugins::transaction

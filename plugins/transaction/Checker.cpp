#include "Checker.h"

#include "patchbay/protocol/headers/Transaction.h"
#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/message/Properties.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <string>
#include <utility>

namespace patchbay::plugins::transaction {

using protocol::kTopicTransCheckMaxTime;
using protocol::kTopicTransHalf;

namespace {

constexpr std::size_t kCopiesMax = 64;           // in one append
constexpr std::size_t kCopyBytesMax = 4U << 20;
constexpr std::int32_t kSetAsideQueues = 1;
constexpr std::int32_t kSetAsidePerm = static_cast<std::int32_t>(protocol::kPermRead | protocol::kPermWrite);

}  // namespace

/// Copies of half messages on their way into the store. Owned by itself from append() to done().
class Checker::Copies final : public service::AppendBatch {
public:
    explicit Copies(Checker& owner) : owner_(owner) {}

    [[nodiscard]] bool isFull() const noexcept { return entries_.size() >= kCopiesMax || bytes_ >= kCopyBytesMax; }
    [[nodiscard]] bool isEmpty() const noexcept { return entries_.empty(); }

    void add(const HalfMessage& half, Purpose purpose, std::string properties) {
        Entry& entry = entries_.emplace_back();
        entry.purpose = purpose;
        entry.record = half.record.bytes;
        protocol::RecordView view;
        const auto same = protocol::RecordView::parse(entry.record, view, protocol::RecordCheck::Layout);
        PATCHBAY_ASSERT(same == protocol::RecordStatus::Message);
        entry.half = HalfMessage::of(view);
        entry.properties = std::move(properties);
        bytes_ += entry.record.size();
        const bool stays = purpose == Purpose::Ask || purpose == Purpose::Postpone;
        service::AppendItem item = entry.half.item(stays ? kTopicTransHalf : kTopicTransCheckMaxTime, kQueueId, entry.properties);
        item.waitStored = false;
        items.push_back(item);
    }

    void done() noexcept override {
        std::unique_ptr<Copies> self(this);
        Checker& owner = owner_;
        for (std::size_t i = 0; i < items.size(); ++i) settle(entries_[i], items[i]);
        for (auto& request : owner.table_.release()) std::move(request).redispatch();
        owner.ops_.write();
        if (!owner.draining_.load(std::memory_order_acquire)) owner.context_.timers().post([&owner] { owner.step(); });
        self.reset();
        owner.inFlight_.leave();
    }

private:
    struct Entry {
        Purpose purpose;
        std::string record;
        HalfMessage half;
        std::string properties;
    };

    void settle(Entry& entry, const service::AppendItem& item) {
        const HalfMessage& half = entry.half;
        const std::int64_t offset = half.record.queueOffset;
        if (!service::isStored(item.status)) {
            owner_.table_.reopen(offset);
            owner_.context_.log().limited(plugin::LogLevel::Error, "a half message could not be copied, the next round tries again",
                                          {{"half", offset}, {"problem", failure.message()}});
            return;
        }
        if (entry.purpose == Purpose::Ask || entry.purpose == Purpose::Postpone) {
            owner_.table_.moved(offset, half.key(), {item.queueOffset, item.physicalOffset});
        } else {
            owner_.table_.end(offset, half.copied ? half.key() : std::string());
            (entry.purpose == Purpose::Bad ? owner_.bad_ : owner_.setAside_).add();
            owner_.context_.log().limited(plugin::LogLevel::Warn, "a transaction was given up, its message is in TRANS_CHECK_MAX_TIME_TOPIC",
                                          {{"topic", half.realTopic}, {"group", half.group}, {"key", half.uniqueKey},
                                           {"checks", half.checks}});
        }
        owner_.ops_.add(offset);
        if (entry.purpose == Purpose::Ask) owner_.ask(half, item);
    }

    Checker& owner_;
    std::deque<Entry> entries_;  // a deque: items point into them
    std::size_t bytes_ = 0;
};

Checker::Checker(const CheckerServices& services, TransactionTable& table, OpLog& ops, const TransactionConfig& config,
                 plugin::PluginContext& context)
    : services_(services), table_(table), ops_(ops), config_(config), context_(context),
      asked_(context.metrics().counter("transaction_checks_total", "Questions about open transactions.")),
      setAside_(context.metrics().counter("transaction_given_up_total", "Transactions whose producer never decided.")),
      bad_(context.metrics().counter("transaction_bad_half_total", "Half messages that nobody could be asked about.")),
      scan_(services.store, kTopicTransHalf) {}

void Checker::arm() {
    // The store of a replica takes no messages; its master asks.
    if (context_.identity().brokerId != 0) return;
    if (armed_.load(std::memory_order_relaxed) || armed_.exchange(true, std::memory_order_acq_rel)) return;
    context_.timers().after(std::chrono::milliseconds(config_.intervalMs.load()), [this] { begin(); });
}

void Checker::begin() {
    nowMs_ = context_.clock().wallMs();
    cursor_ = table_.advance();
    // Copies that this round makes lie behind its end and are left to the next one.
    roundEnd_ = table_.endOffset();
    step();
}

void Checker::step() {
    if (draining_.load(std::memory_order_acquire)) return;
    auto copies = std::make_unique<Copies>(*this);
    while (!copies->isFull()) {
        cursor_ = table_.nextOpen(cursor_, roundEnd_);
        if (cursor_ >= roundEnd_ || !scan_.read(cursor_)) {
            cursor_ = roundEnd_;
            break;
        }
        if (scan_.records().empty()) table_.endRange(cursor_, scan_.next());  // the store has dropped them
        std::int64_t next = scan_.next();
        for (const auto& scanned : scan_.records()) {
            if (scanned.offset >= roundEnd_) break;
            if (copies->isFull()) {
                next = scanned.offset;
                break;
            }
            consider(scanned, *copies);
        }
        cursor_ = next;
    }
    if (copies->isEmpty()) {
        finish();
        return;
    }
    inFlight_.enter();
    services_.store.append(*copies.release());
}

void Checker::consider(const ScannedRecord& scanned, Copies& copies) {
    if (table_.nextOpen(scanned.offset, scanned.offset + 1) != scanned.offset) return;
    if (!scanned.view) {
        table_.endRange(scanned.offset, scanned.offset + 1);
        bad_.add();
        context_.log().error("a half message is damaged and was passed over", {{"half", scanned.offset}});
        return;
    }
    const HalfMessage half = HalfMessage::of(*scanned.view);
    if (!half.isUsable()) return add(half, Purpose::Bad, copies);
    const std::int64_t reserved = config_.reservedMs;
    if (half.checks >= config_.checksMax || (reserved > 0 && nowMs_ - half.record.storeTimestamp > reserved)) {
        return add(half, Purpose::SetAside, copies);
    }
    const std::int64_t age = nowMs_ - half.record.bornTimestamp;
    const auto immunity = half.immunityMs(config_.timeoutMs);
    // A negative age is a producer's clock that is ahead: waiting for it might take for ever.
    if (age >= 0 && age <= immunity.value_or(config_.timeoutMs)) {
        // A long immunity must not hold up the front of the queue, which is as far as a restart has to read back.
        if (immunity) add(half, Purpose::Postpone, copies);
        return;
    }
    add(half, Purpose::Ask, copies);
}

void Checker::add(const HalfMessage& half, Purpose purpose, Copies& copies) {
    const bool aside = purpose == Purpose::SetAside || purpose == Purpose::Bad;
    if (aside && !services_.topics.createIfMissing(kTopicTransCheckMaxTime, kSetAsideQueues, kSetAsidePerm, 0)) return;
    if (!table_.beginMove(half.record.queueOffset)) return;
    if (aside) return copies.add(half, purpose, std::string(half.record.properties));
    protocol::Properties properties(half.record.properties);
    properties.set(protocol::kPropertyWaitStoreOk, "false");
    if (purpose == Purpose::Ask) {
        properties.set(protocol::kPropertyTransactionCheckTimes, std::to_string(half.checks + 1));
    } else if (!half.preparedOffset) {
        properties.set(protocol::kPropertyPreparedQueueOffset, std::to_string(half.record.queueOffset));
    }
    copies.add(half, purpose, properties.encode());
}

void Checker::ask(const HalfMessage& half, const service::AppendItem& copy) noexcept {
    asked_.add();
    const auto producers = services_.clients.producers(half.group);
    if (producers.empty()) return;

    char id[protocol::kMessageIdCharsV6];
    protocol::CheckTransactionStateRequest header;
    header.topic = kTopicTransHalf;
    header.tranStateTableOffset = copy.queueOffset;
    header.commitLogOffset = copy.physicalOffset;
    header.msgId = header.transactionId = half.uniqueKey;
    header.offsetMsgId = std::string_view(id, protocol::writeMessageId(id, copy.storeHost, copy.physicalOffset));
    header.brokerName = context_.identity().brokerName;
    protocol::RemotingCommand question = protocol::RemotingCommand::request(protocol::RequestCode::CheckTransactionState);
    question.setHeader(header);

    protocol::RecordFields fields = half.record.fields();
    fields.topic = half.realTopic;
    fields.queueId = half.realQueueId;
    fields.properties = copy.properties;
    fields.queueOffset = copy.queueOffset;
    fields.physicalOffset = copy.physicalOffset;
    question.body.resize(protocol::recordSize(fields));
    protocol::encodeRecord(question.body.data(), fields);

    const std::size_t first = turn_.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < producers.size(); ++i) {
        const auto& peer = producers[(first + i) % producers.size()].peer;
        if (peer && peer->isOpen() && peer->push(question)) return;
    }
}

void Checker::finish() {
    keepProgress();
    armed_.store(false, std::memory_order_release);
    if (table_.open() > 0) arm();
}

void Checker::keepProgress() {
    const std::int64_t base = table_.advance();
    const std::int64_t op = ops_.firstNeeded(base);
    const std::pair<std::string_view, std::int64_t> progress[] = {{kTopicTransHalf, base}, {protocol::kTopicTransOpHalf, op}};
    const auto isKept = [this](const auto& one) { return services_.offsets.query(kProgressGroup, one.first, kQueueId) == one.second; };
    if (std::ranges::all_of(progress, isKept)) return;
    // Nobody looks at half messages below the progress again, so a power cut must not take the copies that stand for them.
    if (const Status flushed = services_.store.flush(); !flushed) {
        context_.log().limited(plugin::LogLevel::Error, "the progress of transactions is not kept, the store cannot be flushed",
                               {{"problem", flushed.message()}});
        return;
    }
    for (const auto& [topic, offset] : progress) services_.offsets.commit({}, kProgressGroup, topic, kQueueId, offset);
}

void Checker::stop() noexcept {
    inFlight_.awaitNone();
    ops_.finish();
    keepProgress();
}

}  // namespace patchbay::plugins::transaction

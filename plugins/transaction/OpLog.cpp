#include "OpLog.h"

#include "HalfMessage.h"

#include "patchbay/protocol/message/Names.h"
#include "patchbay/protocol/util/Hash.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace patchbay::plugins::transaction {

namespace {

constexpr std::string_view kOpProperties = "TAGS\1d\2WAIT\1true\2";
constexpr std::string_view kOpTag = "d";
constexpr std::chrono::seconds kRetryAfter{1};
constexpr std::size_t kOffsetBytesMax = 20;

}  // namespace

OpLog::OpLog(service::MessageStore& store, plugin::PluginContext& context, std::int32_t bodyBytesMax)
    : store_(store), context_(context), bodyBytesMax_(static_cast<std::size_t>(bodyBytesMax)) {}

bool OpLog::parseOffset(std::string_view text, std::int64_t& offset) noexcept {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), offset);
    return !text.empty() && error == std::errc() && end == text.data() + text.size() && offset >= 0;
}

void OpLog::add(std::int64_t halfOffset) {
    const std::lock_guard lock(mutex_);
    pending_.push_back(halfOffset);
}

bool OpLog::fill() {
    if (pending_.empty()) return false;
    items.clear();
    writing_.clear();
    bodies_.clear();
    failure = Status::ok();
    for (const std::int64_t offset : pending_) {
        if (bodies_.empty() || bodies_.back().size() + kOffsetBytesMax > bodyBytesMax_) {
            bodies_.emplace_back();
            writing_.emplace_back();
        }
        bodies_.back() += std::to_string(offset);
        bodies_.back() += ',';
        writing_.back().push_back(offset);
    }
    pending_.clear();
    const auto& identity = context_.identity();
    for (const auto& body : bodies_) {
        service::AppendItem& item = items.emplace_back();
        item.topic = protocol::kTopicTransOpHalf;
        item.queueId = kQueueId;
        item.body = body;
        item.properties = kOpProperties;
        item.tagsCode = protocol::tagsCode(kOpTag);
        item.bornHost = item.storeHost = identity.storeHost;
        item.bornTimestamp = context_.clock().wallMs();
    }
    return true;
}

void OpLog::write() noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (underWay_ || retrying_ || !fill()) return;
        underWay_ = true;
    }
    store_.append(*this);
}

bool OpLog::collect() {
    bool stored = true;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (service::isStored(items[i].status)) {
            written_.push_back({items[i].queueOffset, *std::ranges::max_element(writing_[i])});
            end_ = std::max(end_, items[i].queueOffset + 1);
        } else {
            stored = false;
            pending_.insert(pending_.begin(), writing_[i].begin(), writing_[i].end());
        }
    }
    return stored;
}

void OpLog::done() noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (!collect()) {
            context_.log().limited(plugin::LogLevel::Error, "ended transactions cannot be written down",
                                   {{"transactions", pending_.size()}, {"problem", failure.message()}});
            retrying_ = true;
            if (!finished_) context_.timers().after(kRetryAfter, [this] { retry(); });
        }
        if (retrying_ || !fill()) {
            underWay_ = false;
            idle_.notify_all();
            return;
        }
    }
    store_.append(*this);
}

void OpLog::retry() noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (finished_) return;
        retrying_ = false;
    }
    write();
}

void OpLog::finish() noexcept {
    {
        const std::lock_guard lock(mutex_);
        finished_ = true;
        retrying_ = false;
    }
    write();
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return !underWay_; });
}

void OpLog::recovered(std::int64_t opOffset, std::int64_t highestHalf) {
    const std::lock_guard lock(mutex_);
    written_.push_back({opOffset, highestHalf});
}

void OpLog::recoveredTo(std::int64_t end) {
    const std::lock_guard lock(mutex_);
    end_ = end;
}

std::int64_t OpLog::firstNeeded(std::int64_t base) {
    const std::lock_guard lock(mutex_);
    while (!written_.empty() && written_.front().highestHalf < base) written_.pop_front();
    return written_.empty() ? end_ : written_.front().offset;
}

}  // namespace patchbay::plugins::transaction

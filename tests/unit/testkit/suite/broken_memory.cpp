// Stores without files, each broken in one way: suite_test says which case of the contract suite has to find which.
#include "Passing.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>

namespace patchbay::test {

namespace {

using service::AppendStatus;
using service::ReadStatus;
using Records = std::span<const service::AppendedRecord>;

/// Tells its listeners itself, as the derived class wants it.
class TellsItself : public Passing, protected service::AppendListener {
public:
    TellsItself(service::MessageStore& below, const testkit::StoreOptions& options) : Passing(below, options) { below_.addListener(*this); }
    ~TellsItself() override { below_.removeListener(*this); }
    void addListener(service::AppendListener& listener) override {
        const std::lock_guard lock(mutex_);
        listeners_.push_back(&listener);
    }
    void removeListener(service::AppendListener& listener) noexcept override {
        const std::lock_guard lock(mutex_);
        std::erase(listeners_, &listener);
    }

protected:
    void appended(Records records) noexcept override {
        const std::lock_guard lock(mutex_);
        tell(listeners_, records);
    }
    static void tell(const std::vector<service::AppendListener*>& listeners, Records records) noexcept {
        for (auto* listener : listeners) listener->appended(records);
    }

    std::mutex mutex_;
    std::vector<service::AppendListener*> listeners_;
};

class TellsRemovedListeners final : public TellsItself {
    using TellsItself::TellsItself;
    void removeListener(service::AppendListener&) noexcept override {}
};

class RemovesListenersWithoutWaiting final : public TellsItself {
    using TellsItself::TellsItself;
    void appended(Records records) noexcept override {
        std::vector<service::AppendListener*> now;
        {
            const std::lock_guard lock(mutex_);
            now = listeners_;
        }
        tell(now, records);
    }
};

class TellsBeforeItCanBeRead final : public TellsItself {
    using TellsItself::TellsItself;
    void appended(Records records) noexcept override {
        telling_ = true;
        TellsItself::appended(records);
        telling_ = false;
    }
    void read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
              const service::ReadFilter* filter, service::ReadResult& result) noexcept override {
        Passing::read(topic, queueId, offset, telling_ ? service::ReadLimits{.messagesMax = 0} : limits, filter, result);
        if (!telling_) return;
        result.clear();
        result.status = ReadStatus::OffsetAtEnd;
        result.nextOffset = offset;
    }
    std::atomic<bool> telling_{false};
};

template <typename Change>
class TellsWrong : public TellsItself {
    using TellsItself::TellsItself;
    void appended(Records records) noexcept override {
        std::vector<service::AppendedRecord> changed(records.begin(), records.end());
        for (auto& record : changed) Change()(record);
        TellsItself::appended(changed);
    }
};
struct WrongPhysicalOffset { void operator()(service::AppendedRecord& record) const noexcept { record.physicalOffset = record.queueOffset; } };
struct WrongTagsCode { void operator()(service::AppendedRecord& record) const noexcept { record.tagsCode = 0; } };
struct WrongTime { void operator()(service::AppendedRecord& record) const noexcept { record.storeTimestamp += 1000; } };
struct WrongSize { void operator()(service::AppendedRecord& record) const noexcept { record.recordBytes -= 4; } };
using TellsWrongPhysicalOffsets = TellsWrong<WrongPhysicalOffset>;
using TellsWrongTagsCodes = TellsWrong<WrongTagsCode>;
using TellsWrongTimes = TellsWrong<WrongTime>;
using TellsWrongSizes = TellsWrong<WrongSize>;

class AnswersTwice final : public Passing {
    using Passing::Passing;
    void append(service::AppendBatch& batch) noexcept override {
        below_.append(batch);
        batch.done();
    }
};

class NeverTrims final : public Passing {
    using Passing::Passing;
    Status trim(std::int64_t) override { return Status::ok(); }
};

class TrimsBackwards final : public Passing {
    using Passing::Passing;
    Status trim(std::int64_t physicalOffset) override {
        last_ = std::min(physicalOffset, below_.stats().maxPhysicalOffset);
        return below_.trim(physicalOffset);
    }
    [[nodiscard]] service::StoreStats stats() const override {
        auto stats = below_.stats();
        stats.minPhysicalOffset = last_;
        return stats;
    }
    std::int64_t last_ = 0;
};

class TrimsWhatComesLater final : public Passing {
    using Passing::Passing;
    Status trim(std::int64_t physicalOffset) override {
        until_ = std::max(until_, physicalOffset);
        return below_.trim(physicalOffset);
    }
    void read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
              const service::ReadFilter* filter, service::ReadResult& result) noexcept override {
        (void)below_.trim(until_);
        Passing::read(topic, queueId, offset, limits, filter, result);
    }
    std::int64_t until_ = 0;
};

class FindsKeysOfDeletedTopics final : public Passing {
    using Passing::Passing;
    [[nodiscard]] Result<service::KeyHits> findByKey(const service::KeyQuery& query) const override {
        auto found = below_.findByKey(query);
        for (const auto& hit : gone_) found->hits.push_back(hit);
        return found;
    }
    Status deleteTopic(std::string_view topic) override {
        const auto found = below_.findByKey({.topic = topic, .key = "k", .endMs = std::numeric_limits<std::int64_t>::max()});
        if (found) gone_.insert(gone_.end(), found->hits.begin(), found->hits.end());
        return below_.deleteTopic(topic);
    }
    std::vector<service::KeyHit> gone_;
};

class KnowsRefusedTopics final : public Passing {
    using Passing::Passing;
    void append(service::AppendBatch& batch) noexcept override {
        for (const auto& item : batch.items) {
            if (item.body.size() > (4U << 20)) refused_.push_back({std::string(item.topic), item.queueId});
        }
        below_.append(batch);
    }
    [[nodiscard]] std::vector<service::QueueKey> queues() const override {
        auto all = below_.queues();
        all.insert(all.end(), refused_.begin(), refused_.end());
        return all;
    }
    std::vector<service::QueueKey> refused_;
};

class MixesUpQueues final : public Passing {
    using Passing::Passing;
    [[nodiscard]] std::vector<service::QueueKey> queues() const override {
        auto all = below_.queues();
        for (auto& queue : all) queue.queueId = 0;
        return all;
    }
};

class QueuesHalfMessages final : public Passing {
    using Passing::Passing;
    void append(service::AppendBatch& batch) noexcept override {
        for (auto& item : batch.items) item.sysFlag = protocol::withTransactionType(item.sysFlag, protocol::kSysFlagNotTransactional);
        below_.append(batch);
    }
};

class SkipsWhatAFilterDidNotReach final : public Passing {
    using Passing::Passing;
    void read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
              const service::ReadFilter* filter, service::ReadResult& result) noexcept override {
        Passing::read(topic, queueId, offset, limits, filter, result);
        if (result.status == ReadStatus::NoMatchedMessage) result.nextOffset = result.maxOffset;
    }
};

class FindsTimesBelowTheMinimum final : public Passing {
    using Passing::Passing;
    [[nodiscard]] Result<std::int64_t> offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timeMs, service::Bound bound) const override {
        const auto found = below_.offsetAt(topic, queueId, timeMs, bound);
        return bound == service::Bound::Upper && found && *found == below_.range(topic, queueId).min ? Result<std::int64_t>(0) : found;
    }
};

class RefusesTimesThatGoBack final : public Passing {
    using Passing::Passing;
    void append(service::AppendBatch& batch) noexcept override {
        const auto now = options_.clock.wallMs();
        if (now >= newest_.load()) {
            newest_ = now;
            return below_.append(batch);
        }
        for (auto& item : batch.items) item.status = AppendStatus::Failed;
        batch.failure = Status(StatusCode::Io, "the clock went back");
        batch.done();
    }
    std::atomic<std::int64_t> newest_{0};
};

}  // namespace

}  // namespace patchbay::test

PATCHBAY_STORE_CONTRACT(SoundOverMemory, patchbay::test::openOverMemory<patchbay::test::Passing>);
PATCHBAY_OVER_MEMORY(TellsRemovedListeners);
PATCHBAY_OVER_MEMORY(RemovesListenersWithoutWaiting);
PATCHBAY_OVER_MEMORY(TellsBeforeItCanBeRead);
PATCHBAY_OVER_MEMORY(TellsWrongPhysicalOffsets);
PATCHBAY_OVER_MEMORY(TellsWrongTagsCodes);
PATCHBAY_OVER_MEMORY(TellsWrongTimes);
PATCHBAY_OVER_MEMORY(TellsWrongSizes);
PATCHBAY_OVER_MEMORY(AnswersTwice);
PATCHBAY_OVER_MEMORY(NeverTrims);
PATCHBAY_OVER_MEMORY(TrimsBackwards);
PATCHBAY_OVER_MEMORY(TrimsWhatComesLater);
PATCHBAY_OVER_MEMORY(FindsKeysOfDeletedTopics);
PATCHBAY_OVER_MEMORY(KnowsRefusedTopics);
PATCHBAY_OVER_MEMORY(MixesUpQueues);
PATCHBAY_OVER_MEMORY(QueuesHalfMessages);
PATCHBAY_OVER_MEMORY(SkipsWhatAFilterDidNotReach);
PATCHBAY_OVER_MEMORY(FindsTimesBelowTheMinimum);
PATCHBAY_OVER_MEMORY(RefusesTimesThatGoBack);

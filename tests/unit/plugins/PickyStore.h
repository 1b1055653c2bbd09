// A store in memory of which single answers can be spoilt.
#pragma once

#include "patchbay/testkit/MemoryStore.h"
#include "patchbay/testkit/StoreClient.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::plugins {

/// A MemoryStore in which a test can refuse single items of a batch, the flush, or the reading of a topic.
class PickyStore final : public service::MessageStore {
public:
    explicit PickyStore(const Clock& clock) : below(clock) {}

    testkit::MemoryStore below;
    /// The status with which an item is refused, or PutOk.
    std::function<service::AppendStatus(const service::AppendItem&)> refuses;
    Status flushAnswer;
    /// Its queues are listed, but cannot be read.
    std::string unreadableTopic;
    /// Its queues and times are known, its messages cannot be read.
    std::string failingTopic;
    /// Its times cannot be told.
    std::string timelessTopic;
    std::vector<std::size_t> appends;  // sizes of the batches that came
    std::string kind;                  // what it calls itself instead of its own name
    std::int64_t filteredMax = 0;      // messages that a read with a filter looks at; 0: all
    std::size_t reads = 0;
    std::function<void()> beforeStats;

    void append(service::AppendBatch& batch) noexcept override {
        appends.push_back(batch.items.size());
        if (!refuses) return below.append(batch);
        Part part;
        std::vector<service::AppendItem*> taken;
        for (auto& item : batch.items) {
            item.status = refuses(item);
            if (item.status != service::AppendStatus::PutOk) continue;
            taken.push_back(&item);
            part.items.push_back(item);
        }
        if (!taken.empty()) below.append(part);
        for (std::size_t i = 0; i < taken.size(); ++i) *taken[i] = part.items[i];
        batch.done();
    }
    Status flush() override { return flushAnswer; }

    [[nodiscard]] service::StoreCapabilities capabilities() const override {
        auto capabilities = below.capabilities();
        if (!kind.empty()) capabilities.name = kind;
        return capabilities;
    }
    void read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const service::ReadLimits& limits,
              const service::ReadFilter* filter, service::ReadResult& result) noexcept override {
        if (topic == unreadableTopic) return result.clear();
        if (topic == failingTopic) {
            result.clear();
            result.status = service::ReadStatus::Failed;
            result.nextOffset = offset;
            return;
        }
        ++reads;
        below.read(topic, queueId, offset, limits, filter, result);
        if (filter == nullptr || filteredMax == 0) return;
        const std::int64_t end = std::min(offset + filteredMax, result.maxOffset);
        const bool found = result.status == service::ReadStatus::Found && testkit::messagesOf(result).front().queueOffset < end;
        if (found || (result.status != service::ReadStatus::Found && result.status != service::ReadStatus::NoMatchedMessage)) return;
        result.pieces.clear();
        result.keep.clear();
        result.messages = 0;
        result.status = service::ReadStatus::NoMatchedMessage;
        result.nextOffset = end;
    }
    [[nodiscard]] service::OffsetRange range(std::string_view topic, std::int32_t queueId) const noexcept override {
        return topic == unreadableTopic ? service::OffsetRange{} : below.range(topic, queueId);
    }
    [[nodiscard]] Result<std::int64_t> offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timeMs,
                                               service::Bound bound) const override {
        if (topic == timelessTopic) return Status(StatusCode::Io, "cannot be read");
        return below.offsetAt(topic, queueId, timeMs, bound);
    }
    [[nodiscard]] Result<std::int64_t> storeTimeAt(std::string_view topic, std::int32_t queueId, std::int64_t offset) const override {
        if (topic == unreadableTopic) return Status(StatusCode::NotFound, "cannot be read");
        return below.storeTimeAt(topic, queueId, offset);
    }
    [[nodiscard]] Result<Slice> at(std::int64_t physicalOffset) const override { return below.at(physicalOffset); }
    [[nodiscard]] Result<service::KeyHits> findByKey(const service::KeyQuery& query) const override { return below.findByKey(query); }
    [[nodiscard]] std::vector<service::QueueKey> queues() const override { return below.queues(); }
    Status deleteTopic(std::string_view topic) override { return below.deleteTopic(topic); }
    void addListener(service::AppendListener& listener) override { below.addListener(listener); }
    void removeListener(service::AppendListener& listener) noexcept override { below.removeListener(listener); }
    Status trim(std::int64_t physicalOffset) override { return below.trim(physicalOffset); }
    [[nodiscard]] service::StoreStats stats() const override {
        if (beforeStats) beforeStats();
        return below.stats();
    }

private:
    struct Part final : service::AppendBatch {
        void done() noexcept override {}
    };
};

}  // namespace patchbay::plugins

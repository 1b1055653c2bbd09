// What the groups about listeners and threads share.
#pragma once

#include "patchbay/service/MessageStore.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::testkit {

/// What a listener was told of one message, kept.
struct Told {
    std::string topic;
    std::string properties;
    std::int64_t queueOffset = 0;
    std::int64_t physicalOffset = 0;
    std::int64_t tagsCode = 0;
    std::int64_t storeTimestamp = 0;
    std::int32_t queueId = 0;
    std::int32_t recordBytes = 0;
};

/// Remembers what it was told; notes what breaks the order of a queue. Thread-safe.
class Recorder final : public service::AppendListener {
public:
    void appended(std::span<const service::AppendedRecord> records) noexcept override {
        const std::lock_guard lock(mutex_);
        for (const auto& record : records) {
            const auto at = next_.emplace(std::pair(std::string(record.topic), record.queueId), record.queueOffset).first;
            if (at->second != record.queueOffset) inOrder_ = false;
            at->second = record.queueOffset + 1;
            told_.push_back({std::string(record.topic), std::string(record.properties), record.queueOffset, record.physicalOffset,
                             record.tagsCode, record.storeTimestamp, record.queueId, record.recordBytes});
        }
    }
    [[nodiscard]] std::vector<Told> told() const {
        const std::lock_guard lock(mutex_);
        return told_;
    }
    [[nodiscard]] int seen() const { return static_cast<int>(told().size()); }
    [[nodiscard]] bool inOrder() const {
        const std::lock_guard lock(mutex_);
        return inOrder_;
    }

private:
    mutable std::mutex mutex_;
    std::map<std::pair<std::string, std::int32_t>, std::int64_t> next_;
    std::vector<Told> told_;
    bool inOrder_ = true;
};

}  // namespace patchbay::testkit

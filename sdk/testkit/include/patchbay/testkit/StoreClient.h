// StoreClient: short ways for tests to append to a MessageStore and to read it back.
#pragma once

#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/service/MessageStore.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::testkit {

/// A message as a test describes it; properties are made from tags, keys and uniqueKey.
struct TestMessage {
    std::string topic = "TopicTest";
    std::int32_t queueId = 0;
    std::string body = "body";
    std::string tags{};
    std::string keys{};
    std::string uniqueKey{};
    std::uint16_t groupSize = 1;
};

/// A batch that owns its texts and can be waited for. done() may come on any thread.
class TestBatch final : public service::AppendBatch {
public:
    /// Waits for an append that is still under way, because the store uses the batch until then; aborts when it hangs. A test failure
    /// when it was answered more than once.
    ~TestBatch() override;
    /// The item may be changed until append().
    service::AppendItem& add(const TestMessage& message);
    /// Hands the batch to the store, without waiting.
    void appendTo(service::MessageStore& store);
    /// False when done() does not come in time.
    bool wait(std::chrono::milliseconds atMost = std::chrono::seconds(20));
    [[nodiscard]] int timesDone() const;
    /// The store is gone, so that nobody uses the batch any more: no answer is waited for.
    void storeIsGone() noexcept { gone_ = true; }

    void done() noexcept override;

private:
    std::deque<std::string> texts_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    int done_ = 0;
    int appended_ = 0;
    bool gone_ = false;
};

/// A stored message, taken out of its record.
struct StoredMessage {
    std::string topic;
    std::string body;
    std::string properties;
    std::int32_t queueId = 0;
    std::int64_t queueOffset = 0;
    std::int64_t physicalOffset = 0;
    std::int64_t storeTimestamp = 0;
};

/// Appends and waits; the item with its outcome (its views are empty). Aborts when done() never comes.
service::AppendItem appendOne(service::MessageStore& store, const TestMessage& message);

/// Takes whole records out of joined bytes. A test failure when they are damaged.
std::vector<StoredMessage> parseRecords(std::string_view joined);
/// The pieces of a result, joined and taken apart.
std::vector<StoredMessage> messagesOf(const service::ReadResult& result);
/// Reads a whole queue from `offset` to its end, in steps of the given limits.
std::vector<StoredMessage> readAll(service::MessageStore& store, std::string_view topic, std::int32_t queueId, std::int64_t offset = 0,
                                   const service::ReadLimits& limits = {});

}  // namespace patchbay::testkit

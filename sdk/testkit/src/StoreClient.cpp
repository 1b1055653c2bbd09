#include "patchbay/testkit/StoreClient.h"

#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/util/Hash.h"

#include <gtest/gtest.h>

namespace patchbay::testkit {

TestBatch::~TestBatch() {
    PATCHBAY_ASSERT(appended_ == 0 || gone_ || wait());
    EXPECT_LE(timesDone(), appended_) << "a batch was answered more than once";
}

void TestBatch::appendTo(service::MessageStore& store) {
    ++appended_;
    store.append(*this);
}

service::AppendItem& TestBatch::add(const TestMessage& message) {
    std::string properties;
    if (!message.keys.empty()) protocol::appendProperty(properties, protocol::kPropertyKeys, message.keys);
    if (!message.uniqueKey.empty()) protocol::appendProperty(properties, protocol::kPropertyUniqueKey, message.uniqueKey);
    if (!message.tags.empty()) protocol::appendProperty(properties, protocol::kPropertyTags, message.tags);

    service::AppendItem& item = items.emplace_back();
    item.topic = texts_.emplace_back(message.topic);
    item.body = texts_.emplace_back(message.body);
    item.properties = texts_.emplace_back(std::move(properties));
    item.queueId = message.queueId;
    item.groupSize = message.groupSize;
    item.tagsCode = protocol::tagsCode(message.tags);
    item.bornTimestamp = 1'600'000'000'000;
    item.bornHost = SocketAddress::v4({10, 0, 0, 7}, 4711);
    item.storeHost = SocketAddress::v4({127, 0, 0, 1}, 10911);
    return item;
}

bool TestBatch::wait(std::chrono::milliseconds atMost) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, atMost, [this] { return done_ > 0; });
}

int TestBatch::timesDone() const {
    const std::lock_guard lock(mutex_);
    return done_;
}

void TestBatch::done() noexcept {
    // Notified under the lock: the owner may destroy the batch as soon as it can take it.
    const std::lock_guard lock(mutex_);
    ++done_;
    changed_.notify_all();
}

service::AppendItem appendOne(service::MessageStore& store, const TestMessage& message) {
    TestBatch batch;
    batch.add(message);
    batch.appendTo(store);
    PATCHBAY_ASSERT(batch.wait());  // the store never called done()
    service::AppendItem item = batch.items.front();
    item.topic = item.body = item.properties = item.brokerProperties = {};
    return item;
}

std::vector<StoredMessage> parseRecords(std::string_view joined) {
    std::vector<StoredMessage> messages;
    while (!joined.empty()) {
        protocol::RecordView view;
        const auto status = protocol::RecordView::parse(joined, view);
        if (status != protocol::RecordStatus::Message) {
            ADD_FAILURE() << "damaged record, status " << static_cast<int>(status) << ", after " << messages.size() << " good ones";
            break;
        }
        messages.push_back({std::string(view.topic), std::string(view.body), std::string(view.properties), view.queueId,
                            view.queueOffset, view.physicalOffset, view.storeTimestamp});
        joined.remove_prefix(static_cast<std::size_t>(view.size));
    }
    return messages;
}

namespace {

/// A record of a batch queue may hold several.
std::int32_t messagesIn(const StoredMessage& record) {
    const std::string_view inner = protocol::findProperty(record.properties, protocol::kPropertyInnerNum);
    return inner.empty() ? 1 : std::stoi(std::string(inner));
}

}  // namespace

std::vector<StoredMessage> messagesOf(const service::ReadResult& result) {
    std::string joined;
    for (const auto piece : result.pieces) joined += piece;
    EXPECT_EQ(static_cast<std::int64_t>(joined.size()), result.bytes);
    auto messages = parseRecords(joined);
    std::int32_t count = 0;
    for (const StoredMessage& message : messages) count += messagesIn(message);
    EXPECT_EQ(count, result.messages);
    return messages;
}

std::vector<StoredMessage> readAll(service::MessageStore& store, std::string_view topic, std::int32_t queueId, std::int64_t offset,
                                   const service::ReadLimits& limits) {
    std::vector<StoredMessage> all;
    service::ReadResult result;
    while (true) {
        store.read(topic, queueId, offset, limits, nullptr, result);
        if (result.status != service::ReadStatus::Found) return all;
        std::int64_t expected = offset;
        for (auto& message : messagesOf(result)) {
            EXPECT_EQ(message.queueOffset, expected) << "a queue has a hole";
            expected += messagesIn(message);
            all.push_back(std::move(message));
        }
        if (result.nextOffset <= offset) {
            ADD_FAILURE() << "a read that found something does not go on: " << result.nextOffset << " after " << offset;
            return all;
        }
        offset = result.nextOffset;
    }
}

}  // namespace patchbay::testkit

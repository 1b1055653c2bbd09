// MessageStore: where messages are kept. Free of files, so that a log, a database and memory can all be one.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/base/Result.h"
#include "patchbay/base/Slice.h"
#include "patchbay/base/SocketAddress.h"
#include "patchbay/plugin/Services.h"
#include "patchbay/service/StoreTimes.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace patchbay::service {

/// How an append ended; RocketMQ's PutMessageStatus by meaning. Up to SlaveNotAvailable the message is stored.
enum class AppendStatus : std::uint8_t {
    PutOk,
    FlushDiskTimeout,        ///< stored, not known to be durable
    FlushSlaveTimeout,       ///< stored, not known to be replicated
    SlaveNotAvailable,       ///< stored, no replica there
    ServiceNotAvailable,     ///< refused: stopping, full, failed disk; AppendBatch::failure says which
    MessageIllegal,          ///< refused: body, properties or topic over a limit of the store
    PropertiesSizeExceeded,
    Busy,                    ///< refused for now
    Failed,                  ///< refused: an I/O error; AppendBatch::failure says which
};
[[nodiscard]] constexpr bool isStored(AppendStatus s) noexcept { return s <= AppendStatus::SlaveNotAvailable; }

/// One message to append and, afterwards, what became of it. Views must stay valid until done().
struct AppendItem {
    std::string_view topic;
    std::string_view body;
    std::string_view properties;         ///< RocketMQ's text form (name \x01 value \x02 …)
    std::string_view brokerProperties;   ///< stored right behind `properties`; begins with \x02 where one is needed between
    SocketAddress bornHost;
    SocketAddress storeHost;
    std::int64_t bornTimestamp = 0;      ///< ms since the epoch, as the producer said
    std::int64_t preparedTransactionOffset = 0;
    std::int64_t tagsCode = 0;
    std::int32_t queueId = 0;
    std::int32_t flag = 0;
    std::int32_t sysFlag = 0;            ///< the store sets the bits of IPv6 hosts itself
    std::int32_t reconsumeTimes = 0;
    std::uint16_t groupSize = 1;         ///< on the first item of a group that is stored whole or not at all; same queue
    bool waitStored = true;              ///< false: the producer does not want to wait for durability

    AppendStatus status = AppendStatus::Failed;
    std::int32_t recordBytes = 0;
    std::int64_t queueOffset = -1;       ///< dense per queue, from 0
    std::int64_t physicalOffset = -1;    ///< opaque and growing; part of message ids
    std::int64_t storeTimestamp = 0;     ///< ms since the epoch
};

/// Messages that are appended together. Owned by the caller; must live until done().
class AppendBatch {
public:
    virtual ~AppendBatch();
    /// Called exactly once, when every item has its outcome: inside append(), or later on a thread of the store.
    /// May start another append. Must not block.
    virtual void done() noexcept = 0;

    std::vector<AppendItem> items;
    Status failure;                      ///< the reason for ServiceNotAvailable, Busy and Failed, for a person
    MonotonicTime begun{};               ///< the store's own: when append() was called
};

enum class ReadStatus : std::uint8_t {
    Found,
    NoMatchedMessage,      ///< something was there, the filter refused it all; nextOffset is behind it
    NoSuchQueue,
    QueueEmpty,
    OffsetTooSmall,        ///< nextOffset = min
    OffsetAtEnd,           ///< offset == max: nothing there yet
    OffsetBeyondEnd,       ///< nextOffset = max
    Gone,                  ///< the message was removed meanwhile; nextOffset says where to go on
    NotResident,           ///< hotOnly was asked and the answer would have to wait for the disk
    Failed,                ///< the queue cannot be read now; nothing is known of its offsets
};

/// Decides what a read returns. Called on the reader's thread.
class ReadFilter {
public:
    virtual ~ReadFilter();
    /// By what the queue knows. False = certainly not wanted.
    [[nodiscard]] virtual bool matchesTags(std::int64_t tagsCode) const noexcept = 0;
    /// By the stored record. Only asked when needsRecord().
    [[nodiscard]] virtual bool matchesRecord(std::string_view record) const noexcept;
    [[nodiscard]] virtual bool needsRecord() const noexcept;
};

struct ReadLimits {
    std::int32_t messagesMax = 32;
    std::int32_t bytesMax = 262'144;     ///< the first message is returned whatever its size
    bool hotOnly = false;                ///< never wait for the disk: NotResident instead
};

/// What a read found. Reusable: read() clears it and keeps its capacity.
struct ReadResult {
    ReadStatus status = ReadStatus::NoSuchQueue;
    std::int64_t nextOffset = 0;
    std::int64_t minOffset = 0;
    std::int64_t maxOffset = 0;          ///< one past the last
    std::int64_t bytes = 0;
    std::int32_t messages = 0;
    std::int64_t tookUs = 0;             ///< how long read() took, where the store measures it
    bool farBehind = false;              ///< the reader is so far behind that a replica should serve it
    /// Pieces that, joined, are whole records in RocketMQ's stored form, in queue order. A store may join neighbours.
    std::vector<std::string_view> pieces;
    std::vector<KeepAlive> keep;         ///< what the pieces point into

    void clear() noexcept { status = ReadStatus::NoSuchQueue; nextOffset = minOffset = maxOffset = bytes = tookUs = 0; messages = 0;
                            farBehind = false; pieces.clear(); keep.clear(); }
};

struct OffsetRange {
    std::int64_t min = 0;
    std::int64_t max = 0;                ///< one past the last
    bool exists = false;
};

enum class Bound : std::uint8_t { Lower, Upper };

/// A message that became visible. Views are valid during the call.
struct AppendedRecord {
    std::string_view topic;
    std::string_view properties;         ///< whole, as stored
    std::int64_t queueOffset;
    std::int64_t physicalOffset;
    std::int64_t tagsCode;
    std::int64_t storeTimestamp;
    std::int32_t queueId;
    std::int32_t recordBytes;
};

/// Told of messages once for each queue that they are in, in queue order, when readers can see them; on whatever thread made them
/// visible. Records of one message in several queues follow each other. Must be quick, must not read or append there; wake others instead.
class AppendListener {
public:
    virtual ~AppendListener();
    virtual void appended(std::span<const AppendedRecord> records) noexcept = 0;
};

struct KeyHit {
    std::int64_t physicalOffset = 0;
    Slice record;
};

struct KeyQuery {
    std::string_view topic;
    std::string_view key;
    std::int64_t beginMs = 0;
    std::int64_t endMs = 0;
    std::int32_t messagesMax = 32;
    bool uniqueKey = false;              ///< the key is a UNIQ_KEY
};

struct KeyHits {
    std::vector<KeyHit> hits;            ///< newest first
    std::int64_t indexTimestampMs = 0;   ///< of the newest indexed message
    std::int64_t indexPhysicalOffset = 0;
};

/// What a store offers beyond the basics. The contract suite checks that what is declared works and the rest is Unsupported.
struct StoreCapabilities {
    std::string name;                    ///< "mmap", "sqlite", "memory"
    bool zeroCopyRead = false;
    bool keyIndex = false;
    bool replicationStream = false;
    bool durable = false;                ///< survives a killed process
    bool sql = false;
    bool innerBatches = false;           ///< a record may hold several messages (SysFlag.h), for topics with batch queues
    bool commitLog = false;              ///< RocketMQ's files: a physical offset is a place in a commit log, queues are files beside it
};

struct StoreStats {
    std::int64_t minPhysicalOffset = 0;
    std::int64_t maxPhysicalOffset = 0;
    std::int64_t messagesAppended = 0;   ///< since start
    std::int64_t bytesAppended = 0;      ///< bodies and headers, since start
    std::int64_t messagesRefused = 0;    ///< since start
    std::int64_t oldestAppendMs = 0;     ///< for how long the oldest append has been under way that has not ended
    std::int64_t messagesRead = 0;       ///< since start
    std::int64_t readsFound = 0;         ///< calls of read() that returned messages, since start
    std::int64_t readsMissed = 0;        ///< calls of read() that returned none, but for NotResident, since start
    std::int64_t earliestMessageMs = -1; ///< store time of the oldest message, -1 when empty
    std::int64_t queues = 0;
    std::int64_t behindFlushBytes = 0;   ///< appended but not yet durable
    double diskRatio = 0;                ///< used share of the disk under the store, 0…1
    bool writable = true;
    Status health;                       ///< why it is not
    std::optional<StoreTimeFigures> times;   ///< nothing where the store does not measure them
    /// More pairs for GET_BROKER_RUNTIME_INFO, in RocketMQ's names and text forms.
    std::vector<std::pair<std::string, std::string>> runtimeInfo;
};

struct QueueKey {
    std::string topic;
    std::int32_t queueId = 0;
};

/// The store. All functions are thread-safe. One provider per process, chosen by `service.patchbay.MessageStore` when two
/// plugins offer it.
class MessageStore {
public:
    static constexpr plugin::ServiceId kId{"patchbay.MessageStore", 1};
    virtual ~MessageStore();

    [[nodiscard]] virtual StoreCapabilities capabilities() const = 0;

    /// Appends in order. Calls batch.done() exactly once, before it returns or later. May write, never waits for a flush.
    /// Under synchronous flush done() is called, and messages become visible, only when they are durable.
    virtual void append(AppendBatch& batch) noexcept = 0;

    /// Reads from one queue; `result.status` says how it went. `filter` may be null.
    virtual void read(std::string_view topic, std::int32_t queueId, std::int64_t offset, const ReadLimits& limits,
                      const ReadFilter* filter, ReadResult& result) noexcept = 0;

    /// {0, 0, false} for a queue that never had a message.
    [[nodiscard]] virtual OffsetRange range(std::string_view topic, std::int32_t queueId) const noexcept = 0;
    /// The queue offset for a store time. Lower: the first message stored at or after timeMs; Upper: the last one stored at or
    /// before it. Before all messages: min; after all: max for Lower, max - 1 for Upper. A queue without messages gives max, an
    /// unknown one 0.
    [[nodiscard]] virtual Result<std::int64_t> offsetAt(std::string_view topic, std::int32_t queueId, std::int64_t timeMs,
                                                       Bound bound) const = 0;
    /// Store time of the message at a queue offset, ms; NotFound when there is none.
    [[nodiscard]] virtual Result<std::int64_t> storeTimeAt(std::string_view topic, std::int32_t queueId,
                                                          std::int64_t offset) const = 0;
    /// The record at a physical offset that append() or a read gave out. NotFound for any other number.
    [[nodiscard]] virtual Result<Slice> at(std::int64_t physicalOffset) const = 0;
    /// Unsupported without keyIndex.
    [[nodiscard]] virtual Result<KeyHits> findByKey(const KeyQuery& query) const = 0;

    /// Every queue that holds or held messages.
    [[nodiscard]] virtual std::vector<QueueKey> queues() const = 0;
    /// Forgets a topic's queues: their messages are unreachable, offsets start at 0 again. Readers keep what they hold.
    virtual Status deleteTopic(std::string_view topic) = 0;

    /// A listener is called for messages that become visible after addListener and never after removeListener returned.
    virtual void addListener(AppendListener& listener) = 0;
    virtual void removeListener(AppendListener& listener) noexcept = 0;

    /// Makes everything appended so far durable.
    virtual Status flush() = 0;
    /// Drops messages below a physical offset, as far as the store's grain allows; min offsets move.
    virtual Status trim(std::int64_t physicalOffset) = 0;
    [[nodiscard]] virtual StoreStats stats() const = 0;
};

}  // namespace patchbay::service

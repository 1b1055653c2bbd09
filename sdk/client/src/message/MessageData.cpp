#include "message/MessageData.h"

#include "message/Outgoing.h"
#include "patchbay/protocol/message/Batch.h"
#include "patchbay/protocol/message/MessageId.h"
#include "patchbay/protocol/message/Properties.h"
#include "patchbay/protocol/util/Compression.h"

#include <utility>

namespace patchbay::client {

using protocol::RecordStatus;
using protocol::RecordView;

namespace {

// A body that unpacks to more is refused: brokers take 4 MB unless told otherwise.
constexpr std::size_t kPlainBytesMax = 256U << 20;

std::chrono::system_clock::time_point timeOf(std::int64_t ms) {
    return std::chrono::system_clock::time_point(std::chrono::milliseconds(ms));
}

bool holdsBatch(std::int32_t sysFlag) {
    constexpr auto both = protocol::kSysFlagInnerBatch | protocol::kSysFlagNeedUnwrap;
    return (sysFlag & both) == both;
}

Status corrupt(std::string_view what) {
    return {StatusCode::Corrupt, "the broker answered a message that cannot be read: " + std::string(what)};
}

Result<std::shared_ptr<ReceivedMessage::Data>> dataOf(const RecordView& record, const std::shared_ptr<const std::string>& packet,
                                                     std::string_view brokerName) {
    auto data = std::make_shared<ReceivedMessage::Data>();
    data->packet = packet;
    data->record = record;
    data->topic = record.topic;
    data->brokerName = brokerName;
    data->properties = record.properties;
    data->body = record.body;
    data->reconsumeTimes = record.reconsumeTimes;
    if ((record.sysFlag & protocol::kSysFlagCompressed) != 0) {
        auto plain = unpackBody(record.body, record.sysFlag);
        if (!plain) return plain.error();
        data->unpacked = std::move(*plain);
        data->body = data->unpacked;
    }
    return data;
}

// The i-th inner message stands for the i-th offset from the record's on.
Status unwrap(const std::shared_ptr<ReceivedMessage::Data>& outer, const AdjustMessage& adjust, std::vector<ReceivedMessage>& into) {
    protocol::BatchReader reader(outer->body);
    protocol::BatchEntry entry;
    auto offset = outer->record.queueOffset;
    // The body may be what `outer` has unpacked, so every inner message keeps its own copy of what it needs.
    while (reader.next(entry)) {
        auto inner = std::make_shared<ReceivedMessage::Data>(*outer);
        inner->unpacked = entry.body;
        inner->body = inner->unpacked;
        inner->properties = entry.properties;
        inner->record.flag = entry.flag;
        inner->record.queueOffset = offset++;
        if (adjust) adjust(*inner);
        into.emplace_back(std::move(inner));
    }
    return reader.failed() ? corrupt("a batch that does not divide into whole entries") : Status::ok();
}

}  // namespace

Result<std::string> unpackBody(std::string_view body, std::int32_t sysFlag) {
    if ((sysFlag & protocol::kSysFlagCompressed) == 0) return std::string(body);
    const auto type = protocol::compressionTypeOf(sysFlag);
    if (!type) return corrupt("an unknown compression");
    return protocol::decompress(*type, body, kPlainBytesMax);
}

Result<std::vector<ReceivedMessage>> decodeMessages(std::string_view records, std::string_view brokerName, const AdjustMessage& adjust) {
    const auto packet = std::make_shared<const std::string>(records);
    std::vector<ReceivedMessage> messages;
    std::string_view rest = *packet;
    while (!rest.empty()) {
        RecordView record;
        const auto status = RecordView::parse(rest, record, protocol::RecordCheck::BodyCrc);
        if (status == RecordStatus::BadCrc) return corrupt("its checksum does not fit");
        if (status != RecordStatus::Message) return corrupt("not a whole record");
        rest.remove_prefix(static_cast<std::size_t>(record.size));
        auto data = dataOf(record, packet, brokerName);
        if (!data) return data.error();
        if (holdsBatch(record.sysFlag)) {
            if (auto unwrapped = unwrap(*data, adjust, messages); !unwrapped) return unwrapped;
            continue;
        }
        if (adjust) adjust(**data);
        messages.emplace_back(std::move(*data));
    }
    return messages;
}

std::shared_ptr<ReceivedMessage::Data> copyOf(const ReceivedMessage& message) {
    const auto& from = message.data();
    auto data = std::make_shared<ReceivedMessage::Data>(from);
    // The copy's views must not point into the other's own text.
    if (!data->unpacked.empty()) data->body = data->unpacked;
    return data;
}

std::string_view ReceivedMessage::topic() const noexcept { return data_->topic; }
std::string_view ReceivedMessage::body() const noexcept { return data_->body; }
std::string_view ReceivedMessage::tags() const noexcept { return property(protocol::kPropertyTags); }
std::string_view ReceivedMessage::keys() const noexcept { return property(protocol::kPropertyKeys); }
std::string_view ReceivedMessage::id() const noexcept { return property(protocol::kPropertyUniqueKey); }
std::string ReceivedMessage::offsetId() const {
    return protocol::MessageId{storeHost(), data_->record.physicalOffset}.toString();
}
std::string_view ReceivedMessage::property(std::string_view name) const noexcept {
    return protocol::findProperty(data_->properties, name);
}
std::map<std::string, std::string> ReceivedMessage::properties() const {
    std::map<std::string, std::string> all;
    protocol::PropertyReader reader(data_->properties);
    std::string_view name;
    std::string_view value;
    while (reader.next(name, value)) all[std::string(name)] = value;
    return all;
}
std::map<std::string, std::string, std::less<>> ReceivedMessage::userProperties() const {
    std::map<std::string, std::string, std::less<>> chosen;
    protocol::PropertyReader reader(data_->properties);
    std::string_view name;
    std::string_view value;
    while (reader.next(name, value)) {
        // The checksum is of the stored record, not of the message that is sent again.
        if (!value.empty() && !isReservedProperty(name) && name != protocol::kPropertyCrc32) chosen[std::string(name)] = value;
    }
    return chosen;
}
std::string_view ReceivedMessage::brokerName() const noexcept { return data_->brokerName; }
std::int32_t ReceivedMessage::queueId() const noexcept { return data_->record.queueId; }
std::int64_t ReceivedMessage::queueOffset() const noexcept { return data_->record.queueOffset; }
MessageQueue ReceivedMessage::queue() const { return {data_->topic, data_->brokerName, data_->record.queueId}; }
std::int64_t ReceivedMessage::commitLogOffset() const noexcept { return data_->record.physicalOffset; }
std::int32_t ReceivedMessage::reconsumeTimes() const noexcept { return data_->reconsumeTimes; }
std::int32_t ReceivedMessage::flag() const noexcept { return data_->record.flag; }
std::int32_t ReceivedMessage::sysFlag() const noexcept { return data_->record.sysFlag; }
std::chrono::system_clock::time_point ReceivedMessage::bornAt() const noexcept { return timeOf(data_->record.bornTimestamp); }
std::chrono::system_clock::time_point ReceivedMessage::storedAt() const noexcept { return timeOf(data_->record.storeTimestamp); }
SocketAddress ReceivedMessage::bornHost() const noexcept { return data_->record.bornHost(); }
SocketAddress ReceivedMessage::storeHost() const noexcept { return data_->record.storeHost(); }

}  // namespace patchbay::client

// What a ReceivedMessage is made of, and how answers of brokers become some.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/client/Message.h"
#include "patchbay/protocol/message/MessageRecord.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::client {

/// Views lie in `packet`, the body of one answer, which all its messages share, or in what this message alone owns.
struct ReceivedMessage::Data {
    std::shared_ptr<const std::string> packet;
    std::string unpacked;  ///< the body, when it came compressed
    protocol::RecordView record;
    std::string topic;
    std::string brokerName;
    std::string properties;  ///< the record's, and what this client added
    std::string_view body;
    std::int32_t reconsumeTimes = 0;
};

/// All messages of an answer; bodies unpacked, records that hold a batch taken apart. `adjust` may change each before it is shared.
/// Corrupt when a record is not whole.
using AdjustMessage = std::function<void(ReceivedMessage::Data&)>;
[[nodiscard]] Result<std::vector<ReceivedMessage>> decodeMessages(std::string_view records, std::string_view brokerName,
                                                                  const AdjustMessage& adjust = {});

/// A copy that says something else of itself; the body is shared.
[[nodiscard]] std::shared_ptr<ReceivedMessage::Data> copyOf(const ReceivedMessage& message);

/// Unpacks by the sysFlag. Corrupt when the bytes are no such stream.
[[nodiscard]] Result<std::string> unpackBody(std::string_view body, std::int32_t sysFlag);

}  // namespace patchbay::client

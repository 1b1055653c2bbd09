// Bundle: neighbours of one queue that go to the other cluster in one request.
#pragma once

#include "patchbay/protocol/RemotingCommand.h"
#include "patchbay/protocol/message/MessageRecord.h"
#include "patchbay/service/MessageStore.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace mirror {

/// The property of a message that another mirror has brought: the name of the cluster where it was sent first.
inline constexpr std::string_view kOriginProperty = "MIRROR_ORIGIN";

/// Where a bundle goes.
struct TargetQueue {
    std::string address;
    std::string brokerName;
    std::int32_t queueId = 0;
};

/// Takes records as they come out of a read, copies what is sent, and makes a request of it. A value; one thread.
class Bundle {
public:
    /// `origin`: written into the messages.
    explicit Bundle(std::string_view origin) : origin_(origin) {}

    /// Takes the records of `read` up to the first that cannot share a request with those before it. Messages that a mirror has brought
    /// are passed over: with mirrors in both directions they would go round for ever.
    void take(const patchbay::service::ReadResult& read);

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// The queue offset behind the last record that was taken or passed over; -1 when there was none.
    [[nodiscard]] std::int64_t end() const noexcept { return end_; }
    [[nodiscard]] std::int64_t passedOver() const noexcept { return passedOver_; }
    [[nodiscard]] std::int64_t bytes() const noexcept { return static_cast<std::int64_t>(entries_.size()); }
    /// Of a bundle that is not empty.
    [[nodiscard]] patchbay::protocol::RemotingCommand request(const std::string& topic, const TargetQueue& to) const;

private:
    bool take(const patchbay::protocol::RecordView& record);
    [[nodiscard]] std::string propertiesFor(std::string_view stored) const;

    std::string_view origin_;
    std::string entries_;              // as in the body of a batch
    std::size_t count_ = 0;
    std::int64_t end_ = -1;
    std::int64_t passedOver_ = 0;
    std::int32_t sysFlag_ = 0;
    std::int64_t bornTimestamp_ = 0;   // of the first: a batch has one for all
};

}  // namespace mirror

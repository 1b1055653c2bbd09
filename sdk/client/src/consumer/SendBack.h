// SendBack: hands a message that could not be consumed back to its broker.
#pragma once

#include "consumer/ConsumerCore.h"
#include "producer/ProducerCore.h"

#include <functional>
#include <memory>
#include <string>

namespace patchbay::client {

/// Loop thread. When the broker of the message does not take it, it is sent to the group's retry topic, on whatever broker that is.
class SendBack {
public:
    explicit SendBack(ConsumerCore& core);

    /// `delayLevel`: 0, the broker decides; -1, to the dead letters. `maxTimes`: tries before the dead letters.
    void send(const ReceivedMessage& message, int delayLevel, int maxTimes, std::function<void(bool)> done);
    /// Straight to the retry topic; `times`: how often it has been tried, with this time.
    void resend(const ReceivedMessage& message, int times, int maxTimes, std::function<void(bool)> done);
    [[nodiscard]] std::size_t pending() const noexcept { return *pending_; }

private:
    ConsumerCore& core_;
    std::shared_ptr<ProducerCore> producer_;
    std::shared_ptr<std::size_t> pending_ = std::make_shared<std::size_t>(0);
};

}  // namespace patchbay::client

// SendJob: one message on its way, through all attempts.
#pragma once

#include "producer/ProducerCore.h"
#include "remoting/Call.h"

#include <chrono>
#include <memory>
#include <string>

namespace patchbay::client {

/// Begins on the sender's thread when the route is known, so that the loop only writes; goes on there. It is its own loop task and its own call,
/// so that a send costs one object. Owned by whoever has it next: the loop, the channel, itself during a call. Has one of its producer's places
/// for messages under way from the beginning, and gives it back at its end, or when it is dropped without one.
class SendJob final : public net::LoopTask, public Call {
public:
    SendJob(std::shared_ptr<ProducerCore> core, Outgoing message, ProducerCore::Target target, MonotonicTime deadline, ProducerCore::Done done);
    ~SendJob() override;

    static void start(std::unique_ptr<SendJob> self);

    void run() noexcept override;
    void discard() noexcept override;
    void answered(CallPtr self, const protocol::CommandView& answer) noexcept override;
    void failed(CallPtr self, const Status& why) noexcept override;

private:
    using Self = std::unique_ptr<SendJob>;
    static Self own(CallPtr self) noexcept { return Self(static_cast<SendJob*>(self.release())); }

    void attempt(Self self);
    [[nodiscard]] Status prepare(const Route& route);
    void write(Self self);
    void again(Self self, const Status& why);
    void end(Result<SendReceipt> result);
    [[nodiscard]] bool accepts(std::int32_t code) const noexcept;
    [[nodiscard]] Result<SendReceipt> receiptOf(const protocol::CommandView& answer);
    [[nodiscard]] std::chrono::milliseconds elapsed() const;

    const std::shared_ptr<ProducerCore> core_;
    const Outgoing message_;
    const ProducerCore::Target target_;
    const MonotonicTime deadline_;
    ProducerCore::Done done_;
    MonotonicTime started_;
    std::int64_t startedMs_;
    int left_;  // attempts after this one
    bool retried_ = false;
    // Of the current attempt.
    MessageQueue queue_;
    std::string address_;
    Frame frame_;
    std::string failedBroker_;
};

}  // namespace patchbay::client

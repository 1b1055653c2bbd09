// Producer::Impl: a producer's seat at its client.
#pragma once

#include "instance/Member.h"
#include "patchbay/client/Producer.h"
#include "producer/Gatherer.h"
#include "producer/ProducerCore.h"
#include "runtime/LoopTimer.h"

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <vector>

namespace patchbay::client {

/// Made and closed on any thread but the loop.
class Producer::Impl final : public Member, public std::enable_shared_from_this<Producer::Impl> {
public:
    /// Runs on the loop for a broker's question about a transaction.
    using CheckHandler = std::function<void(Channel&, const protocol::RemotingCommand&)>;

    static Result<std::shared_ptr<Impl>> make(const ProducerOptions& options, CheckHandler check = {});
    explicit Impl(std::shared_ptr<ProducerCore> core, CheckHandler check);
    void close();

    [[nodiscard]] ProducerCore& core() noexcept { return *core_; }
    [[nodiscard]] const std::shared_ptr<ProducerCore>& shared() const noexcept { return core_; }
    /// Sends a message of the application's, by itself or with others. Any thread.
    void send(Message message, const SendOptions& options, ProducerCore::Done done);
    /// Before something goes to that place past send(): what was gathered for it leaves first. Nothing else has an order.
    void keepOrder(const std::string& topic, const ProducerCore::Target& target);
    /// Runs on the callback thread; what it throws is logged. All that one turn of the loop delivers wakes that thread once.
    void deliver(std::function<void()> callback);

    [[nodiscard]] const std::string& group() const noexcept override { return core_->group(); }
    [[nodiscard]] bool isConsumer() const noexcept override { return false; }
    void describe(protocol::HeartbeatData& heartbeat) const override { heartbeat.producerGroups.push_back(group()); }
    void serverRequest(Channel& channel, const protocol::RemotingCommand& request, protocol::SerializeType) override;

private:
    void open();
    void run(const std::function<void()>& callback) const;
    void allDelivered();

    const std::shared_ptr<ProducerCore> core_;
    const CheckHandler check_;
    const std::shared_ptr<Gatherer> gatherer_;  // null when each message goes by itself
    std::unique_ptr<LoopTimer> probe_;  // loop thread
    std::vector<std::function<void()>> batch_;  // loop thread
    std::once_flag closed_;
    std::once_flag told_;
    std::promise<void> deliveredPromise_;
    const std::shared_future<void> delivered_ = deliveredPromise_.get_future().share();  // no callback of this producer will come, or one closes it
};

[[nodiscard]] Status check(const ProducerOptions& options);

}  // namespace patchbay::client

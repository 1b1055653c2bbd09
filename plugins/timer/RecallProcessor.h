// RecallProcessor: serves RECALL_MESSAGE.
#pragma once

#include "Recalls.h"
#include "TimerConfig.h"
#include "TimerRewrite.h"

#include "patchbay/plugin/Plugin.h"
#include "patchbay/protocol/message/RecallHandle.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/TopicConfigs.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace patchbay::plugins::timer {

/// A recall first holds the message back, in memory, and is then stored, so that it survives a crash; only then the producer hears of
/// success. A recall that cannot be stored is undone. Loop-safe. Owned by the plugin; answers come from a thread of the store.
class RecallProcessor final : public plugin::Processor {
public:
    RecallProcessor(plugin::PluginContext& context, const TimerConfig& config, service::MessageStore& store,
                    const service::TopicConfigs& topics, Recalls& recalls, TimerRewrite& rewrite)
        : identity_(context.identity()), clock_(context.clock()), config_(config), store_(store), topics_(topics), recalls_(recalls),
          rewrite_(rewrite), permission_(config.permission) {}
    /// brokerPermission. Any thread.
    void setPermission(std::uint32_t permission) noexcept { permission_.store(permission, std::memory_order_relaxed); }
    void process(plugin::Request request) override;
    /// Blocks until the store has answered all that was handed to it. process() is not called any more.
    void awaitIdle() noexcept;

private:
    class Append;
    struct Answer {
        protocol::ResponseCode code;
        std::string remark;
    };
    [[nodiscard]] std::optional<Answer> mayRecall() const;
    Result<protocol::RecallHandle> handleOf(std::string_view topic, std::string_view text, Answer& answer) const;
    std::optional<Answer> submit(plugin::Request& request, const protocol::RecallHandle& handle, std::string_view producerGroup);
    void begin();
    void end() noexcept;

    const plugin::BrokerIdentity& identity_;
    const Clock& clock_;
    const TimerConfig& config_;
    service::MessageStore& store_;
    const service::TopicConfigs& topics_;
    Recalls& recalls_;
    TimerRewrite& rewrite_;
    std::atomic<std::uint32_t> permission_;

    std::mutex mutex_;
    std::condition_variable none_;
    std::size_t inFlight_ = 0;   // guarded by mutex_
};

}  // namespace patchbay::plugins::timer

// TimerPlugin: messages that are delivered at a time of their producer's choice.
#pragma once

#include "Delivery.h"
#include "RecallProcessor.h"
#include "Recalls.h"
#include "TimerConfig.h"
#include "TimerCounts.h"
#include "TimerFiles.h"
#include "TimerProgress.h"
#include "TimerRewrite.h"

#include "patchbay/plugin/Plugin.h"

#include <memory>

namespace patchbay::plugins::timer {

/// Owned by the kernel. Only a master delivers; the store of a replica takes no messages.
class TimerPlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return TimerConfig::keys(); }
    Status configure(const plugin::ConfigView& view) override;
    Status reconfigure(const plugin::ConfigView& view, std::span<const std::string_view> changed) override;
    Status init(plugin::PluginContext& context) override;
    Status start() override;
    void drain() noexcept override;
    void stop() noexcept override;

private:
    Result<TimerMark> openFiles();
    Status persistAll();
    Status persistFiles();
    void persist() noexcept;

    TimerConfig config_;
    plugin::PluginContext* context_ = nullptr;
    plugin::ServiceRef<service::MessageStore> store_;
    plugin::ServiceRef<service::TopicConfigs> topics_;
    std::unique_ptr<TimerRewrite> rewrite_;
    std::unique_ptr<Recalls> recalls_;
    std::unique_ptr<TimerProgress> progress_;
    std::unique_ptr<TimerFiles> files_;     // null where the store is no commit log
    std::unique_ptr<TimerCounts> counts_;
    MonotonicTime countsAt_{};              // when the counts were written
    std::unique_ptr<RecallProcessor> processor_;
    std::unique_ptr<Delivery> delivery_;
};

}  // namespace patchbay::plugins::timer

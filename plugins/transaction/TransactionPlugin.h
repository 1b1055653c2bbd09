// TransactionPlugin: half messages and what becomes of them.
#pragma once

#include "Checker.h"
#include "EndProcessor.h"
#include "OpLog.h"
#include "TransactionConfig.h"
#include "TransactionTable.h"

#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/TransactionStore.h"

#include <memory>

namespace patchbay::plugins::transaction {

/// Owned by the kernel. prepare() may be called until the plugin is destroyed; it only changes its arguments.
class TransactionPlugin final : public plugin::Plugin, private service::TransactionStore, private service::AppendListener {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return TransactionConfig::keys(); }
    Status configure(const plugin::ConfigView& view) override;
    Status init(plugin::PluginContext& context) override;
    Status start() override;
    Status reconfigure(const plugin::ConfigView& view, std::span<const std::string_view> changed) override;
    void drain() noexcept override;
    void stop() noexcept override;

private:
    void prepare(service::AppendItem& item, std::string& properties) override;
    void appended(std::span<const service::AppendedRecord> records) noexcept override;

    /// Everything that lives from init() to stop(), in the order in which it is made.
    struct Running {
        plugin::ServiceRef<service::MessageStore> store;
        plugin::ServiceRef<service::ConsumerOffsets> offsets;
        plugin::ServiceRef<service::ClientRegistry> clients;
        plugin::ServiceRef<service::TopicConfigs> topics;
        plugin::ServiceRef<service::DelaySchedule> delay;
        TransactionTable table;
        std::unique_ptr<OpLog> ops;
        std::unique_ptr<Checker> checker;
        std::unique_ptr<EndProcessor> processor;
        bool started = false;
    };

    TransactionConfig config_;
    std::unique_ptr<Running> running_;
};

}  // namespace patchbay::plugins::transaction

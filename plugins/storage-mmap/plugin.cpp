// The plugin "storage-mmap": keeps messages in RocketMQ's own files.
#include "MmapStore.h"

#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/TopicConfigs.h"

namespace patchbay::mmapstore {

namespace {

/// Creates the store in init(), opens it in start(), closes it in stop().
class StoragePlugin final : public plugin::Plugin {
public:
    [[nodiscard]] std::span<const plugin::ConfigKey> configKeys() const noexcept override { return storeConfigKeys(); }

    Status configure(const plugin::ConfigView& config) override {
        readTunables(config, tunables_);
        return readOptions(config, options_);
    }

    Status init(plugin::PluginContext& context) override {
        options_.root = context.identity().storeRoot;
        options_.rootLocked = true;
        topics_ = context.services().want<service::TopicConfigs>();
        if (topics_) {
            options_.hasBatchQueues = [this](std::string_view topic) {
                service::TopicFacts facts;
                return topics_->find(topic, facts) && facts.batchQueues;
            };
        }
        store_ = std::make_unique<MmapStore>(context.files(), context.clock(), context.log(), options_);
        store_->tunables().assign(tunables_);
        return context.services().publish<service::MessageStore>(*store_);
    }

    Status start() override { return store_->open(); }

    Status reconfigure(const plugin::ConfigView& config, std::span<const std::string_view>) override {
        // What is taken now is kept for the next start, which must not refuse it.
        StoreOptions next;
        if (Status good = readOptions(config, next); !good) return good;
        readTunables(config, store_->tunables());
        return Status::ok();
    }

    void stop() noexcept override {
        if (store_) store_->close();
    }

private:
    plugin::ServiceRef<service::TopicConfigs> topics_;
    StoreOptions options_;
    StoreTunables tunables_;
    std::unique_ptr<MmapStore> store_;
};

}  // namespace

}  // namespace patchbay::mmapstore

PATCHBAY_PLUGIN(patchbay::mmapstore::StoragePlugin, "storage-mmap", "1.0.0",
                "Keeps messages in RocketMQ's own commit log and consume queues.", 0, "patchbay.MessageStore/1", "",
                "patchbay.TopicConfigs/1")

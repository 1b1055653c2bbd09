#include "RetryPlugin.h"

#include <array>

namespace patchbay::plugins::retry {

namespace {

constexpr std::array kKeys{
    plugin::ConfigKey{"brokerPermission", plugin::ConfigType::Int, "6",
                      "Messages that consumers send back are refused (16) where it does not allow writing: 2 write, 4 read, 6 both.",
                      plugin::kReloadable, 0, 7},
};

}  // namespace

std::span<const plugin::ConfigKey> RetryPlugin::configKeys() const noexcept { return kKeys; }

Status RetryPlugin::configure(const plugin::ConfigView& view) {
    permission_ = static_cast<std::uint32_t>(view.integer("brokerPermission"));
    return Status::ok();
}

Status RetryPlugin::reconfigure(const plugin::ConfigView& view, std::span<const std::string_view>) { return configure(view); }

Status RetryPlugin::init(plugin::PluginContext& context) {
    auto& services = context.services();
    RetryServices borrowed;
    if (Status found = services.require(borrowed.store); !found) return found;
    if (Status found = services.require(borrowed.topics); !found) return found;
    if (Status found = services.require(borrowed.groups); !found) return found;
    if (Status found = services.require(borrowed.delay); !found) return found;
    borrowed.traffic = services.want<service::TrafficStats>();
    rules_ = std::make_unique<RetryRules>(borrowed.topics, borrowed.groups, services.want<service::QueueLocks>());
    processor_ = std::make_unique<SendBackProcessor>(std::move(borrowed), context, permission_);
    if (Status published = services.publish<service::RetryPolicy>(*rules_); !published) return published;

    static constexpr std::array kCodes{protocol::RequestCode::ConsumerSendMsgBack};
    plugin::BindOptions options;
    options.executor.name = "retry";
    return context.processors().bind(kCodes, *processor_, options);
}

void RetryPlugin::stop() noexcept {
    if (processor_) processor_->awaitIdle();
    processor_.reset();
    if (rules_) rules_->release();
}

}  // namespace patchbay::plugins::retry

#include "ConsumerAdminPlugin.h"

#include "patchbay/plugin/Administration.h"
#include "patchbay/protocol/PrivateCode.h"

#include <array>

namespace patchbay::plugins::consumer_admin {

namespace {

constexpr std::array kKeys{
    plugin::ConfigKey{"useServerSideResetOffset", plugin::ConfigType::Bool, "true",
                      "A reset waits here for the next pull of its queue; else it is pushed to the members, who must be on line."},
};

}  // namespace

std::span<const plugin::ConfigKey> ConsumerAdminPlugin::configKeys() const noexcept { return kKeys; }

Status ConsumerAdminPlugin::configure(const plugin::ConfigView& config) {
    serverSideReset_ = config.flag("useServerSideResetOffset");
    return Status::ok();
}

Status ConsumerAdminPlugin::borrow(plugin::Services& from) {
    Status result;
    if (result = from.require(services_.store); !result) return result;
    if (result = from.require(services_.topics); !result) return result;
    if (result = from.require(services_.groups); !result) return result;
    if (result = from.require(services_.offsets); !result) return result;
    if (result = from.require(services_.clients); !result) return result;
    return from.require(services_.locks);
}

Status ConsumerAdminPlugin::init(plugin::PluginContext& context) {
    if (Status borrowed = borrow(context.services()); !borrowed) return borrowed;
    offsets_ = std::make_unique<OffsetAdmin>(services_, context, serverSideReset_);
    relay_ = std::make_unique<ClientRelay>(services_, context.identity());
    forbidding_ = std::make_unique<Forbidding>(services_, context);
    whyStuck_ = std::make_unique<WhyStuck>(services_, context);

    using Code = protocol::RequestCode;
    static constexpr std::array kOffsets{Code::InvokeBrokerToResetOffset, Code::QueryCorrectionOffset, Code::CloneGroupOffset};
    static constexpr std::array kRelayed{Code::InvokeBrokerToGetConsumerStatus, Code::GetConsumerRunningInfo, Code::ConsumeMessageDirectly};
    static constexpr std::array kForbidding{Code::UpdateAndGetGroupForbidden};
    static constexpr std::array kWhyStuck{static_cast<Code>(protocol::PrivateCode::WhyStuck)};
    plugin::BindOptions options;
    options.executor.name = "consumer-admin";
    plugin::Processors& processors = context.processors();
    if (Status bound = plugin::bindAdministration(processors, kOffsets, *offsets_, options); !bound) return bound;
    if (Status bound = plugin::bindAdministration(processors, kRelayed, *relay_, options); !bound) return bound;
    if (Status bound = plugin::bindAdministration(processors, kForbidding, *forbidding_, options); !bound) return bound;
    return plugin::bindAdministration(processors, kWhyStuck, *whyStuck_, options);
}

void ConsumerAdminPlugin::stop() noexcept {
    whyStuck_.reset();
    forbidding_.reset();
    relay_.reset();
    offsets_.reset();
    services_ = {};
}

}  // namespace patchbay::plugins::consumer_admin

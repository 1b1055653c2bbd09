#include "NamesrvPlugin.h"

#include "patchbay/protocol/PrivateCode.h"

#include <array>

namespace patchbay::plugins::namesrv {

using protocol::RequestCode;

namespace {

constexpr std::string_view kListener = "namesrv";
constexpr std::string_view kDefaultKvFile = "/kvConfig.json";

constexpr std::array kRouteCodes{RequestCode::GetRouteinfoByTopic, RequestCode::GetBrokerClusterInfo,
                                 RequestCode::QueryDataVersion, RequestCode::GetBrokerMemberGroup,
                                 RequestCode::BrokerHeartbeat};
constexpr std::array kRegistryCodes{RequestCode::RegisterBroker, RequestCode::UnregisterBroker,
                                    RequestCode::WipeWritePermOfBroker, RequestCode::AddWritePermOfBroker,
                                    RequestCode::GetAllTopicListFromNameserver, RequestCode::DeleteTopicInNamesrv,
                                    RequestCode::RegisterTopicInNamesrv, RequestCode::GetTopicsByCluster,
                                    RequestCode::GetSystemTopicListFromNs, RequestCode::GetUnitTopicList,
                                    RequestCode::GetHasUnitSubTopicList, RequestCode::GetHasUnitSubUnunitTopicList};
constexpr std::array kConfigCodes{RequestCode::PutKvConfig, RequestCode::GetKvConfig, RequestCode::DeleteKvConfig,
                                  RequestCode::GetKvlistByNamespace, RequestCode::UpdateNamesrvConfig,
                                  RequestCode::GetNamesrvConfig};
constexpr std::array kReachCodes{static_cast<RequestCode>(protocol::PrivateCode::ReachBroker)};

}  // namespace

Status NamesrvPlugin::configure(const plugin::ConfigView& config) {
    config_.read(config);
    auto localOnly = plugin::LocalOnly::parse("namesrvLocalOnlyCodes", config.text("namesrvLocalOnlyCodes"));
    if (!localOnly) return localOnly.error();
    localOnly_ = std::move(*localOnly);
    return Status::ok();
}

Status NamesrvPlugin::init(plugin::PluginContext& context) {
    context_ = &context;
    std::string path = config_.kvConfigPath;
    if (path.empty()) path = context.identity().storeRoot + std::string(kDefaultKvFile);
    kv_ = std::make_unique<KvConfig>(context.files(), std::move(path));
    notifier_ = std::make_unique<MinBrokerNotifier>(context.remoting(), context.log(), config_.switches);
    routeProcessor_ = std::make_unique<RouteProcessor>(routes_, *kv_, config_.switches, context.clock());
    registryProcessor_ = std::make_unique<RegistryProcessor>(routes_, *kv_, config_.switches, *notifier_, context.clock(),
                                                             context.log());
    registryProcessor_->setExpiry(config_.brokerExpiry);
    configProcessor_ = std::make_unique<ConfigProcessor>(*kv_, context.runtimeConfig(), context.log(), localOnly_);
    reachProcessor_ = std::make_unique<ReachProcessor>(routes_, context.remoting(), context.clock(), config_.reachesMax);
    return bindProcessors();
}

Status NamesrvPlugin::bindProcessors() {
    auto& processors = context_->processors();
    plugin::BindOptions onLoop;
    onLoop.listener = kListener;
    onLoop.loopSafe = true;
    if (auto bound = processors.bind(kRouteCodes, *routeProcessor_, onLoop); !bound) return bound;
    if (auto bound = processors.bind(kReachCodes, *reachProcessor_, onLoop); !bound) return bound;

    // Two executors: a disk that is slow for the key-value table shall not hold up registrations.
    plugin::BindOptions registry;
    registry.listener = kListener;
    registry.executor.name = "namesrv";
    registry.executor.queueCapacity = config_.queueCapacity;
    if (auto bound = processors.bind(kRegistryCodes, *registryProcessor_, registry); !bound) return bound;
    plugin::BindOptions admin = registry;
    admin.executor.name = "namesrv-config";
    return processors.bind(kConfigCodes, *configProcessor_, admin);
}

Status NamesrvPlugin::start() {
    if (auto loaded = kv_->load(context_->log()); !loaded) return loaded;
    context_->addPeerListener(*this);
    scanTimer_ = context_->timers().every(config_.scanFirst, config_.scanInterval, [this] { scan(); });
    return Status::ok();
}

Status NamesrvPlugin::reconfigure(const plugin::ConfigView& config, std::span<const std::string_view>) {
    const auto interval = config_.scanInterval;
    config_.read(config);
    registryProcessor_->setExpiry(config_.brokerExpiry);
    if (config_.scanInterval != interval) {
        context_->timers().cancel(scanTimer_);
        scanTimer_ = context_->timers().every(config_.scanInterval, config_.scanInterval, [this] { scan(); });
    }
    return Status::ok();
}

void NamesrvPlugin::stop() noexcept {
    if (context_ != nullptr) context_->removePeerListener(*this);
}

void NamesrvPlugin::peerClosed(plugin::Peer& peer) noexcept {
    if (peer.listener() != kListener || !routes_.isBroker(peer)) return;
    // Taking a broker's topics out takes a while when it has many, and this is a loop.
    context_->timers().post([this, gone = Ref<plugin::Peer>::share(&peer)] {
        notifier_->departed(routes_.unregisterPeer(*gone), "connection closed");
    });
}

void NamesrvPlugin::scan() { notifier_->departed(routes_.expire(context_->clock().now()), "silent for too long"); }

}  // namespace patchbay::plugins::namesrv

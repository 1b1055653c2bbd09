// The admin plugin: what it registers.
#include "BrokerAdmin.h"
#include "GroupAdmin.h"
#include "StatsAdmin.h"
#include "StoreAdmin.h"
#include "TopicAdmin.h"

#include "patchbay/plugin/Administration.h"

#include <array>
#include <memory>

namespace patchbay::plugins::admin {

class AdminPlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return AdminConfig::keys(); }

    Status configure(const plugin::ConfigView& config) override {
        auto read = AdminConfig::from(config);
        if (!read) return read.error();
        config_ = std::move(*read);
        return Status::ok();
    }

    Status init(plugin::PluginContext& context) override {
        if (auto borrowed = borrow(context.services()); !borrowed) return borrowed;
        context_ = &context;
        stats_ = std::make_unique<RuntimeStats>(*services_.store, services_.timers ? &*services_.timers : nullptr, context.clock());
        topics_ = std::make_unique<TopicAdmin>(services_, context.identity(), config_);
        groups_ = std::make_unique<GroupAdmin>(services_, context.identity());
        consumption_ = std::make_unique<StatsAdmin>(services_, context.identity(), context.clock());
        broker_ = std::make_unique<BrokerAdmin>(services_, context, *stats_);
        storeAdmin_ = std::make_unique<StoreAdmin>(services_, config_, context);
        return bind(context.processors());
    }

    Status start() override {
        stats_->sample();
        context_->timers().every(RuntimeStats::kInterval, RuntimeStats::kInterval, [this] { stats_->sample(); });
        return Status::ok();
    }

    void stop() noexcept override {
        storeAdmin_.reset();
        broker_.reset();
        consumption_.reset();
        groups_.reset();
        topics_.reset();
        stats_.reset();
        services_ = {};
    }

private:
    Status borrow(plugin::Services& from) {
        Status result;
        if (result = from.require(services_.store); !result) return result;
        if (result = from.require(services_.topics); !result) return result;
        if (result = from.require(services_.groups); !result) return result;
        if (result = from.require(services_.offsets); !result) return result;
        if (result = from.require(services_.clients); !result) return result;
        services_.registration = from.want<service::Registration>();
        services_.traffic = from.want<service::TrafficStats>();
        services_.observation = from.want<service::Observation>();
        services_.timers = from.want<service::TimerSchedule>();
        services_.delays = from.want<service::DelaySchedule>();
        services_.localOnly = config_.localOnly;
        return Status::ok();
    }

    Status bind(plugin::Processors& processors) {
        using Code = protocol::RequestCode;
        static constexpr std::array kTopics{Code::UpdateAndCreateTopic, Code::UpdateAndCreateTopicList, Code::DeleteTopicInBroker,
                                            Code::GetSystemTopicListFromBroker, Code::GetTopicConfig};
        static constexpr std::array kGroups{Code::UpdateAndCreateSubscriptiongroup, Code::GetConsumerConnectionList,
                                            Code::GetProducerConnectionList, Code::DeleteSubscriptiongroup,
                                            Code::UpdateAndCreateSubscriptiongroupList, Code::QueryTopicConsumeByWho,
                                            Code::QueryTopicsByConsumer, Code::GetSubscriptiongroupConfig};
        static constexpr std::array kConsumption{Code::GetConsumeStats, Code::QueryConsumeTimeSpan, Code::GetBrokerConsumeStats,
                                                 Code::GetAllProducerInfo, Code::QuerySubscriptionByConsumer};
        // Whole tables: slaves of RocketMQ ask their master for them.
        static constexpr std::array kAllTopics{Code::GetAllTopicConfig};
        static constexpr std::array kAllGroups{Code::GetAllSubscriptiongroupConfig};
        static constexpr std::array kAllOffsets{Code::GetAllConsumerOffset};
        // The ends of a topic's queues, which clients may ask for one by one (30, 31): whoever reads messages begins with them.
        static constexpr std::array kEnds{Code::GetTopicStatsInfo};
        static constexpr std::array kBroker{Code::UpdateBrokerConfig, Code::GetBrokerConfig, Code::GetBrokerRuntimeInfo};
        static constexpr std::array kStore{Code::CleanExpiredConsumequeue, Code::CleanUnusedTopic, Code::QueryConsumeQueue,
                                           Code::DeleteExpiredCommitlog};
        plugin::BindOptions options;
        options.executor = {"admin", config_.threads, config_.queueCapacity, std::chrono::milliseconds(0)};
        if (auto bound = plugin::bindForOperatorsToo(processors, kAllTopics, *topics_, options); !bound) return bound;
        if (auto bound = plugin::bindForOperatorsToo(processors, kAllGroups, *groups_, options); !bound) return bound;
        if (auto bound = plugin::bindForOperatorsToo(processors, kAllOffsets, *consumption_, options); !bound) return bound;
        if (auto bound = plugin::bindForOperatorsToo(processors, kEnds, *topics_, options); !bound) return bound;
        if (auto bound = plugin::bindAdministration(processors, kTopics, *topics_, options); !bound) return bound;
        if (auto bound = plugin::bindAdministration(processors, kGroups, *groups_, options); !bound) return bound;
        if (auto bound = plugin::bindAdministration(processors, kConsumption, *consumption_, options); !bound) return bound;
        if (auto bound = plugin::bindAdministration(processors, kBroker, *broker_, options); !bound) return bound;
        return plugin::bindAdministration(processors, kStore, *storeAdmin_, options);
    }

    AdminConfig config_;
    AdminServices services_;
    plugin::PluginContext* context_ = nullptr;
    std::unique_ptr<RuntimeStats> stats_;
    std::unique_ptr<TopicAdmin> topics_;
    std::unique_ptr<GroupAdmin> groups_;
    std::unique_ptr<StatsAdmin> consumption_;
    std::unique_ptr<BrokerAdmin> broker_;
    std::unique_ptr<StoreAdmin> storeAdmin_;
};

}  // namespace patchbay::plugins::admin

PATCHBAY_PLUGIN(patchbay::plugins::admin::AdminPlugin, "admin", "1.0.0",
                "Serves administration: topics, groups, configuration and state of the broker.",
                patchbay::plugin::kConcurrentGenerations, "",
                "patchbay.MessageStore/1 patchbay.TopicConfigs/1 patchbay.SubscriptionGroups/1 patchbay.ConsumerOffsets/1 "
                "patchbay.ClientRegistry/1",
                "patchbay.Registration/1 patchbay.TrafficStats/1 patchbay.Observation/1 patchbay.TimerSchedule/2 "
                "patchbay.DelaySchedule/1")

// The pull plugin: what it registers.
#include "PullProcessor.h"
#include "QueryProcessor.h"

#include <array>
#include <memory>

namespace patchbay::plugins::pull {

class PullPlugin final : public plugin::Plugin {
public:
    std::span<const plugin::ConfigKey> configKeys() const noexcept override { return PullConfig::keys(); }

    Status configure(const plugin::ConfigView& config) override {
        config_ = PullConfig::from(config);
        limits_.set(config);
        return Status::ok();
    }

    Status reconfigure(const plugin::ConfigView& config, std::span<const std::string_view>) override {
        limits_.set(config);
        return Status::ok();
    }

    Status init(plugin::PluginContext& context) override {
        if (auto borrowed = borrow(context.services()); !borrowed) return borrowed;
        hold_ = std::make_unique<PullHold>(context.timers(), context.clock(), config_.heldPullsMax, config_.heldPullsOfConnectionMax,
                                           config_.heldPullsBytesMax);
        pull_ = std::make_unique<PullProcessor>(services_, context, config_, limits_, *hold_);
        query_ = std::make_unique<QueryProcessor>(services_, config_);
        return bind(context.processors());
    }

    Status start() override {
        services_.store->addListener(*hold_);
        return Status::ok();
    }

    void drain() noexcept override {
        if (hold_) hold_->drain();
    }

    void stop() noexcept override {
        if (hold_) services_.store->removeListener(*hold_);
        query_.reset();
        pull_.reset();
        hold_.reset();
        services_ = {};
    }

private:
    Status borrow(plugin::Services& from) {
        Status result;
        if (result = from.require(services_.store); !result) return result;
        if (result = from.require(services_.topics); !result) return result;
        if (result = from.require(services_.groups); !result) return result;
        if (result = from.require(services_.offsets); !result) return result;
        services_.filters = from.want<service::MessageFilter>();
        return from.require(services_.clients);
    }

    Status bind(plugin::Processors& processors) {
        using Code = protocol::RequestCode;
        static constexpr std::array kPulls{Code::PullMessage, Code::LitePullMessage};
        static constexpr std::array kEnds{Code::GetMaxOffset, Code::GetMinOffset};
        static constexpr std::array kSearches{Code::QueryMessage};
        static constexpr std::array kQueries{Code::SearchOffsetByTimestamp, Code::GetEarliestMsgStoretime, Code::ViewMessageById};
        plugin::BindOptions options;
        options.executor = {"pull", config_.threads, config_.queueCapacity, config_.queueWaitMax};
        options.loopSafe = true;
        if (auto bound = processors.bind(kPulls, *pull_, options); !bound) return bound;
        if (auto bound = processors.bind(kEnds, *query_, options); !bound) return bound;
        options.loopSafe = false;
        if (auto bound = processors.bind(kQueries, *query_, options); !bound) return bound;
        // Of its own: one question may read thousands of messages, and consumers would wait for it.
        options.executor = {"query", 1, kSearchesMax, config_.queueWaitMax};
        return processors.bind(kSearches, *query_, options);
    }

    static constexpr std::uint32_t kSearchesMax = 1000;  // that wait

    PullConfig config_;
    PullLimits limits_;
    PullServices services_;
    std::unique_ptr<PullHold> hold_;
    std::unique_ptr<PullProcessor> pull_;
    std::unique_ptr<QueryProcessor> query_;
};

}  // namespace patchbay::plugins::pull

PATCHBAY_PLUGIN(patchbay::plugins::pull::PullPlugin, "pull", "1.0.0",
                "Hands messages to consumers, now or when they come; answers questions about queues.",
                patchbay::plugin::kConcurrentGenerations, "",
                "patchbay.MessageStore/1 patchbay.TopicConfigs/1 patchbay.SubscriptionGroups/1 patchbay.ConsumerOffsets/1 "
                "patchbay.ClientRegistry/1",
                "patchbay.MessageFilter/1")

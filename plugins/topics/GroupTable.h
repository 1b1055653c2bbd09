// GroupTable: the consumer groups of this broker, in memory and in subscriptionGroup.json.
#pragma once

#include "JournaledFile.h"
#include "TopicsConfig.h"

#include "patchbay/base/NameMap.h"
#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/SubscriptionGroups.h"

#include <atomic>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugins::topics {

/// The SubscriptionGroups service. Owned by the plugin, from init() to its destruction; works from start() to stop().
/// Any thread; locks as in TopicTable. A change whose journal cannot be written does not happen and says why.
class GroupTable final : public service::SubscriptionGroups {
public:
    GroupTable(plugin::PluginContext& context, const TopicsConfig& config);

    Status start();
    /// Writes subscriptionGroup.json when it is not up to date. Timers must be cancelled.
    void stop() noexcept { file_.stop(); }
    void setAutoCreate(bool all, bool system) noexcept;

    [[nodiscard]] bool findOrCreate(std::string_view group, service::GroupFacts& facts) override;
    [[nodiscard]] bool find(std::string_view group, service::GroupFacts& facts) const noexcept override;
    [[nodiscard]] std::optional<protocol::SubscriptionGroupConfig> get(std::string_view group) const override;
    [[nodiscard]] std::vector<protocol::SubscriptionGroupConfig> all() const override;
    [[nodiscard]] protocol::DataVersion dataVersion() const override;
    Status put(const protocol::SubscriptionGroupConfig& config) override;
    Status remove(std::string_view group) override;
    [[nodiscard]] bool readForbidden(std::string_view group, std::string_view topic) const noexcept override;
    Status setReadForbidden(std::string_view group, std::string_view topic, bool forbidden) override;
    [[nodiscard]] std::string toJson() const override;

private:
    struct Entry {
        service::GroupFacts facts;
        protocol::SubscriptionGroupConfig config;
    };

    void insert(protocol::SubscriptionGroupConfig config);
    void erase(std::string_view group);
    Result<protocol::DataVersion> load(std::string_view text);
    void replay(const JournaledFile::Change& change);
    void replayForbidden(const std::string& group, json::Value bits);
    [[nodiscard]] bool mayCreate(std::string_view group) const;
    /// With mutex_ or the journal's lock held.
    [[nodiscard]] std::string encode(json::Dialect dialect) const;
    /// With the journal's lock held.
    Status commit(protocol::SubscriptionGroupConfig config);

    plugin::PluginContext& context_;
    std::atomic<bool> autoCreate_;
    std::atomic<bool> createSystem_;

    JournaledFile file_;

    mutable std::shared_mutex mutex_;  // guards all below; taken after the journal's lock
    NameMap<Entry> table_;
    protocol::ForbiddenTable forbidden_;
    protocol::DataVersion version_;
};

}  // namespace patchbay::plugins::topics

// TopicTable: the topics of this broker, in memory and in topics.json.
#pragma once

#include "JournaledFile.h"
#include "TopicsConfig.h"

#include "patchbay/base/NameMap.h"
#include "patchbay/plugin/Plugin.h"
#include "patchbay/protocol/message/Names.h"
#include "patchbay/service/TopicConfigs.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::plugins::topics {

/// The TopicConfigs service. Owned by the plugin, from init() to its destruction; works from start() to stop().
/// Any thread: readers share one lock that writers hold only to change the table in memory; the journal is written before,
/// under a lock of its own, so that a look-up never waits for the disk.
/// A change whose journal cannot be written does not happen and says why.
class TopicTable final : public service::TopicConfigs {
public:
    TopicTable(plugin::PluginContext& context, const TopicsConfig& config);

    Status start();
    /// Writes topics.json when it is not up to date. Timers must be cancelled.
    void stop() noexcept { file_.stop(); }
    void setAutoCreate(bool on) noexcept { autoCreate_.store(on, std::memory_order_relaxed); }

    [[nodiscard]] bool find(std::string_view topic, service::TopicFacts& facts) const noexcept override;
    [[nodiscard]] std::optional<protocol::TopicConfig> get(std::string_view topic) const override;
    [[nodiscard]] std::vector<protocol::TopicConfig> all() const override;
    [[nodiscard]] protocol::DataVersion dataVersion() const override;
    Status put(const protocol::TopicConfig& config) override;
    Status putAll(std::vector<protocol::TopicConfig> configs) override;
    Status remove(std::string_view topic) override;
    Result<service::TopicFacts> createForSend(const service::TopicWish& wish) override;
    Result<service::TopicFacts> createIfMissing(std::string_view topic, std::int32_t queueNums, std::int32_t perm,
                                                std::int32_t sysFlag, bool order) override;
    [[nodiscard]] bool isSystem(std::string_view topic) const override;
    [[nodiscard]] std::vector<std::string> systemTopics() const override;
    void addListener(service::TopicListener& listener) override;
    /// Waits until the listener is not being called; not from inside topicChanged().
    void removeListener(service::TopicListener& listener) noexcept override;

private:
    struct Entry {
        service::TopicFacts facts;
        protocol::TopicConfig config;
    };

    [[nodiscard]] bool isLmq(std::string_view topic) const noexcept { return config_.lmq && topic.starts_with(protocol::kLmqPrefix); }
    void insert(protocol::TopicConfig config);
    Result<protocol::DataVersion> load(std::string_view text);
    void replay(const JournaledFile::Change& change);
    [[nodiscard]] std::string wholeText(protocol::DataVersion& version) const;
    /// With the journal's lock held.
    Result<protocol::TopicConfig> merged(const protocol::TopicConfig& wanted, bool& same) const;
    /// Says in the log that a topic which somebody needed now could not be made; who asked for it may be a client that tells nobody.
    Status notCreated(std::string_view topic, Status why) const;
    Status commit(protocol::TopicConfig config);
    void tell(std::string_view topic, const protocol::TopicConfig* config) noexcept;

    plugin::PluginContext& context_;
    const TopicsConfig config_;
    std::set<std::string, std::less<>> created_;  // at start; constant afterwards
    std::atomic<bool> autoCreate_;

    JournaledFile file_;

    mutable std::shared_mutex mutex_;  // guards table_ and version_; taken after the journal's lock
    NameMap<Entry> table_;
    protocol::DataVersion version_;

    std::mutex listenerMutex_;  // guards the two below
    std::vector<service::TopicListener*> listeners_;
    int telling_ = 0;
    std::condition_variable told_;
};

}  // namespace patchbay::plugins::topics

// OffsetService: the ConsumerOffsets service, with its file.
#pragma once

#include "BroadcastOffsets.h"
#include "OffsetTable.h"
#include "OffsetsConfig.h"

#include "patchbay/plugin/Plugin.h"
#include "patchbay/service/ConsumerOffsets.h"
#include "patchbay/service/MessageStore.h"
#include "patchbay/service/TopicConfigs.h"

#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

namespace patchbay::plugins::consumer_offsets {

/// Owned by the plugin, from init() to its destruction; works from start() to stop(). Any thread; only persist() touches the
/// disk, on the control executor or its caller's thread. A failed write is logged and tried again in the next round; changes
/// since the last good one are what a crash may lose.
class OffsetService final : public service::ConsumerOffsets, private service::TopicListener {
public:
    OffsetService(plugin::PluginContext& context, const OffsetsConfig& config);

    /// Loads the file and, when there is a store, pulls back offsets that are ahead of it.
    Status start(service::TopicConfigs& topics, service::MessageStore* store);
    void stop(service::TopicConfigs& topics) noexcept;

    [[nodiscard]] std::int64_t query(std::string_view group, std::string_view topic, std::int32_t queueId) const noexcept override;
    void commit(std::string_view client, std::string_view group, std::string_view topic, std::int32_t queueId,
                std::int64_t offset) override;
    bool commitFrom(const plugin::Peer& client, std::string_view group, std::string_view topic, std::int32_t queueId,
                    std::int64_t offset) override;
    void notePull(std::string_view group, std::string_view topic, std::int32_t queueId, const service::PullNote& note) override;
    [[nodiscard]] std::int64_t queryPull(std::string_view group, std::string_view topic, std::int32_t queueId) const noexcept override;
    void assignReset(std::string_view group, std::string_view topic, std::int32_t queueId, std::int64_t offset) override;
    [[nodiscard]] std::optional<std::int64_t> takeReset(std::string_view group, std::string_view topic,
                                                        std::int32_t queueId) noexcept override;
    void noteBroadcast(const service::BroadcastPull& pull, std::int64_t offset) override;
    [[nodiscard]] std::int64_t broadcastStart(const service::BroadcastPull& pull) const override;
    [[nodiscard]] std::vector<service::QueueProgress> progress(std::string_view group, std::string_view topic) const override;
    [[nodiscard]] std::map<std::int32_t, std::int64_t> queues(std::string_view group, std::string_view topic) const override;
    [[nodiscard]] std::vector<std::string> topicsOf(std::string_view group) const override;
    [[nodiscard]] std::vector<std::string> groupsOf(std::string_view topic) const override;
    void removeGroup(std::string_view group) override;
    void removeTopic(std::string_view topic) override;
    void clone(std::string_view fromGroup, std::string_view toGroup, std::string_view topic) override;
    [[nodiscard]] std::string toJson() const override;
    Status persist() override;

    /// The waiting reset of a queue, without taking it.
    [[nodiscard]] std::optional<std::int64_t> waitingReset(std::string_view group, std::string_view topic, std::int32_t queueId) const noexcept;
    /// Whether startsAtZero() would wait for the disk: queues may not have been looked at yet.
    [[nodiscard]] bool mustWait(std::string_view topic, std::int32_t queueId) const;
    /// Whether a group without an offset begins at 0: the first message of the queue is still there and in memory.
    [[nodiscard]] bool startsAtZero(std::string_view topic, std::int32_t queueId) const;

private:
    void topicChanged(std::string_view topic, const protocol::TopicConfig* config) noexcept override;
    Status load();
    void clampToStore(service::TopicConfigs& topics, service::MessageStore& store);
    void count() noexcept;
    void movedBack(std::string_view client, std::string_view group, std::string_view topic, std::int32_t queueId, std::int64_t from,
                   std::int64_t to);
    [[nodiscard]] std::string encode(json::Dialect dialect) const;

    plugin::PluginContext& context_;
    const OffsetsConfig config_;
    const std::string path_;
    plugin::Counter& backwards_;

    service::MessageStore* store_ = nullptr;  // from start() to stop(); may stay null

    OffsetTable table_;
    BroadcastOffsets broadcast_;
    std::atomic<std::uint64_t> commits_{0};

    mutable std::mutex versionMutex_;
    protocol::DataVersion version_;

    std::mutex persistMutex_;  // one write at a time
    std::uint64_t persisted_ = 0;  // guarded by it: the changes that are in the file
    bool loaded_ = false;  // without it, stop() must not write over a file that could not be read
};

}  // namespace patchbay::plugins::consumer_offsets

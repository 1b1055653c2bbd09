// TopicConfigs: which topics this broker has, and how they are set up.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/plugin/Services.h"
#include "patchbay/protocol/route/TopicConfig.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::service {

/// What every send and pull asks of a topic; small enough to be copied.
struct TopicFacts {
    std::int32_t readQueueNums = 0;
    std::int32_t writeQueueNums = 0;
    std::int32_t perm = 0;         ///< bits of protocol Names.h: read 4, write 2, inherit 1
    std::int32_t sysFlag = 0;
    bool order = false;
    bool multiTag = false;         ///< topicFilterType MULTI_TAG
    bool batchQueues = false;      ///< attribute queue.type=BatchCQ: a record may hold several messages
    bool compacted = false;        ///< attribute cleanup.policy=COMPACTION: the last message of a key is kept, so each needs one
};

/// A request to create a topic because somebody sends to it (autoCreateTopicEnable).
struct TopicWish {
    std::string_view topic;
    std::string_view defaultTopic;          ///< whose settings are inherited, as the client said
    std::int32_t queueNums = 4;
    std::int32_t sysFlag = 0;
    std::string_view client;                ///< for the log
};

/// Told after a topic was created, changed or deleted. Runs on the thread that changed it, without locks held.
class TopicListener {
public:
    virtual ~TopicListener();
    /// `config` is null when it was deleted.
    virtual void topicChanged(std::string_view topic, const protocol::TopicConfig* config) noexcept = 0;
};

/// Thread-safe. Changes are durable when the call returns.
class TopicConfigs {
public:
    static constexpr plugin::ServiceId kId{"patchbay.TopicConfigs", 1};
    virtual ~TopicConfigs();

    /// Hot: one look-up, no allocation.
    [[nodiscard]] virtual bool find(std::string_view topic, TopicFacts& facts) const noexcept = 0;
    [[nodiscard]] virtual std::optional<protocol::TopicConfig> get(std::string_view topic) const = 0;
    [[nodiscard]] virtual std::vector<protocol::TopicConfig> all() const = 0;
    [[nodiscard]] virtual protocol::DataVersion dataVersion() const = 0;

    virtual Status put(const protocol::TopicConfig& config) = 0;
    virtual Status putAll(std::vector<protocol::TopicConfig> configs) = 0;
    /// NotFound when it does not exist; Denied for system topics.
    virtual Status remove(std::string_view topic) = 0;

    /// Creates a topic by RocketMQ's rules of inheritance; the facts of the new or, meanwhile, existing topic. NotFound when
    /// the rules do not allow it.
    virtual Result<TopicFacts> createForSend(const TopicWish& wish) = 0;
    /// Creates a topic with given settings if it is missing (retry and dead-letter topics).
    virtual Result<TopicFacts> createIfMissing(std::string_view topic, std::int32_t queueNums, std::int32_t perm,
                                               std::int32_t sysFlag, bool order = false) = 0;

    /// True for the topics that belong to the system on every broker; they cannot be sent to or deleted as noted in Names.h.
    [[nodiscard]] virtual bool isSystem(std::string_view topic) const = 0;
    [[nodiscard]] virtual std::vector<std::string> systemTopics() const = 0;

    virtual void addListener(TopicListener& listener) = 0;
    virtual void removeListener(TopicListener& listener) noexcept = 0;
};

}  // namespace patchbay::service

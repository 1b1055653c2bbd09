// ConsumeQueueTable: every queue of the store, found by topic and number.
#pragma once

#include "ConsumeQueue.h"

#include "patchbay/service/MessageStore.h"

#include <functional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace patchbay::mmapstore {

/// Purpose: finds queues; knows from the directories which exist and leaves their files alone.
/// Owned by the store. Any thread; a shared lock for look-ups, an exclusive one only when a queue is new or a topic goes.
class ConsumeQueueTable {
public:
    /// `isBatchTopic`: which kind of queues a topic without any gets; may be empty. Asked without the lock of this table.
    ConsumeQueueTable(QueueEnvironment& environment, std::function<bool(std::string_view)> isBatchTopic) noexcept
        : env_(environment), isBatchTopic_(std::move(isBatchTopic)) {}

    /// Lists the directories.
    Status open();
    void clear();

    /// Null when there is none.
    [[nodiscard]] Ref<ConsumeQueue> find(std::string_view topic, std::int32_t queueId) const;
    /// The queue, new when there was none. Its files are not looked at.
    [[nodiscard]] Ref<ConsumeQueue> obtain(std::string_view topic, std::int32_t queueId);
    /// Of the queues that a topic has or would get.
    [[nodiscard]] QueueKind kindOf(std::string_view topic) const;

    [[nodiscard]] bool hasTopic(std::string_view topic) const;
    [[nodiscard]] std::vector<service::QueueKey> keys() const;
    [[nodiscard]] std::vector<Ref<ConsumeQueue>> all() const;
    /// Whether there are queues whose files were not looked at yet.
    [[nodiscard]] bool anyUnloaded() const noexcept { return env_.unloaded.load(std::memory_order_relaxed) > 0; }
    /// Number of queues that hold or held messages.
    [[nodiscard]] std::size_t size() const;
    /// Replaces a queue by an empty one and moves its files away; for recovery, while nobody uses it. Where they went, when they were set
    /// aside: with `keep`, or when there is something that no queue has; otherwise they are removed by the next start.
    Result<std::string> reset(std::string_view topic, std::int32_t queueId, bool keep);
    struct Aside {
        std::string from;  ///< the directory that it was in
        std::string to;
    };
    /// Takes the topic out of the table and its directories aside, so that a topic of this name can begin anew at once. Quick: what
    /// takes time is before and after it. Readers keep what they hold. What went aside, for removeAside().
    Result<std::vector<Aside>> takeOut(std::string_view topic);
    /// Before takeOut(): makes the place for it.
    Status prepareTakeOut() { return env_.files.makeDirectories(env_.layout.discarded()); }
    /// Makes it durable that a topic is gone, and removes its files.
    Status removeAside(const std::vector<Aside>& asides);

private:
    struct Topic {
        Ref<TopicName> name;
        QueueKind kind;
        std::vector<Ref<ConsumeQueue>> queues;  // by id
    };
    [[nodiscard]] static std::vector<Ref<ConsumeQueue>>::const_iterator place(const Topic& topic, std::int32_t queueId);
    Ref<ConsumeQueue> add(std::string_view topic, std::int32_t queueId, QueueKind kind, bool onDisk);
    Status list(QueueKind kind);
    Status listTopic(const std::string& topic, QueueKind kind);
    [[nodiscard]] bool isUnderstood(const std::string& directory, QueueKind kind) const;

    QueueEnvironment& env_;
    const std::function<bool(std::string_view)> isBatchTopic_;
    mutable std::shared_mutex mutex_;
    std::unordered_map<std::string_view, Topic> topics_;  // keys are the names in the values
    std::size_t queues_ = 0;                              // with those that were never used
    std::uint64_t removals_ = 0;  // directories that were moved away
};

/// Removes a directory and everything in it. NotFound is success.
Status removeTree(FileSystem& files, const std::string& path);

}  // namespace patchbay::mmapstore

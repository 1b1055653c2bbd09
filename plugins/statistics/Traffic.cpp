#include "Traffic.h"

#include <new>
#include <set>
#include <vector>

namespace patchbay::plugins::statistics {

void Traffic::add(std::string_view topic, std::int64_t messages, std::int64_t bytes) noexcept {
    const auto count = [messages, bytes](Stored& stored) {
        stored.messages.fetch_add(messages, std::memory_order_relaxed);
        stored.bytes.fetch_add(bytes, std::memory_order_relaxed);
    };
    {
        const std::shared_lock lock(mutex_);
        if (const auto at = puts_.find(topic); at != puts_.end()) return count(*at->second);
    }
    try {
        const std::unique_lock lock(mutex_);
        auto& stored = puts_[std::string(topic)];
        if (!stored) stored = std::make_unique<Stored>();
        count(*stored);
    } catch (const std::bad_alloc&) {
        // A message that is not counted is better than one that is not stored.
    }
}

void Traffic::appended(std::span<const service::AppendedRecord> records) noexcept {
    // A message that is in further queues as well was put once, into the first of them.
    const auto isAgain = [&](std::size_t i) { return i > 0 && records[i].physicalOffset == records[i - 1].physicalOffset; };
    std::int64_t all = 0;
    for (std::size_t i = 0; i < records.size();) {
        const std::string_view topic = records[i].topic;
        std::int64_t messages = 0;
        std::int64_t bytes = 0;
        for (; i < records.size() && (isAgain(i) || records[i].topic == topic); ++i) {
            if (isAgain(i)) continue;
            ++messages;
            bytes += records[i].recordBytes;
        }
        all += messages;
        add(topic, messages, bytes);
    }
    brokerPut_.fetch_add(all, std::memory_order_relaxed);
}

std::optional<service::TrafficStats::Figures> Traffic::find(std::string_view name, std::string_view key) const {
    const bool bytes = name == "TOPIC_PUT_SIZE";
    const std::shared_lock lock(mutex_);
    const std::lock_guard windows(windows_);
    if (bytes || name == "TOPIC_PUT_NUMS") {
        const auto at = puts_.find(key);
        if (at == puts_.end()) return std::nullopt;
        return (bytes ? at->second->byteWindows : at->second->messageWindows).figures();
    }
    if (name == "GROUP_GET_NUMS") {
        const auto at = gets_.find(key);
        return at == gets_.end() ? std::nullopt : std::optional(at->second.figures());
    }
    if (key != cluster_) return std::nullopt;
    if (name == "BROKER_PUT_NUMS") return brokerPutWindows_.figures();
    if (name == "BROKER_GET_NUMS") return brokerGot_.figures();
    return std::nullopt;
}

void Traffic::sample(const Sources& from) {
    {
        // Shared: whoever counts meanwhile does not wait.
        const std::shared_lock lock(mutex_);
        const std::lock_guard windows(windows_);
        const std::int64_t now = clock_.wallMs();
        for (auto& [topic, stored] : puts_) {
            const std::int64_t messages = stored->messages.load(std::memory_order_relaxed);
            stored->messageWindows.take({now, messages, messages}, tick_);
            stored->byteWindows.take({now, messages, stored->bytes.load(std::memory_order_relaxed)}, tick_);
        }
        brokerPutWindows_.take({now, 0, brokerPut_.load(std::memory_order_relaxed)}, tick_);
        brokerGot_.take(from.store->stats().messagesRead, now, tick_);
        sampleReads(from, now);
        ++tick_;
    }
    forgetTopics(from);
}

void Traffic::sampleReads(const Sources& from, std::int64_t wallMs) {
    for (const auto& group : from.groups->all()) {
        std::set<std::string> topics;
        for (auto& topic : from.offsets->topicsOf(group.groupName)) topics.insert(std::move(topic));
        for (const auto& subscription : from.clients->subscriptions(group.groupName)) topics.insert(subscription.topic);
        for (const auto& topic : topics) {
            std::int64_t delivered = 0;
            for (const auto& queue : from.offsets->progress(group.groupName, topic)) delivered += queue.pull.delivered;
            std::string key = topic + "@" + group.groupName;
            if (delivered > 0 || gets_.contains(key)) gets_[std::move(key)].take(delivered, wallMs, tick_);
        }
    }
    std::erase_if(gets_, [this](const auto& entry) { return entry.second.tick() != tick_; });
}

void Traffic::forgetTopics(const Sources& from) {
    std::vector<std::string> gone;
    {
        const std::shared_lock lock(mutex_);
        for (const auto& [topic, stored] : puts_) {
            service::TopicFacts facts;
            if (!from.topics->find(topic, facts) && !from.topics->isSystem(topic)) gone.push_back(topic);
        }
    }
    if (gone.empty()) return;
    const std::unique_lock lock(mutex_);
    for (const auto& topic : gone) puts_.erase(topic);
}

}  // namespace patchbay::plugins::statistics

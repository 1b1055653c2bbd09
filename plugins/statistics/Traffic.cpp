#include "Traffic.h"

#include <new>
#include <set>

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
        if (!stored) stored = std::make_shared<Stored>();
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
    if (bytes || name == "TOPIC_PUT_NUMS") {
        std::shared_ptr<const Stored> stored;
        {
            const std::shared_lock lock(mutex_);
            if (const auto at = puts_.find(key); at != puts_.end()) stored = at->second;
        }
        if (!stored) return std::nullopt;
        const std::lock_guard windows(windows_);
        return (bytes ? stored->byteWindows : stored->messageWindows).figures();
    }
    const std::lock_guard windows(windows_);
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
    // What others are asked for they are asked before: an append waits for whoever holds mutex_, and it holds up all others.
    const std::vector<Counted> topics = counted();
    const std::vector<Read> reads = readsOf(from);
    const std::int64_t read = from.store->stats().messagesRead;
    {
        const std::lock_guard windows(windows_);
        const std::int64_t now = clock_.wallMs();
        for (const Counted& one : topics) {
            const std::int64_t messages = one.stored->messages.load(std::memory_order_relaxed);
            one.stored->messageWindows.take({now, messages, messages}, tick_);
            one.stored->byteWindows.take({now, messages, one.stored->bytes.load(std::memory_order_relaxed)}, tick_);
        }
        brokerPutWindows_.take({now, 0, brokerPut_.load(std::memory_order_relaxed)}, tick_);
        brokerGot_.take(read, now, tick_);
        for (const Read& one : reads) {
            if (one.delivered > 0 || gets_.contains(one.key)) gets_[one.key].take(one.delivered, now, tick_);
        }
        std::erase_if(gets_, [this](const auto& entry) { return entry.second.tick() != tick_; });
        ++tick_;
    }
    forgetTopics(from, topics);
}

std::vector<Traffic::Counted> Traffic::counted() const {
    std::vector<Counted> all;
    const std::shared_lock lock(mutex_);
    all.reserve(puts_.size());
    for (const auto& [topic, stored] : puts_) all.push_back({&topic, stored.get()});
    return all;
}

std::vector<Traffic::Read> Traffic::readsOf(const Sources& from) {
    std::vector<Read> reads;
    for (const auto& group : from.groups->all()) {
        std::set<std::string> topics;
        for (auto& topic : from.offsets->topicsOf(group.groupName)) topics.insert(std::move(topic));
        for (const auto& subscription : from.clients->subscriptions(group.groupName)) topics.insert(subscription.topic);
        for (const auto& topic : topics) {
            std::int64_t delivered = 0;
            for (const auto& queue : from.offsets->progress(group.groupName, topic)) delivered += queue.pull.delivered;
            reads.push_back({topic + "@" + group.groupName, delivered});
        }
    }
    return reads;
}

void Traffic::forgetTopics(const Sources& from, const std::vector<Counted>& counted) {
    std::vector<std::string> gone;
    for (const Counted& one : counted) {
        service::TopicFacts facts;
        if (!from.topics->find(*one.topic, facts) && !from.topics->isSystem(*one.topic)) gone.push_back(*one.topic);
    }
    if (gone.empty()) return;
    const std::unique_lock lock(mutex_);
    for (const auto& topic : gone) puts_.erase(topic);
}

}  // namespace patchbay::plugins::statistics

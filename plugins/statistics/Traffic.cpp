#include "Traffic.h"

#include <algorithm>
#include <charconv>
#include <new>
#include <set>

namespace patchbay::plugins::statistics {

namespace {

using service::AppendedRecord;

// A message that is in further queues as well was put once, into the first of them.
bool isAgain(std::span<const AppendedRecord> records, std::size_t i) noexcept {
    return i > 0 && records[i].physicalOffset == records[i - 1].physicalOffset;
}

std::size_t sizeStep(std::int32_t bytes) noexcept {
    const auto& bounds = service::TrafficStats::TopicTotals::kSizeBounds;
    return static_cast<std::size_t>(std::ranges::lower_bound(bounds, static_cast<std::int64_t>(bytes)) - bounds.begin());
}

void raise(std::atomic<std::int64_t>& count, std::int64_t by) noexcept { count.fetch_add(by, std::memory_order_relaxed); }

std::int64_t valueOf(const std::atomic<std::int64_t>& count) noexcept { return count.load(std::memory_order_relaxed); }

/// The parts of "a@b@c".
std::vector<std::string_view> split(std::string_view key) {
    std::vector<std::string_view> parts;
    for (auto at = key.find('@'); at != std::string_view::npos; at = key.find('@')) {
        parts.push_back(key.substr(0, at));
        key.remove_prefix(at + 1);
    }
    parts.push_back(key);
    return parts;
}

std::optional<std::int32_t> numberOf(std::string_view text) noexcept {
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

void Traffic::add(Stored& stored, std::span<const AppendedRecord> run, std::int64_t now, bool detail) noexcept {
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
    std::array<std::int64_t, std::tuple_size_v<decltype(stored.sizes)>> sizes{};
    for (std::size_t i = 0; i < run.size();) {
        const std::int32_t queueId = run[i].queueId;
        std::int64_t inQueue = 0;
        std::int64_t bytesInQueue = 0;
        std::int64_t delayMs = 0;
        for (; i < run.size() && (isAgain(run, i) || run[i].queueId == queueId); ++i) {
            if (isAgain(run, i)) continue;
            ++inQueue;
            bytesInQueue += run[i].recordBytes;
            delayMs += std::max<std::int64_t>(now - run[i].storeTimestamp, 0);
            ++sizes[sizeStep(run[i].recordBytes)];
        }
        messages += inQueue;
        bytes += bytesInQueue;
        if (!detail || queueId < 0) continue;
        StoredInQueue& queue = *stored.queues[static_cast<std::size_t>(queueId)];
        raise(queue.messages, inQueue);
        raise(queue.bytes, bytesInQueue);
        if (delayMs > 0) raise(queue.delayMs, delayMs);
    }
    raise(stored.messages, messages);
    raise(stored.bytes, bytes);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] > 0) raise(stored.sizes[i], sizes[i]);
    }
}

bool Traffic::hasQueues(const Stored& stored, std::span<const AppendedRecord> run) noexcept {
    std::int32_t seen = -1;
    for (std::size_t i = 0; i < run.size(); ++i) {
        if (run[i].queueId <= -1 || run[i].queueId == seen || isAgain(run, i)) continue;
        seen = run[i].queueId;
        const auto id = static_cast<std::size_t>(seen);
        if (id >= stored.queues.size() || !stored.queues[id]) return false;
    }
    return true;
}

void Traffic::makeQueues(Stored& stored, std::span<const AppendedRecord> run) {
    for (std::size_t i = 0; i < run.size(); ++i) {
        if (run[i].queueId < 0 || isAgain(run, i)) continue;
        const auto id = static_cast<std::size_t>(run[i].queueId);
        if (id >= stored.queues.size()) stored.queues.resize(id + 1);
        if (!stored.queues[id]) stored.queues[id] = std::make_unique<StoredInQueue>();
    }
}

void Traffic::countRun(std::string_view topic, std::span<const AppendedRecord> run, std::int64_t now) noexcept {
    {
        const std::shared_lock lock(mutex_);
        const auto at = puts_.find(topic);
        if (at != puts_.end() && (!detail_ || hasQueues(*at->second, run))) return add(*at->second, run, now, detail_);
    }
    try {
        const std::unique_lock lock(mutex_);
        auto& stored = puts_[std::string(topic)];
        if (!stored) stored = std::make_shared<Stored>();
        if (detail_) makeQueues(*stored, run);
        add(*stored, run, now, detail_);
    } catch (const std::bad_alloc&) {
        // A message that is not counted is better than one that is not stored.
    }
}

void Traffic::appended(std::span<const AppendedRecord> records) noexcept {
    const std::int64_t now = clock_.wallMs();
    std::int64_t all = 0;
    for (std::size_t i = 0; i < records.size();) {
        const std::size_t from = i;
        const std::string_view topic = records[i].topic;
        for (; i < records.size() && (isAgain(records, i) || records[i].topic == topic); ++i) all += isAgain(records, i) ? 0 : 1;
        countRun(topic, records.subspan(from, i - from), now);
    }
    raise(brokerPut_, all);
}

std::optional<service::TrafficStats::Figures> Traffic::findPut(std::string_view name, std::string_view key) const {
    const bool ofTopic = name == "TOPIC_PUT_NUMS" || name == "TOPIC_PUT_SIZE";
    const auto parts = split(key);
    if (parts.size() != (ofTopic ? 1 : 2)) return std::nullopt;
    // The latency has its queue first.
    const bool queueFirst = name == "TOPIC_PUT_LATENCY";
    std::shared_ptr<const Stored> stored;
    const StoredInQueue* queue = nullptr;
    {
        const std::shared_lock lock(mutex_);
        const auto at = puts_.find(parts[queueFirst ? 1 : 0]);
        if (at == puts_.end()) return std::nullopt;
        stored = at->second;
        if (!ofTopic) {
            const auto id = numberOf(parts[queueFirst ? 0 : 1]);
            if (!id || *id < 0 || static_cast<std::size_t>(*id) >= stored->queues.size()) return std::nullopt;
            queue = stored->queues[static_cast<std::size_t>(*id)].get();
            if (queue == nullptr) return std::nullopt;
        }
    }
    const std::lock_guard windows(windows_);
    if (name == "TOPIC_PUT_NUMS") return stored->messageWindows.figures();
    if (name == "TOPIC_PUT_SIZE") return stored->byteWindows.figures();
    if (name == "QUEUE_PUT_NUMS") return queue->messageWindows.figures();
    return (queueFirst ? queue->delayWindows : queue->byteWindows).figures();
}

std::optional<service::TrafficStats::Figures> Traffic::findGet(std::string_view name, std::string_view key) const {
    const bool latency = name == "GROUP_GET_LATENCY";
    const bool ofQueue = name.starts_with("QUEUE_") || (latency && detail_);
    const auto parts = split(key);
    if (parts.size() != (ofQueue ? 3 : 2)) return std::nullopt;
    std::string both(key);
    std::optional<std::int32_t> id;
    if (ofQueue) {
        both = std::string(parts[latency ? 1 : 0]) + "@" + std::string(parts[2]);
        id = numberOf(parts[latency ? 0 : 1]);
        if (!id) return std::nullopt;
    }
    const auto at = gets_.find(both);
    if (at == gets_.end()) return std::nullopt;
    const ReadQueue* found = &at->second;
    if (id) {
        const auto queue = at->second.queues.find(*id);
        if (queue == at->second.queues.end()) return std::nullopt;
        found = &queue->second;
    }
    if (latency) return found->milliseconds.figures();
    return (name.ends_with("_SIZE") ? found->bytes : found->messages).figures();
}

std::optional<service::TrafficStats::Figures> Traffic::find(std::string_view name, std::string_view key) const {
    for (const std::string_view put : {"TOPIC_PUT_NUMS", "TOPIC_PUT_SIZE", "QUEUE_PUT_NUMS", "QUEUE_PUT_SIZE", "TOPIC_PUT_LATENCY"}) {
        if (name == put) return findPut(name, key);
    }
    const std::lock_guard windows(windows_);
    for (const std::string_view get : {"GROUP_GET_NUMS", "GROUP_GET_SIZE", "QUEUE_GET_NUMS", "QUEUE_GET_SIZE", "GROUP_GET_LATENCY"}) {
        if (name == get) return findGet(name, key);
    }
    if (const auto told = told_.find(std::pair(std::string(name), std::string(key))); told != told_.end()) return told->second.windows.figures();
    if (key != cluster_) return std::nullopt;
    if (name == "BROKER_PUT_NUMS") return brokerPutWindows_.figures();
    if (name == "BROKER_GET_NUMS") return brokerGot_.figures();
    if (name == "BROKER_PUT_NUMS_WITHOUT_SYSTEM_TOPIC") return userPutWindows_.figures();
    if (name == "BROKER_GET_NUMS_WITHOUT_SYSTEM_TOPIC") return userGetWindows_.figures();
    return std::nullopt;
}

std::vector<service::TrafficStats::TopicTotals> Traffic::topics() const {
    std::vector<TopicTotals> all;
    const std::shared_lock lock(mutex_);
    all.reserve(puts_.size());
    for (const auto& [topic, stored] : puts_) {
        auto& one = all.emplace_back();
        one.topic = topic;
        one.messages = valueOf(stored->messages);
        one.bytes = valueOf(stored->bytes);
        for (std::size_t i = 0; i < one.sizes.size(); ++i) one.sizes[i] = valueOf(stored->sizes[i]);
    }
    return all;
}

void Traffic::count(std::string_view name, std::string_view key, std::int64_t sum) {
    const std::lock_guard windows(windows_);
    Told& told = told_[{std::string(name), std::string(key)}];
    ++told.calls;
    told.sum += sum;
}

std::vector<service::TrafficStats::Counted> Traffic::counted() const {
    std::vector<Counted> all;
    const std::lock_guard windows(windows_);
    for (const auto& [names, told] : told_) all.push_back({names.first, names.second, told.sum});
    return all;
}

void Traffic::take(const Read& one, std::int64_t now) {
    if (one.all.delivered == 0 && !gets_.contains(one.key)) return;
    const auto takeNote = [&](ReadQueue& into, const service::PullNote& note) {
        into.messages.take(note.calls, note.delivered, now, tick_);
        into.bytes.take(note.calls, note.bytes, now, tick_);
        into.milliseconds.take(note.calls, note.readUs / 1000, now, tick_);
    };
    Reads& reads = gets_[one.key];
    const std::int64_t before = reads.messages.total();
    takeNote(reads, one.all);
    reads.tick = tick_;
    if (!one.system) userGot_ += reads.messages.total() - before;
    if (!detail_) return;
    for (const auto& queue : one.queues) {
        if (queue.pull.delivered > 0 || reads.queues.contains(queue.queueId)) takeNote(reads.queues[queue.queueId], queue.pull);
    }
}

void Traffic::sample(const Sources& from) {
    // What others are asked for they are asked before: an append waits for whoever holds mutex_, and it holds up all others.
    std::vector<Known> topics = known();
    for (Known& one : topics) one.system = from.topics->isSystem(*one.topic);
    const std::vector<Read> reads = readsOf(from);
    const std::int64_t read = from.store->stats().messagesRead;
    {
        const std::lock_guard windows(windows_);
        const std::int64_t now = clock_.wallMs();
        for (const Known& one : topics) {
            Stored& stored = *one.stored;
            const std::int64_t messages = valueOf(stored.messages);
            stored.messageWindows.take({now, messages, messages}, tick_);
            stored.byteWindows.take({now, messages, valueOf(stored.bytes)}, tick_);
            if (!one.system) userPut_ += messages - stored.sampled;
            stored.sampled = messages;
            for (StoredInQueue* queue : one.queues) {
                const std::int64_t inQueue = valueOf(queue->messages);
                queue->messageWindows.take({now, inQueue, inQueue}, tick_);
                queue->byteWindows.take({now, inQueue, valueOf(queue->bytes)}, tick_);
                queue->delayWindows.take({now, inQueue, valueOf(queue->delayMs)}, tick_);
            }
        }
        for (const Read& one : reads) take(one, now);
        for (auto& [names, told] : told_) told.windows.take({now, told.calls, told.sum}, tick_);
        brokerPutWindows_.take({now, 0, valueOf(brokerPut_)}, tick_);
        userPutWindows_.take({now, 0, userPut_}, tick_);
        userGetWindows_.take({now, 0, userGot_}, tick_);
        brokerGot_.take(0, read, now, tick_);
        std::erase_if(gets_, [this](const auto& entry) { return entry.second.tick != tick_; });
        ++tick_;
    }
    forgetTopics(from, topics);
    forgetTold(from);
}

std::vector<Traffic::Known> Traffic::known() const {
    std::vector<Known> all;
    const std::shared_lock lock(mutex_);
    all.reserve(puts_.size());
    for (const auto& [topic, stored] : puts_) {
        auto& one = all.emplace_back();
        one.topic = &topic;
        one.stored = stored.get();
        for (const auto& queue : stored->queues) {
            if (queue) one.queues.push_back(queue.get());
        }
    }
    return all;
}

std::vector<Traffic::Read> Traffic::readsOf(const Sources& from) const {
    std::vector<Read> reads;
    for (const auto& group : from.groups->all()) {
        std::set<std::string> topics;
        for (auto& topic : from.offsets->topicsOf(group.groupName)) topics.insert(std::move(topic));
        for (const auto& subscription : from.clients->subscriptions(group.groupName)) topics.insert(subscription.topic);
        for (const auto& topic : topics) {
            Read read;
            read.key = topic + "@" + group.groupName;
            read.system = from.topics->isSystem(topic);
            for (auto& queue : from.offsets->progress(group.groupName, topic)) {
                read.all.delivered += queue.pull.delivered;
                read.all.bytes += queue.pull.bytes;
                read.all.readUs += queue.pull.readUs;
                read.all.calls += queue.pull.calls;
                if (detail_) read.queues.push_back(std::move(queue));
            }
            reads.push_back(std::move(read));
        }
    }
    return reads;
}

void Traffic::forgetTopics(const Sources& from, const std::vector<Known>& all) {
    std::vector<std::string> gone;
    for (const Known& one : all) {
        service::TopicFacts facts;
        if (!one.system && !from.topics->find(*one.topic, facts)) gone.push_back(*one.topic);
    }
    if (gone.empty()) return;
    const std::unique_lock lock(mutex_);
    for (const auto& topic : gone) puts_.erase(topic);
}

void Traffic::forgetTold(const Sources& from) {
    std::vector<std::pair<std::string, std::string>> gone;
    for (const auto& one : counted()) {
        const auto parts = split(one.key);
        service::GroupFacts group;
        service::TopicFacts topic;
        const bool stays = parts.size() == 2 && from.topics->find(parts[0], topic) && from.groups->find(parts[1], group);
        if (!stays) gone.emplace_back(one.name, one.key);
    }
    const std::lock_guard windows(windows_);
    for (const auto& names : gone) told_.erase(names);
}

}  // namespace patchbay::plugins::statistics

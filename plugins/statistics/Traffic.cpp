#include "Traffic.h"

#include "RecordCount.h"

#include "patchbay/protocol/RequestCode.h"
#include "patchbay/protocol/message/Names.h"

#include <array>
#include <cstring>
#include <new>
#include <vector>

namespace patchbay::plugins::statistics {

using protocol::RequestCode;
using protocol::ResponseCode;

void Traffic::add(Counts& counts, std::string_view key, std::int64_t messages, std::int64_t bytes) noexcept {
    {
        const std::shared_lock lock(mutex_);
        if (const auto at = counts.find(key); at != counts.end()) {
            at->second->add(messages, bytes);
            return;
        }
    }
    try {
        const std::unique_lock lock(mutex_);
        auto& count = counts[std::string(key)];
        if (!count) count = std::make_unique<Count>();
        count->add(messages, bytes);
    } catch (const std::bad_alloc&) {
        // A message that is not counted is better than one that is not stored.
    }
}

void Traffic::addPair(Counts& counts, std::string_view topic, std::string_view group, std::int64_t messages,
                      std::int64_t bytes) noexcept {
    std::array<char, 512> key;
    const std::size_t size = topic.size() + 1 + group.size();
    // Longer than any pair of names that the broker creates.
    if (topic.empty() || group.empty() || size > key.size()) return;
    std::memcpy(key.data(), topic.data(), topic.size());
    key[topic.size()] = '@';
    std::memcpy(key.data() + topic.size() + 1, group.data(), group.size());
    add(counts, {key.data(), size}, messages, bytes);
}

void Traffic::appended(std::span<const service::AppendedRecord> records) noexcept {
    brokerPut_.fetch_add(static_cast<std::int64_t>(records.size()), std::memory_order_relaxed);
    for (std::size_t i = 0; i < records.size();) {
        const std::string_view topic = records[i].topic;
        std::int64_t messages = 0;
        std::int64_t bytes = 0;
        for (; i < records.size() && records[i].topic == topic; ++i) {
            ++messages;
            bytes += records[i].recordBytes;
        }
        add(puts_, topic, messages, bytes);
    }
}

plugin::Verdict Traffic::intercept(const plugin::Interception& at) {
    const auto& command = at.core.command;
    if (at.response == nullptr || at.response->code != ResponseCode::Success) return {};
    switch (static_cast<RequestCode>(command.code)) {
        case RequestCode::PullMessage:
        case RequestCode::LitePullMessage: {
            const auto bytes = static_cast<std::int64_t>(at.response->bodyBytes());
            const std::int64_t messages = countRecords(at.response->body);
            brokerGot_.fetch_add(messages, std::memory_order_relaxed);
            addPair(gets_, command.find("topic").value_or(std::string_view()),
                    command.find("consumerGroup").value_or(std::string_view()), messages, bytes);
            break;
        }
        case RequestCode::ConsumerSendMsgBack:
            addPair(sendBacks_, command.find("originTopic").value_or(std::string_view()),
                    command.find("group").value_or(std::string_view()), 1, 0);
            break;
        default: break;
    }
    return {};
}

Traffic::Meaning Traffic::meaning(std::string_view name, std::string_view key) const {
    struct Named {
        std::string_view name;
        const Counts* counts;
        bool bytes;
    };
    const Named known[] = {{"TOPIC_PUT_NUMS", &puts_, false},   {"TOPIC_PUT_SIZE", &puts_, true},
                           {"GROUP_GET_NUMS", &gets_, false},   {"GROUP_GET_SIZE", &gets_, true},
                           {"SNDBCK_PUT_NUMS", &sendBacks_, false}};
    for (const auto& entry : known) {
        if (entry.name != name) continue;
        const auto at = entry.counts->find(key);
        if (at != entry.counts->end()) return {at->second.get(), entry.bytes};
    }
    return {};
}

std::optional<service::TrafficStats::Figures> Traffic::find(std::string_view name, std::string_view key) const {
    const std::shared_lock lock(mutex_);
    const auto found = meaning(name, key);
    const std::lock_guard windows(windows_);
    if (found.count != nullptr) return (found.bytes ? found.count->byteWindows : found.count->messageWindows).figures();
    if (key != cluster_) return std::nullopt;
    if (name == "BROKER_PUT_NUMS") return brokerPutWindows_.figures();
    if (name == "BROKER_GET_NUMS") return brokerGotWindows_.figures();
    return std::nullopt;
}

void Traffic::take(Count& count, std::int64_t wallMs) const {
    const std::int64_t calls = count.calls.load(std::memory_order_relaxed);
    count.messageWindows.take({wallMs, calls, count.messages.load(std::memory_order_relaxed)}, tick_);
    count.byteWindows.take({wallMs, calls, count.bytes.load(std::memory_order_relaxed)}, tick_);
}

void Traffic::sample(const service::TopicConfigs& topics, const service::SubscriptionGroups& groups) {
    {
        // Shared: whoever counts meanwhile does not wait.
        const std::shared_lock lock(mutex_);
        const std::lock_guard windows(windows_);
        const std::int64_t now = clock_.wallMs();
        for (auto* counts : {&puts_, &gets_, &sendBacks_}) {
            for (auto& [key, count] : *counts) take(*count, now);
        }
        brokerPutWindows_.take({now, 0, brokerPut_.load(std::memory_order_relaxed)}, tick_);
        brokerGotWindows_.take({now, 0, brokerGot_.load(std::memory_order_relaxed)}, tick_);
        ++tick_;
    }
    for (auto* counts : {&puts_, &gets_, &sendBacks_}) forget(*counts, topics, groups);
}

void Traffic::forget(Counts& counts, const service::TopicConfigs& topics, const service::SubscriptionGroups& groups) {
    std::vector<std::string> gone;
    {
        const std::shared_lock lock(mutex_);
        for (const auto& [key, count] : counts) {
            const std::string_view name = key;
            const auto at = name.rfind('@');
            service::TopicFacts topic;
            service::GroupFacts group;
            const std::string_view topicName = name.substr(0, at);
            const bool known = topics.find(topicName, topic) || topics.isSystem(topicName);
            if (known && (at == std::string_view::npos || groups.find(name.substr(at + 1), group))) continue;
            gone.push_back(key);
        }
    }
    if (gone.empty()) return;
    const std::unique_lock lock(mutex_);
    for (const auto& key : gone) counts.erase(key);
}

}  // namespace patchbay::plugins::statistics

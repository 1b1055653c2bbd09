// FakeTopics: a topic table in memory that tells its listeners.
#pragma once

#include "patchbay/service/TopicConfigs.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace patchbay::plugins::registration {

/// Thread-safe. Versions count every change, at a fixed time.
class FakeTopics final : public service::TopicConfigs {
public:
    [[nodiscard]] bool find(std::string_view topic, service::TopicFacts&) const noexcept override { return get(topic).has_value(); }
    [[nodiscard]] std::optional<protocol::TopicConfig> get(std::string_view topic) const override {
        const std::lock_guard guard(mutex_);
        const auto at = topics_.find(topic);
        return at == topics_.end() ? std::nullopt : std::optional(at->second);
    }
    [[nodiscard]] std::vector<protocol::TopicConfig> all() const override {
        const std::lock_guard guard(mutex_);
        std::vector<protocol::TopicConfig> result;
        for (const auto& [name, topic] : topics_) result.push_back(topic);
        return result;
    }
    [[nodiscard]] protocol::DataVersion dataVersion() const override {
        const std::lock_guard guard(mutex_);
        return version_;
    }
    Status put(const protocol::TopicConfig& config) override {
        std::vector<service::TopicListener*> listeners;
        {
            const std::lock_guard guard(mutex_);
            topics_.insert_or_assign(config.topicName, config);
            ++version_.counter;
            listeners = listeners_;
        }
        for (auto* listener : listeners) listener->topicChanged(config.topicName, &config);
        return Status::ok();
    }
    Status putAll(std::vector<protocol::TopicConfig> configs) override {
        for (const auto& config : configs) static_cast<void>(put(config));
        return Status::ok();
    }
    Status remove(std::string_view topic) override {
        std::vector<service::TopicListener*> listeners;
        {
            const std::lock_guard guard(mutex_);
            topics_.erase(std::string(topic));
            ++version_.counter;
            listeners = listeners_;
        }
        for (auto* listener : listeners) listener->topicChanged(topic, nullptr);
        return Status::ok();
    }
    Result<service::TopicFacts> createForSend(const service::TopicWish&) override { return {StatusCode::Unsupported, "fake"}; }
    Result<service::TopicFacts> createIfMissing(std::string_view, std::int32_t, std::int32_t, std::int32_t, bool) override {
        return {StatusCode::Unsupported, "fake"};
    }
    [[nodiscard]] bool isSystem(std::string_view) const override { return false; }
    [[nodiscard]] std::vector<std::string> systemTopics() const override { return {}; }
    void addListener(service::TopicListener& listener) override {
        const std::lock_guard guard(mutex_);
        listeners_.push_back(&listener);
    }
    void removeListener(service::TopicListener& listener) noexcept override {
        const std::lock_guard guard(mutex_);
        std::erase(listeners_, &listener);
    }

    void set(std::string name, std::int32_t queues = 4) {
        protocol::TopicConfig topic;
        topic.topicName = std::move(name);
        topic.readQueueNums = topic.writeQueueNums = queues;
        static_cast<void>(put(topic));
    }
    /// Changes a topic without a word to anybody and without a new version: a change that is still on its way.
    void changeSilently(const std::string& name, std::int32_t queues) {
        const std::lock_guard guard(mutex_);
        topics_[name].readQueueNums = queues;
    }
    /// The word that changeSilently() owes.
    void tell(const std::string& name) {
        std::vector<service::TopicListener*> listeners;
        {
            const std::lock_guard guard(mutex_);
            listeners = listeners_;
        }
        const auto config = get(name);
        for (auto* listener : listeners) listener->topicChanged(name, config ? &*config : nullptr);
    }

private:
    mutable std::mutex mutex_;
    std::map<std::string, protocol::TopicConfig, std::less<>> topics_;
    std::vector<service::TopicListener*> listeners_;
    protocol::DataVersion version_{0, 0, 1'700'000'000'000};
};

}  // namespace patchbay::plugins::registration

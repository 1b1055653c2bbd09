// The services around a pull, reduced to what a test sets.
#pragma once

#include "patchbay/service/ClientRegistry.h"
#include "patchbay/service/ConsumerOffsets.h"
#include "patchbay/service/SubscriptionGroups.h"
#include "patchbay/service/TopicConfigs.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace patchbay::plugins::pull {

struct FakeTopics final : service::TopicConfigs {
    std::map<std::string, service::TopicFacts, std::less<>> topics;

    bool find(std::string_view topic, service::TopicFacts& facts) const noexcept override {
        const auto at = topics.find(topic);
        if (at == topics.end()) return false;
        facts = at->second;
        return true;
    }
    std::optional<protocol::TopicConfig> get(std::string_view) const override { return std::nullopt; }
    std::vector<protocol::TopicConfig> all() const override { return {}; }
    protocol::DataVersion dataVersion() const override { return {}; }
    Status put(const protocol::TopicConfig&) override { return Status::ok(); }
    Status putAll(std::vector<protocol::TopicConfig>) override { return Status::ok(); }
    Status remove(std::string_view) override { return Status::ok(); }
    Result<service::TopicFacts> createForSend(const service::TopicWish&) override { return service::TopicFacts{}; }
    Result<service::TopicFacts> createIfMissing(std::string_view, std::int32_t, std::int32_t, std::int32_t, bool) override {
        return service::TopicFacts{};
    }
    bool isSystem(std::string_view) const override { return false; }
    std::vector<std::string> systemTopics() const override { return {}; }
    void addListener(service::TopicListener&) override {}
    void removeListener(service::TopicListener&) noexcept override {}
};

struct FakeGroups final : service::SubscriptionGroups {
    std::map<std::string, service::GroupFacts, std::less<>> groups;
    bool forbidden = false;

    bool find(std::string_view group, service::GroupFacts& facts) const noexcept override {
        const auto at = groups.find(group);
        if (at == groups.end()) return false;
        facts = at->second;
        return true;
    }
    bool findOrCreate(std::string_view group, service::GroupFacts& facts) override { return find(group, facts); }
    std::optional<protocol::SubscriptionGroupConfig> get(std::string_view) const override { return std::nullopt; }
    std::vector<protocol::SubscriptionGroupConfig> all() const override { return {}; }
    protocol::DataVersion dataVersion() const override { return {}; }
    Status put(const protocol::SubscriptionGroupConfig&) override { return Status::ok(); }
    Status remove(std::string_view) override { return Status::ok(); }
    bool readForbidden(std::string_view, std::string_view) const noexcept override { return forbidden; }
    Status setReadForbidden(std::string_view, std::string_view, bool) override { return Status::ok(); }
    std::string toJson() const override { return {}; }
};

struct FakeOffsets final : service::ConsumerOffsets {
    using Key = std::tuple<std::string, std::string, std::int32_t>;
    std::map<Key, std::int64_t> committed;
    std::map<Key, std::vector<service::PullNote>> notes;
    std::vector<std::pair<std::string, std::int64_t>> broadcasts;   // client id and offset
    std::int64_t broadcastAt = -1;
    std::map<Key, std::int64_t> resets;

    static Key key(std::string_view g, std::string_view t, std::int32_t q) { return {std::string(g), std::string(t), q}; }
    std::int64_t query(std::string_view g, std::string_view t, std::int32_t q) const noexcept override {
        const auto at = committed.find(key(g, t, q));
        return at == committed.end() ? -1 : at->second;
    }
    void commit(std::string_view, std::string_view g, std::string_view t, std::int32_t q, std::int64_t offset) override {
        committed[key(g, t, q)] = offset;
    }
    bool commitFrom(const plugin::Peer&, std::string_view g, std::string_view t, std::int32_t q, std::int64_t offset) override {
        if (resets.contains(key(g, t, q))) return false;
        committed[key(g, t, q)] = offset;
        return true;
    }
    void notePull(std::string_view g, std::string_view t, std::int32_t q, const service::PullNote& note) override { notes[key(g, t, q)].push_back(note); }
    std::int64_t queryPull(std::string_view, std::string_view, std::int32_t) const noexcept override { return -1; }
    void assignReset(std::string_view g, std::string_view t, std::int32_t q, std::int64_t offset) override { resets[key(g, t, q)] = offset; }
    std::optional<std::int64_t> takeReset(std::string_view g, std::string_view t, std::int32_t q) noexcept override {
        const auto at = resets.find(key(g, t, q));
        if (at == resets.end()) return std::nullopt;
        const auto offset = at->second;
        resets.erase(at);
        return offset;
    }
    void noteBroadcast(const service::BroadcastPull& pull, std::int64_t offset) override { broadcasts.emplace_back(pull.clientId, offset); }
    std::int64_t broadcastStart(const service::BroadcastPull&) const override { return broadcastAt; }
    std::vector<service::QueueProgress> progress(std::string_view, std::string_view) const override { return {}; }
    std::map<std::int32_t, std::int64_t> queues(std::string_view, std::string_view) const override { return {}; }
    std::vector<std::string> topicsOf(std::string_view) const override { return {}; }
    std::vector<std::string> groupsOf(std::string_view) const override { return {}; }
    void removeGroup(std::string_view) override {}
    void removeTopic(std::string_view) override {}
    void clone(std::string_view, std::string_view, std::string_view) override {}
    std::string toJson() const override { return {}; }
    Status persist() override { return Status::ok(); }
};

struct FakeClients final : service::ClientRegistry {
    service::GroupState state;
    std::optional<protocol::SubscriptionData> data;
    std::vector<service::ClientInfo> members;

    service::GroupState group(std::string_view) const override { return state; }
    std::optional<protocol::SubscriptionData> subscription(std::string_view, std::string_view) const override { return data; }
    std::vector<protocol::SubscriptionData> subscriptions(std::string_view) const override { return {}; }
    std::vector<service::ClientInfo> consumers(std::string_view) const override { return members; }
    std::vector<service::ClientInfo> producers(std::string_view) const override { return {}; }
    std::vector<std::string> consumerGroups() const override { return {}; }
    std::vector<std::string> producerGroups() const override { return {}; }
    std::vector<std::string> groupsOf(std::string_view) const override { return {}; }
    Ref<plugin::Peer> findConsumer(std::string_view, std::string_view) const override { return {}; }
    Ref<plugin::Peer> findClient(std::string_view) const override { return {}; }
    void notifyChanged(std::string_view) override {}
    std::string clientId(std::string_view, std::uint64_t) const override { return "the member"; }
    std::vector<service::GroupConflict> conflicts(std::string_view) const override { return {}; }
    void compensate(std::string_view group, std::string_view topic, std::string_view expression, std::string_view) override {
        compensated.push_back(std::string(group) + " " + std::string(topic) + " " + std::string(expression));
    }
    std::vector<std::string> compensated;
};

}  // namespace patchbay::plugins::pull

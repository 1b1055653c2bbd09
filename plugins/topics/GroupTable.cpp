#include "GroupTable.h"

#include "SystemTopics.h"

#include "patchbay/protocol/json/Writer.h"
#include "patchbay/protocol/message/Names.h"

#include <algorithm>

namespace patchbay::plugins::topics {

namespace {

constexpr std::int32_t kRetryQueuesMax = 1024;

service::GroupFacts factsOf(const protocol::SubscriptionGroupConfig& config) {
    service::GroupFacts facts;
    facts.brokerId = config.brokerId;
    facts.whichBrokerWhenConsumeSlowly = config.whichBrokerWhenConsumeSlowly;
    facts.retryQueueNums = config.retryQueueNums;
    facts.retryMaxTimes = config.retryMaxTimes;
    facts.sysFlag = config.groupSysFlag;
    facts.consumeEnable = config.consumeEnable;
    facts.consumeBroadcastEnable = config.consumeBroadcastEnable;
    facts.consumeFromMinEnable = config.consumeFromMinEnable;
    facts.notifyConsumerIdsChangedEnable = config.notifyConsumerIdsChangedEnable;
    facts.consumeMessageOrderly = config.consumeMessageOrderly;
    return facts;
}

// What the journal's entry of a group has beside RocketMQ's members, when its forbidden topics changed.
constexpr std::string_view kForbiddenMember = "forbidden";

std::string withForbidden(const protocol::SubscriptionGroupConfig& config, const protocol::ForbiddenTable::mapped_type& topics) {
    std::string text = config.toJson();
    text.pop_back();
    text += ",\"";
    text += kForbiddenMember;
    text += "\":";
    json::Writer out(text);
    out.beginObject();
    for (const auto& [topic, mask] : topics) out.member(topic, mask);
    out.endObject();
    text += '}';
    return text;
}

JournalRules journalRules(const TopicsConfig& config) { return {config.journalSync, config.journalQuiet, config.journalBytesMax}; }

}  // namespace

GroupTable::GroupTable(plugin::PluginContext& context, const TopicsConfig& config)
    : context_(context), autoCreate_(config.autoCreateGroup), createSystem_(config.createSystemGroup),
      file_(context, "subscriptionGroup.json", journalRules(config), [this](protocol::DataVersion& version) {
          version = version_;
          return encode(json::Dialect::Pretty);
      }) {}

Status GroupTable::start() {
    version_.timestamp = context_.clock().wallMs();
    for (auto& config : systemGroups()) insert(std::move(config));
    const Status loaded = file_.load([this](std::string_view text) { return load(text); },
                                     [this](const JournaledFile::Change& change) { replay(change); });
    if (!loaded) return loaded;
    context_.log().info("consumer groups loaded", {{"groups", table_.size()}, {"version", version_.counter}});
    return Status::ok();
}

void GroupTable::setAutoCreate(bool all, bool system) noexcept {
    autoCreate_.store(all, std::memory_order_relaxed);
    createSystem_.store(system, std::memory_order_relaxed);
}

void GroupTable::insert(protocol::SubscriptionGroupConfig config) {
    std::string name = config.groupName;
    const service::GroupFacts facts = factsOf(config);
    table_.insert_or_assign(std::move(name), Entry{facts, std::move(config)});
}

void GroupTable::erase(std::string_view group) {
    if (const auto at = table_.find(group); at != table_.end()) table_.erase(at);
    if (const auto at = forbidden_.find(group); at != forbidden_.end()) forbidden_.erase(at);
}

Result<protocol::DataVersion> GroupTable::load(std::string_view text) {
    Result<protocol::SubscriptionGroups> file = protocol::SubscriptionGroups::fromJson(text);
    if (!file) return file.error();
    for (auto& [name, config] : file->subscriptionGroupTable) {
        config.groupName = name;
        insert(std::move(config));
    }
    forbidden_ = std::move(file->forbiddenTable);
    version_ = file->dataVersion;
    return version_;
}

void GroupTable::replay(const JournaledFile::Change& change) {
    if (change.put.exists()) {
        Result<protocol::SubscriptionGroupConfig> config = protocol::SubscriptionGroupConfig::read(change.put);
        if (!config || (change.onlyIfMissing && table_.contains(config->groupName))) return;
        if (const json::Value bits = change.put[kForbiddenMember]; bits.isObject()) replayForbidden(config->groupName, bits);
        insert(std::move(*config));
    } else if (!change.onlyIfMissing) {
        erase(change.removed);
    }
    if (change.onlyIfMissing) {
        version_.next(context_.clock().wallMs());
    } else {
        version_ = change.version;
    }
}

void GroupTable::replayForbidden(const std::string& group, json::Value bits) {
    protocol::ForbiddenTable::mapped_type topics;
    for (const auto& [topic, mask] : bits) topics.emplace(topic, static_cast<std::int32_t>(mask.integer().value_or(0)));
    if (topics.empty()) {
        forbidden_.erase(group);
    } else {
        forbidden_.insert_or_assign(group, std::move(topics));
    }
}

std::string GroupTable::encode(json::Dialect dialect) const {
    protocol::SubscriptionGroups whole;
    whole.dataVersion = version_;
    whole.forbiddenTable = forbidden_;
    for (const auto& [name, entry] : table_) whole.subscriptionGroupTable.emplace(name, entry.config);
    return whole.toJson(dialect);
}

bool GroupTable::find(std::string_view group, service::GroupFacts& facts) const noexcept {
    const std::shared_lock lock(mutex_);
    const auto at = table_.find(group);
    if (at == table_.end()) return false;
    facts = at->second.facts;
    return true;
}

bool GroupTable::mayCreate(std::string_view group) const {
    const bool allowed = autoCreate_.load(std::memory_order_relaxed) ||
                         (createSystem_.load(std::memory_order_relaxed) && group.starts_with(protocol::kSystemGroupPrefix));
    return allowed && protocol::validateGroupName(group).isOk();
}

bool GroupTable::findOrCreate(std::string_view group, service::GroupFacts& facts) {
    if (find(group, facts)) return true;
    if (!mayCreate(group)) return false;
    protocol::SubscriptionGroupConfig config;
    config.groupName = group;
    {
        const auto lock = file_.lockChanges();
        if (find(group, facts)) return true;  // somebody else was quicker
        if (Status stored = commit(config); !stored) {
            context_.log().limited(plugin::LogLevel::Error, "a consumer group cannot be created",
                                   {{"group", group}, {"problem", stored.message()}});
            return false;
        }
    }
    context_.log().info("consumer group created on use", {{"group", group}});
    facts = factsOf(config);
    return true;
}

Status GroupTable::commit(protocol::SubscriptionGroupConfig config) {
    protocol::DataVersion version = version_;
    version.next(context_.clock().wallMs());
    if (Status written = file_.appendPut(version, config.toJson()); !written) return written;
    const std::unique_lock lock(mutex_);
    insert(std::move(config));
    version_ = version;
    return Status::ok();
}

std::optional<protocol::SubscriptionGroupConfig> GroupTable::get(std::string_view group) const {
    const std::shared_lock lock(mutex_);
    const auto at = table_.find(group);
    if (at == table_.end()) return std::nullopt;
    return at->second.config;
}

std::vector<protocol::SubscriptionGroupConfig> GroupTable::all() const {
    std::vector<protocol::SubscriptionGroupConfig> configs;
    {
        const std::shared_lock lock(mutex_);
        configs.reserve(table_.size());
        for (const auto& [name, entry] : table_) configs.push_back(entry.config);
    }
    std::sort(configs.begin(), configs.end(), [](const auto& a, const auto& b) { return a.groupName < b.groupName; });
    return configs;
}

protocol::DataVersion GroupTable::dataVersion() const {
    const std::shared_lock lock(mutex_);
    return version_;
}

Status GroupTable::put(const protocol::SubscriptionGroupConfig& config) {
    {
        const auto lock = file_.lockChanges();
        const auto at = table_.find(config.groupName);
        // What exists already keeps its name, however it came by it.
        if (at == table_.end()) {
            if (Status valid = protocol::validateGroupName(config.groupName); !valid) return valid;
        }
        // A retry topic is made of it, and everything that looks at a topic walks its queues.
        if (config.retryQueueNums < 0 || config.retryQueueNums > kRetryQueuesMax) {
            return {StatusCode::InvalidArgument, "retryQueueNums " + std::to_string(config.retryQueueNums) + " is not in 0…" +
                                                     std::to_string(kRetryQueuesMax)};
        }
        protocol::SubscriptionGroupConfig next = config;
        if (next.attributes.empty() && at != table_.end()) next.attributes = at->second.config.attributes;
        if (!next.attributes.empty() && (at == table_.end() || next.attributes != at->second.config.attributes)) {
            const std::string_view name = next.attributes.begin()->first;
            return {StatusCode::InvalidArgument, "unsupported key: " + std::string(name.substr(name.starts_with('+') ? 1 : 0))};
        }
        if (at != table_.end() && at->second.config == next) return Status::ok();
        if (Status stored = commit(std::move(next)); !stored) return stored;
    }
    context_.log().info("consumer group set", {{"group", config.groupName}, {"retryMaxTimes", config.retryMaxTimes},
                                               {"consumeEnable", config.consumeEnable}});
    return Status::ok();
}

Status GroupTable::remove(std::string_view group) {
    {
        const auto lock = file_.lockChanges();
        if (!table_.contains(group)) return {StatusCode::NotFound, "group '" + std::string(group) + "' does not exist"};
        protocol::DataVersion version = version_;
        version.next(context_.clock().wallMs());
        if (Status written = file_.appendRemoval(version, group); !written) return written;
        const std::unique_lock exclusive(mutex_);
        erase(group);
        version_ = version;
    }
    context_.log().info("consumer group removed", {{"group", group}});
    return Status::ok();
}

bool GroupTable::readForbidden(std::string_view group, std::string_view topic) const noexcept {
    const std::shared_lock lock(mutex_);
    if (forbidden_.empty()) return false;
    const auto topics = forbidden_.find(group);
    if (topics == forbidden_.end()) return false;
    const auto bits = topics->second.find(topic);
    return bits != topics->second.end() && (static_cast<std::uint32_t>(bits->second) & protocol::kPermRead) != 0;
}

Status GroupTable::setReadForbidden(std::string_view group, std::string_view topic, bool forbidden) {
    const auto lock = file_.lockChanges();
    const auto at = table_.find(group);
    if (at == table_.end()) return {StatusCode::NotFound, "group '" + std::string(group) + "' does not exist"};
    protocol::ForbiddenTable::mapped_type topics;
    if (const auto known = forbidden_.find(group); known != forbidden_.end()) topics = known->second;
    constexpr auto kRead = static_cast<std::int32_t>(protocol::kPermRead);
    std::int32_t& mask = topics[std::string(topic)];
    if (((mask & kRead) != 0) == forbidden) return Status::ok();
    mask ^= kRead;
    if (mask == 0) topics.erase(topics.find(topic));

    protocol::DataVersion version = version_;
    version.next(context_.clock().wallMs());
    if (Status written = file_.appendPut(version, withForbidden(at->second.config, topics)); !written) return written;
    const std::unique_lock exclusive(mutex_);
    version_ = version;
    if (topics.empty()) {
        forbidden_.erase(forbidden_.find(group));
    } else {
        forbidden_.insert_or_assign(std::string(group), std::move(topics));
    }
    return Status::ok();
}

std::string GroupTable::toJson() const {
    const std::shared_lock lock(mutex_);
    return encode(json::Dialect::Fastjson);
}

}  // namespace patchbay::plugins::topics

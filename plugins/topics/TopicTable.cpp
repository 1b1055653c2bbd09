#include "TopicTable.h"

#include "SystemTopics.h"
#include "TopicAttributes.h"

#include "patchbay/protocol/message/Names.h"

#include <algorithm>

namespace patchbay::plugins::topics {

namespace {

service::TopicFacts factsOf(const protocol::TopicConfig& config) {
    service::TopicFacts facts;
    facts.readQueueNums = config.readQueueNums;
    facts.writeQueueNums = config.writeQueueNums;
    facts.perm = static_cast<std::int32_t>(config.perm);
    facts.sysFlag = config.topicSysFlag;
    facts.order = config.order;
    facts.multiTag = config.topicFilterType == protocol::TopicFilterType::MultiTag;
    const auto has = [&](std::string_view name, std::string_view value) {
        const auto at = config.attributes.find(name);
        return at != config.attributes.end() && at->second == value;
    };
    facts.batchQueues = has("queue.type", "BatchCQ");
    facts.compacted = has("cleanup.policy", "COMPACTION");
    return facts;
}

/// What a topic of the store's further queues is without having been made.
protocol::TopicConfig lmqConfig(std::string_view topic) {
    protocol::TopicConfig config;
    config.topicName = topic;
    config.readQueueNums = config.writeQueueNums = 1;
    config.perm = protocol::kPermRead | protocol::kPermWrite;
    return config;
}

/// Retry and dead-letter topics are as long as the names of their groups allow, longer than a client may ask for.
Status validateCreatedName(std::string_view topic) {
    for (const std::string_view prefix : {protocol::kRetryTopicPrefix, protocol::kDlqTopicPrefix}) {
        if (topic.starts_with(prefix)) return protocol::validateGroupName(topic.substr(prefix.size()));
    }
    return protocol::validateTopicName(topic);
}

JournalRules journalRules(const TopicsConfig& config) { return {config.journalSync, config.journalQuiet, config.journalBytesMax}; }

}  // namespace

TopicTable::TopicTable(plugin::PluginContext& context, const TopicsConfig& config)
    : context_(context), config_(config), autoCreate_(config.autoCreateTopic),
      file_(context, "topics.json", journalRules(config), [this](protocol::DataVersion& version) { return wholeText(version); }) {}

Status TopicTable::start() {
    version_.timestamp = context_.clock().wallMs();
    for (auto& config : topics::systemTopics(config_, context_.identity())) {
        created_.insert(config.topicName);
        insert(std::move(config));
    }
    const Status loaded = file_.load([this](std::string_view text) { return load(text); },
                                     [this](const JournaledFile::Change& change) { replay(change); });
    if (!loaded) return loaded;
    if (!autoCreate_.load()) {
        // A file from times when it was on must not invite clients to rely on it.
        if (const auto at = table_.find(protocol::kTopicAutoCreate); at != table_.end()) {
            at->second.config.perm &= ~protocol::kPermInherit;
            at->second.facts = factsOf(at->second.config);
        }
    }
    context_.log().info("topics loaded", {{"topics", table_.size()}, {"version", version_.counter}});
    return Status::ok();
}

void TopicTable::insert(protocol::TopicConfig config) {
    std::string name = config.topicName;
    const service::TopicFacts facts = factsOf(config);
    table_.insert_or_assign(std::move(name), Entry{facts, std::move(config)});
}

Result<protocol::DataVersion> TopicTable::load(std::string_view text) {
    Result<protocol::TopicConfigs> file = protocol::TopicConfigs::fromJson(text);
    if (!file) return file.error();
    for (auto& [name, config] : file->topicConfigTable) {
        config.topicName = name;
        insert(std::move(config));
    }
    version_ = file->dataVersion;
    return version_;
}

void TopicTable::replay(const JournaledFile::Change& change) {
    if (change.put.exists()) {
        Result<protocol::TopicConfig> config = protocol::TopicConfig::read(change.put);
        if (!config || (change.onlyIfMissing && table_.contains(config->topicName))) return;
        insert(std::move(*config));
    } else if (!change.onlyIfMissing) {
        if (const auto at = table_.find(change.removed); at != table_.end()) table_.erase(at);
    }
    if (change.onlyIfMissing) {
        version_.next(context_.clock().wallMs());
    } else {
        version_ = change.version;
    }
}

std::string TopicTable::wholeText(protocol::DataVersion& version) const {
    // Only holders of the journal's lock change the table, so no other lock is needed to read it here.
    std::vector<const Entry*> sorted;
    sorted.reserve(table_.size());
    for (const auto& [name, entry] : table_) sorted.push_back(&entry);
    std::sort(sorted.begin(), sorted.end(),
              [](const Entry* a, const Entry* b) { return a->config.topicName < b->config.topicName; });
    version = version_;
    std::string text;
    json::Writer out(text, json::Dialect::Pretty);
    out.beginObject();
    out.key("dataVersion");
    version_.write(out);
    out.key("topicConfigTable");
    out.beginObject();
    for (const Entry* entry : sorted) {
        out.key(entry->config.topicName);
        entry->config.write(out);
    }
    out.endObject();
    out.endObject();
    return text;
}

bool TopicTable::find(std::string_view topic, service::TopicFacts& facts) const noexcept {
    const std::shared_lock lock(mutex_);
    const auto at = table_.find(topic);
    if (at == table_.end()) {
        if (!isLmq(topic)) return false;
        facts = service::TopicFacts();
        facts.readQueueNums = facts.writeQueueNums = 1;
        facts.perm = static_cast<std::int32_t>(protocol::kPermRead | protocol::kPermWrite);
        return true;
    }
    facts = at->second.facts;
    return true;
}

std::optional<protocol::TopicConfig> TopicTable::get(std::string_view topic) const {
    const std::shared_lock lock(mutex_);
    const auto at = table_.find(topic);
    if (at == table_.end()) return isLmq(topic) ? std::optional(lmqConfig(topic)) : std::nullopt;
    return at->second.config;
}

std::vector<protocol::TopicConfig> TopicTable::all() const {
    std::vector<protocol::TopicConfig> configs;
    {
        const std::shared_lock lock(mutex_);
        configs.reserve(table_.size());
        for (const auto& [name, entry] : table_) configs.push_back(entry.config);
    }
    std::sort(configs.begin(), configs.end(), [](const auto& a, const auto& b) { return a.topicName < b.topicName; });
    return configs;
}

protocol::DataVersion TopicTable::dataVersion() const {
    const std::shared_lock lock(mutex_);
    return version_;
}

Result<protocol::TopicConfig> TopicTable::merged(const protocol::TopicConfig& wanted, bool& same) const {
    const auto at = table_.find(wanted.topicName);
    const bool creating = at == table_.end();
    const protocol::Attributes stored = creating ? protocol::Attributes{} : at->second.config.attributes;
    Result<protocol::Attributes> attributes = changeAttributes(stored, wanted.attributes, creating);
    if (!attributes) return attributes.error();
    protocol::TopicConfig config = wanted;
    config.attributes = std::move(*attributes);
    same = !creating && at->second.config == config;
    return config;
}

Status TopicTable::commit(protocol::TopicConfig config) {
    protocol::DataVersion version = version_;
    version.next(context_.clock().wallMs());
    if (Status written = file_.appendPut(version, config.toJson()); !written) return written;
    const std::unique_lock lock(mutex_);
    insert(std::move(config));
    version_ = version;
    return Status::ok();
}

Status TopicTable::put(const protocol::TopicConfig& config) { return putAll({config}); }

Status TopicTable::putAll(std::vector<protocol::TopicConfig> configs) {
    std::vector<protocol::TopicConfig> changes;
    Status outcome;
    {
        const auto lock = file_.lockChanges();
        for (const auto& wanted : configs) {
            // What exists already keeps its name, however it came by it.
            if (!table_.contains(wanted.topicName)) {
                if (Status valid = protocol::validateTopicName(wanted.topicName); !valid) return valid;
            }
            bool same = false;
            Result<protocol::TopicConfig> config = merged(wanted, same);
            if (!config) return config.error();
            if (!same) changes.push_back(std::move(*config));
        }
        for (std::size_t i = 0; i < changes.size(); ++i) {
            outcome = commit(changes[i]);
            if (outcome) continue;
            changes.resize(i);
            break;
        }
    }
    // A Java broker starts on this directory, after a kill too, only when the file knows the kind of the topic's queues.
    if (std::any_of(changes.begin(), changes.end(), [](const auto& config) { return factsOf(config).batchQueues; })) file_.foldNow();
    for (const auto& config : changes) {
        context_.log().info("topic set", {{"topic", config.topicName}, {"readQueues", config.readQueueNums},
                                          {"writeQueues", config.writeQueueNums}, {"perm", config.perm}});
        tell(config.topicName, &config);
    }
    return outcome;
}

Status TopicTable::remove(std::string_view topic) {
    if (isSystem(topic)) return {StatusCode::Denied, "The topic[" + std::string(topic) + "] is conflict with system topic."};
    bool batchQueues = false;
    {
        const auto lock = file_.lockChanges();
        const auto at = table_.find(topic);
        if (at == table_.end()) return {StatusCode::NotFound, "topic '" + std::string(topic) + "' does not exist"};
        batchQueues = at->second.facts.batchQueues;
        protocol::DataVersion version = version_;
        version.next(context_.clock().wallMs());
        if (Status written = file_.appendRemoval(version, topic); !written) return written;
        const std::unique_lock exclusive(mutex_);
        table_.erase(at);
        version_ = version;
    }
    if (batchQueues) file_.foldNow();
    context_.log().info("topic removed", {{"topic", topic}});
    tell(topic, nullptr);
    return Status::ok();
}

Status TopicTable::notCreated(std::string_view topic, Status why) const {
    context_.log().limited(plugin::LogLevel::Error, "a topic cannot be created", {{"topic", topic}, {"problem", why.message()}});
    return why;
}

Result<service::TopicFacts> TopicTable::createForSend(const service::TopicWish& wish) {
    if (!autoCreate_.load(std::memory_order_relaxed)) {
        return Status(StatusCode::NotFound, "topic '" + std::string(wish.topic) + "' does not exist and autoCreateTopicEnable is off");
    }
    if (Status valid = protocol::validateTopicName(wish.topic); !valid) return valid;
    protocol::TopicConfig config;
    {
        const auto lock = file_.lockChanges();
        // Several senders may have missed it at the same time.
        if (const auto at = table_.find(wish.topic); at != table_.end()) return at->second.facts;
        const auto parent = table_.find(wish.defaultTopic);
        if (parent == table_.end() || !protocol::isInherited(parent->second.config.perm)) {
            return Status(StatusCode::NotFound, "topic '" + std::string(wish.topic) + "' does not exist and default topic '" +
                                                    std::string(wish.defaultTopic) + "' does not allow to create it");
        }
        const protocol::TopicConfig& from = parent->second.config;
        config.topicName = wish.topic;
        config.readQueueNums = config.writeQueueNums = std::max(0, std::min(wish.queueNums, from.writeQueueNums));
        config.perm = from.perm & ~protocol::kPermInherit;
        config.topicFilterType = from.topicFilterType;
        config.topicSysFlag = wish.sysFlag;
        if (Status stored = commit(config); !stored) return notCreated(wish.topic, stored);
    }
    context_.log().info("topic created by a send", {{"topic", wish.topic}, {"queues", config.writeQueueNums},
                                                    {"defaultTopic", wish.defaultTopic}, {"client", wish.client}});
    tell(wish.topic, &config);
    return factsOf(config);
}

Result<service::TopicFacts> TopicTable::createIfMissing(std::string_view topic, std::int32_t queueNums, std::int32_t perm,
                                                        std::int32_t sysFlag, bool order) {
    if (service::TopicFacts facts; find(topic, facts)) return facts;
    if (Status valid = validateCreatedName(topic); !valid) return valid;
    protocol::TopicConfig config;
    config.topicName = topic;
    config.readQueueNums = config.writeQueueNums = queueNums;
    config.perm = static_cast<std::uint32_t>(perm);
    config.topicSysFlag = sysFlag;
    config.order = order;
    {
        const auto lock = file_.lockChanges();
        if (const auto at = table_.find(topic); at != table_.end()) return at->second.facts;
        if (Status stored = commit(config); !stored) return notCreated(topic, stored);
    }
    context_.log().info("topic created", {{"topic", topic}, {"queues", queueNums}});
    tell(topic, &config);
    return factsOf(config);
}

bool TopicTable::isSystem(std::string_view topic) const { return protocol::isSystemTopicName(topic) || created_.contains(topic); }

std::vector<std::string> TopicTable::systemTopics() const {
    std::set<std::string, std::less<>> names = created_;
    for (const std::string_view name :
         {protocol::kTopicAutoCreate, protocol::kTopicSchedule, protocol::kTopicBenchmark, protocol::kTopicTransHalf,
          protocol::kTopicTrace, protocol::kTopicTransOpHalf, protocol::kTopicTransCheckMaxTime, protocol::kTopicSelfTest,
          protocol::kTopicOffsetMoved, protocol::kTopicCheckpoint}) {
        names.emplace(name);
    }
    return {names.begin(), names.end()};
}

void TopicTable::addListener(service::TopicListener& listener) {
    const std::lock_guard lock(listenerMutex_);
    listeners_.push_back(&listener);
}

void TopicTable::removeListener(service::TopicListener& listener) noexcept {
    std::unique_lock lock(listenerMutex_);
    std::erase(listeners_, &listener);
    told_.wait(lock, [this] { return telling_ == 0; });
}

void TopicTable::tell(std::string_view topic, const protocol::TopicConfig* config) noexcept {
    std::vector<service::TopicListener*> listeners;
    {
        const std::lock_guard lock(listenerMutex_);
        if (listeners_.empty()) return;
        listeners = listeners_;
        ++telling_;
    }
    for (auto* listener : listeners) listener->topicChanged(topic, config);
    {
        const std::lock_guard lock(listenerMutex_);
        --telling_;
    }
    told_.notify_all();
}

}  // namespace patchbay::plugins::topics

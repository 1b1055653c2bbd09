#include "OffsetService.h"

#include "patchbay/base/BackedFile.h"
#include "patchbay/protocol/util/Crc32.h"
#include "patchbay/service/QueueEnds.h"

#include <algorithm>
#include <cstdio>

namespace patchbay::plugins::consumer_offsets {

namespace {

// Before the members that RocketMQ knows; it passes over this one. A file without it is a Java broker's, or an operator took it out
// because he changed something.
constexpr std::string_view kChecksumStart = "{\n\t\"checksum\":\"";
constexpr std::size_t kChecksumDigits = 8;
constexpr std::string_view kChecksumEnd = "\",";

std::string withChecksum(std::string_view json) {
    const std::string_view members = json.substr(1);
    char digits[kChecksumDigits + 1];
    std::snprintf(digits, sizeof digits, "%08x", protocol::crc32(members));
    std::string text(kChecksumStart);
    text += digits;
    text += kChecksumEnd;
    text += members;
    return text;
}

Status verifyChecksum(std::string_view text) {
    if (!text.starts_with(kChecksumStart)) return Status::ok();
    const std::size_t head = kChecksumStart.size() + kChecksumDigits + kChecksumEnd.size();
    if (text.size() > head && withChecksum("{" + std::string(text.substr(head))) == text) return Status::ok();
    return {StatusCode::Corrupt, "the checksum is wrong"};
}

/// RocketMQ's name of the group under which the lowest offset of broadcasting clients is kept.
std::string broadcastGroup(std::string_view group) { return std::string(group) + "@broadcast"; }

/// A queue without a range that is listed all the same has files that the store cannot read; what it holds is not known.
bool isListed(const service::MessageStore& store, std::string_view topic, std::int32_t queueId) {
    return std::ranges::any_of(store.queues(), [&](const auto& queue) { return queue.topic == topic && queue.queueId == queueId; });
}

}  // namespace

OffsetService::OffsetService(plugin::PluginContext& context, const OffsetsConfig& config)
    : context_(context), config_(config), path_(context.identity().storeRoot + "/config/consumerOffset.json"),
      backwards_(context.metrics().counter("consumer_offset_moved_back_total",
                                           "Consumer offsets that went back: by a commit, a reset, or because they were ahead of the store.")) {}

Status OffsetService::start(service::TopicConfigs& topics, service::MessageStore* store) {
    if (Status loaded = load(); !loaded) return loaded;
    store_ = store;
    if (store != nullptr) clampToStore(topics, *store);
    topics.addListener(*this);
    if (config_.broadcast) {
        context_.timers().every(config_.broadcastScan, config_.broadcastScan, [this] {
            broadcast_.expire(context_.clock().now() - config_.broadcastLife);
            broadcast_.lowest([&](std::string_view group, std::string_view topic, std::int32_t queueId, std::int64_t offset) {
                commit("a broadcasting client", broadcastGroup(group), topic, queueId, offset);
            });
        });
    }
    context_.timers().every(config_.flushFirst, config_.flushInterval, [this] {
        if (Status done = persist(); !done) {
            context_.log().limited(plugin::LogLevel::Error, "consumer offsets cannot be written",
                                   {{"file", path_}, {"problem", done.message()}});
        }
    });
    return Status::ok();
}

Status OffsetService::load() {
    version_.timestamp = context_.clock().wallMs();
    Result<BackedContent> content = readBacked(context_.files(), path_, [this](std::string_view text) -> Status {
        if (Status intact = verifyChecksum(text); !intact) return intact;
        Result<protocol::ConsumerOffsets> file = protocol::ConsumerOffsets::fromJson(text);
        if (!file) return file.error();
        table_.load(*file);
        version_ = file->dataVersion;
        return Status::ok();
    });
    if (!content) return content.error();
    if (!content->problem.empty()) {
        const bool backup = content->source == BackedContent::Source::Backup;
        context_.log().error(backup ? "consumer offsets damaged, their backup is used" : "consumer offsets damaged, starting without",
                             {{"file", path_}, {"problem", content->problem}});
    }
    loaded_ = true;
    return Status::ok();
}

void OffsetService::clampToStore(service::TopicConfigs& topics, service::MessageStore& store) {
    std::uint64_t clamped = 0;
    table_.revise([&](std::string_view group, std::string_view topic, std::int32_t queueId, std::int64_t offset) {
        // Offsets of topics that this broker does not have are not its to judge.
        if (service::TopicFacts facts; !topics.find(topic, facts)) return offset;
        const auto [min, max, exists] = store.range(topic, queueId);
        if (offset <= max || (!exists && isListed(store, topic, queueId))) return offset;
        ++clamped;
        context_.log().limited(plugin::LogLevel::Warn, "a consumer offset is ahead of the store and was pulled back",
                               {{"group", group}, {"topic", topic}, {"queue", queueId}, {"offset", offset}, {"max", max}});
        return max;
    });
    backwards_.add(clamped);
    if (clamped > 0) context_.log().warn("consumer offsets were ahead of the store", {{"queues", clamped}});
}

void OffsetService::stop(service::TopicConfigs& topics) noexcept {
    if (!loaded_) return;
    store_ = nullptr;
    topics.removeListener(*this);
    if (Status done = persist(); !done) {
        context_.log().error("consumer offsets cannot be written", {{"file", path_}, {"problem", done.message()}});
    }
}

void OffsetService::topicChanged(std::string_view topic, const protocol::TopicConfig* config) noexcept {
    // A topic that is created again starts at offset 0; old offsets would skip its messages.
    if (config == nullptr) removeTopic(topic);
}

std::int64_t OffsetService::query(std::string_view group, std::string_view topic, std::int32_t queueId) const noexcept {
    return table_.committed(group, topic, queueId);
}

void OffsetService::commit(std::string_view client, std::string_view group, std::string_view topic, std::int32_t queueId,
                           std::int64_t offset) {
    const auto outcome = table_.commit(group, topic, queueId, offset, context_.clock().now());
    if (outcome->backwards) [[unlikely]] movedBack(client, group, topic, queueId, outcome->before, offset);
    count();
}

bool OffsetService::commitFrom(const plugin::Peer& client, std::string_view group, std::string_view topic, std::int32_t queueId,
                               std::int64_t offset) {
    const IfReset ifReset = config_.serverSideReset ? IfReset::Leave : IfReset::Commit;
    const auto outcome = table_.commit(group, topic, queueId, offset, context_.clock().now(), ifReset);
    if (!outcome) return false;
    if (outcome->backwards) [[unlikely]] {
        movedBack(client.remote().toString(), group, topic, queueId, outcome->before, offset);
    }
    count();
    return true;
}

void OffsetService::movedBack(std::string_view client, std::string_view group, std::string_view topic, std::int32_t queueId,
                              std::int64_t from, std::int64_t to) {
    backwards_.add();
    context_.log().limited(plugin::LogLevel::Warn, "a consumer offset moved back",
                           {{"group", group}, {"topic", topic}, {"queue", queueId}, {"from", from}, {"to", to}, {"client", client}});
}

void OffsetService::count() noexcept {
    if ((commits_.fetch_add(1, std::memory_order_relaxed) + 1) % config_.versionStep != 0) return;
    const std::lock_guard lock(versionMutex_);
    version_.next(context_.clock().wallMs());
}

void OffsetService::notePull(std::string_view group, std::string_view topic, std::int32_t queueId, const service::PullNote& note) {
    table_.notePull(group, topic, queueId, note, context_.clock().now());
}

std::int64_t OffsetService::queryPull(std::string_view group, std::string_view topic, std::int32_t queueId) const noexcept {
    return table_.pulled(group, topic, queueId);
}

void OffsetService::assignReset(std::string_view group, std::string_view topic, std::int32_t queueId, std::int64_t offset) {
    const CommitOutcome outcome = table_.setReset(group, topic, queueId, offset);
    if (outcome.backwards) movedBack("reset", group, topic, queueId, outcome.before, offset);
}

std::optional<std::int64_t> OffsetService::takeReset(std::string_view group, std::string_view topic, std::int32_t queueId) noexcept {
    return table_.takeReset(group, topic, queueId);
}

std::optional<std::int64_t> OffsetService::waitingReset(std::string_view group, std::string_view topic,
                                                        std::int32_t queueId) const noexcept {
    if (!config_.serverSideReset) return std::nullopt;
    return table_.reset(group, topic, queueId);
}

void OffsetService::noteBroadcast(const service::BroadcastPull& pull, std::int64_t offset) {
    if (config_.broadcast) broadcast_.note(pull, offset, context_.clock().now());
}

std::int64_t OffsetService::broadcastStart(const service::BroadcastPull& pull) const {
    if (!config_.broadcast) return -1;
    const auto known = broadcast_.find(pull);
    // Clients that stay with their way remember by themselves.
    const bool changedItsWay = known && known->viaProxy != pull.viaProxy;
    if (!changedItsWay && !(pull.viaProxy && pull.asked < 0)) return -1;
    if (known && known->offset >= 0) return known->offset;
    const std::int64_t lowest = table_.committed(broadcastGroup(pull.group), pull.topic, pull.queueId);
    if (lowest >= 0 || store_ == nullptr) return std::max<std::int64_t>(lowest, 0);
    return startsAtZero(pull.topic, pull.queueId) ? 0 : store_->range(pull.topic, pull.queueId).max;
}

bool OffsetService::mustWait(std::string_view topic, std::int32_t queueId) const {
    return store_ != nullptr && !service::rangeIfKnown(*store_, topic, queueId);
}

bool OffsetService::startsAtZero(std::string_view topic, std::int32_t queueId) const {
    if (store_ == nullptr) return false;
    const service::OffsetRange range = store_->range(topic, queueId);
    if (!range.exists || range.min > 0 || range.max <= 0) return false;
    // Clients decide by this answer whether a new group reads everything or only what is new. A queue whose first message is
    // still in memory is young; one whose start lies on the disk is history.
    service::ReadLimits limits;
    limits.messagesMax = 1;
    limits.hotOnly = true;
    service::ReadResult first;
    store_->read(topic, queueId, 0, limits, nullptr, first);
    return first.status == service::ReadStatus::Found;
}

std::vector<service::QueueProgress> OffsetService::progress(std::string_view group, std::string_view topic) const {
    return table_.progress(group, topic);
}

std::map<std::int32_t, std::int64_t> OffsetService::queues(std::string_view group, std::string_view topic) const {
    return table_.queues(group, topic);
}

std::vector<std::string> OffsetService::topicsOf(std::string_view group) const { return table_.topicsOf(group); }
std::vector<std::string> OffsetService::groupsOf(std::string_view topic) const { return table_.groupsOf(topic); }
void OffsetService::removeGroup(std::string_view group) {
    table_.removeGroup(group);
    broadcast_.removeGroup(group);
}
void OffsetService::removeTopic(std::string_view topic) {
    table_.removeTopic(topic);
    broadcast_.removeTopic(topic);
}

void OffsetService::clone(std::string_view fromGroup, std::string_view toGroup, std::string_view topic) {
    const std::string client = "a clone of " + std::string(fromGroup);
    for (const auto& [queueId, offset] : table_.queues(fromGroup, topic)) commit(client, toGroup, topic, queueId, offset);
}

std::string OffsetService::encode(json::Dialect dialect) const {
    protocol::ConsumerOffsets file;
    {
        const std::lock_guard lock(versionMutex_);
        file.dataVersion = version_;
    }
    file.offsetTable = table_.snapshot();
    return file.toJson(dialect);
}

std::string OffsetService::toJson() const { return encode(json::Dialect::Fastjson); }

Status OffsetService::persist() {
    const std::lock_guard one(persistMutex_);
    // Read before the snapshot: a change meanwhile is written twice rather than never.
    const std::uint64_t changes = table_.changes();
    if (changes == persisted_) return Status::ok();
    const std::string directory = directoryOf(path_);
    if (Status made = context_.files().makeDirectories(directory); !made) return made;
    if (Status written = context_.files().replaceAtomically(path_, withChecksum(encode(json::Dialect::Pretty)), true); !written) return written;
    persisted_ = changes;
    return Status::ok();
}

}  // namespace patchbay::plugins::consumer_offsets

#include "FilterTable.h"

#include "BloomPositions.h"

#include "patchbay/base/BackedFile.h"
#include "patchbay/protocol/json/Writer.h"

#include <algorithm>

namespace patchbay::plugins::filter {

namespace {

// Filters of a file count as alive for so long before the load: nobody knows when their consumers went.
constexpr std::int64_t kAliveBeforeLoadMs = 30'000;

void writeFilter(json::Writer& out, std::string_view topic, std::string_view group, const RegisteredFilter& filter) {
    out.beginObject();
    out.key("bloomFilterData");
    out.beginObject();
    out.member("bitNum", kBloomBits);
    out.key("bitPos");
    out.beginArray();
    for (const std::int32_t position : bloomPositions(std::string(group) + "#" + std::string(topic))) out.integer(position);
    out.endArray();
    out.endObject();
    out.member("bornTime", filter.bornMs);
    out.member("clientVersion", filter.clientVersion);
    out.member("consumerGroup", group);
    out.member("dead", filter.deadMs >= filter.bornMs);
    out.member("deadTime", filter.deadMs);
    out.member("expression", filter.expression);
    out.member("expressionType", filter.type);
    out.member("topic", topic);
    out.endObject();
}

}  // namespace

Status FilterTable::load() {
    const auto content = readBacked(files_, path_, [this](std::string_view text) { return accept(text); });
    if (!content) return content.error();
    if (!content->problem.empty()) {
        const bool backup = content->source == BackedContent::Source::Backup;
        log_.error(backup ? "consumer filters damaged, their backup is used" : "consumer filters damaged, starting without",
                   {{"file", path_}, {"problem", content->problem}});
        const std::lock_guard lock(mutex_);
        ++changes_;   // so that there is a good file again soon
    }
    return Status::ok();
}

Status FilterTable::accept(std::string_view text) {
    const auto document = json::Document::parse(text);
    if (!document) return document.error();
    const json::Value topics = document->root()["filterDataByTopic"];
    if (!topics.isObject()) return {StatusCode::Corrupt, "the file holds no filterDataByTopic"};
    NameMap<Topics> groups;
    for (const auto [topic, value] : topics) {
        if (Status taken = acceptTopic(topic, value["groupFilterData"], groups); !taken) return taken;
    }
    const std::lock_guard lock(mutex_);
    groups_ = std::move(groups);
    return Status::ok();
}

Status FilterTable::acceptTopic(std::string_view topic, json::Value groups, NameMap<Topics>& into) const {
    const std::int64_t now = clock_.wallMs();
    for (const auto [group, value] : groups) {
        const auto expression = value["expression"].string();
        const auto type = value["expressionType"].string();
        if (!expression || !type) {
            return {StatusCode::Corrupt, "the filter of group \"" + std::string(group) + "\" has no expression"};
        }
        RegisteredFilter filter{std::string(*expression), std::string(*type), value["bornTime"].integer().value_or(now),
                                value["deadTime"].integer().value_or(0), value["clientVersion"].integer().value_or(0), now};
        if (filter.deadMs < filter.bornMs) filter.deadMs = std::max(filter.bornMs, now - kAliveBeforeLoadMs);
        into[std::string(group)].insert_or_assign(std::string(topic), std::move(filter));
    }
    return Status::ok();
}

bool FilterTable::knows(std::string_view group) const {
    const std::lock_guard lock(mutex_);
    return groups_.contains(group);
}

void FilterTable::subscribed(std::string_view group, std::span<const protocol::SubscriptionData* const> expressions) {
    const std::int64_t now = clock_.wallMs();
    const std::lock_guard lock(mutex_);
    auto known = groups_.find(group);
    if (known == groups_.end()) {
        if (expressions.empty()) return;
        known = groups_.try_emplace(std::string(group)).first;
    }
    for (const auto* data : expressions) {
        const auto [at, added] = known->second.try_emplace(data->topic);
        if (added) ++changes_;
        if (added) at->second = {data->subString, data->expressionType, now, 0, data->subVersion, now};
        take(group, at->second, *data, now);
    }
    for (auto& [topic, filter] : known->second) {
        const bool named = std::ranges::any_of(expressions, [&name = topic](const auto* data) { return data->topic == name; });
        if (named || filter.deadMs != 0) continue;
        filter.deadMs = now;
        ++changes_;
        log_.info("a group no longer filters a topic", {{"group", group}, {"topic", topic}});
    }
}

void FilterTable::take(std::string_view group, RegisteredFilter& known, const protocol::SubscriptionData& data, std::int64_t now) {
    known.lastSeenMs = now;
    const bool differs = known.expression != data.subString || known.type != data.expressionType;
    if (data.subVersion < known.clientVersion || (data.subVersion == known.clientVersion && differs)) {
        if (!differs) return;
        log_.limited(plugin::LogLevel::Warn, "members of a group filter a topic differently; the newest counts for all",
                     {{"group", group}, {"topic", data.topic}, {"expression", data.subString}, {"newest", known.expression}});
        return;
    }
    if (data.subVersion == known.clientVersion && known.deadMs == 0) return;
    ++changes_;
    known.clientVersion = data.subVersion;
    known.deadMs = 0;
    if (!differs) return;
    known.expression = data.subString;
    known.type = data.expressionType;
    known.bornMs = now;
}

void FilterTable::age(std::int64_t now) {
    for (auto group = groups_.begin(); group != groups_.end();) {
        for (auto& [topic, filter] : group->second) {
            if (filter.deadMs != 0 || now - filter.lastSeenMs < silence_.count()) continue;
            filter.deadMs = std::max(filter.lastSeenMs, filter.bornMs);
            ++changes_;
        }
        changes_ += std::erase_if(group->second, [&](const auto& entry) {
            return entry.second.deadMs != 0 && now - entry.second.deadMs >= keepDead_.count();
        });
        group = group->second.empty() ? groups_.erase(group) : std::next(group);
    }
}

std::string FilterTable::encode() const {
    std::map<std::string_view, std::map<std::string_view, const RegisteredFilter*>> byTopic;
    for (const auto& [group, topics] : groups_) {
        for (const auto& [topic, filter] : topics) byTopic[topic][group] = &filter;
    }
    std::string text;
    json::Writer out(text, json::Dialect::Pretty);
    out.beginObject();
    out.key("filterDataByTopic");
    out.beginObject();
    for (const auto& [topic, groups] : byTopic) {
        out.key(topic);
        out.beginObject();
        out.key("groupFilterData");
        out.beginObject();
        for (const auto& [group, filter] : groups) {
            out.key(group);
            writeFilter(out, topic, group, *filter);
        }
        out.endObject();
        out.member("topic", topic);
        out.endObject();
    }
    out.endObject();
    out.endObject();
    return text;
}

std::string FilterTable::toJson() const {
    const std::lock_guard lock(mutex_);
    return encode();
}

Status FilterTable::persist() {
    std::uint64_t changes = 0;
    std::string text;
    {
        const std::lock_guard lock(mutex_);
        age(clock_.wallMs());
        if (changes_ == persisted_) return Status::ok();
        changes = changes_;
        text = encode();
    }
    if (Status made = files_.makeDirectories(directoryOf(path_)); !made) return made;
    if (Status written = files_.replaceAtomically(path_, text, true); !written) return written;
    const std::lock_guard lock(mutex_);
    persisted_ = changes;
    return Status::ok();
}

}  // namespace patchbay::plugins::filter

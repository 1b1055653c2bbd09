#include "TimerCounts.h"

#include "patchbay/base/BackedFile.h"
#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/json/Writer.h"

#include <algorithm>
#include <vector>

namespace patchbay::plugins::timer {

void TimerCounts::load(plugin::Logger& log) {
    const auto content = readBacked(files_, path_, [this](std::string_view text) { return accept(text); });
    const std::string problem = content ? content->problem : content.error().message();
    if (!problem.empty()) log.warn("the counts of timed messages are begun anew", {{"file", path_}, {"problem", problem}});
}

Status TimerCounts::accept(std::string_view text) {
    const auto document = json::Document::parse(text);
    if (!document) return document.error();
    const json::Value counts = document->root()["timingCount"];
    if (!counts.isObject()) return {StatusCode::Corrupt, "the file holds no timingCount"};
    topics_.clear();
    for (const auto [topic, value] : counts) {
        topics_.insert_or_assign(std::string(topic), Count{value["count"].integer().value_or(0), value["timeStamp"].integer().value_or(0)});
    }
    if (auto version = protocol::DataVersion::read(document->root()["dataVersion"])) version_ = *version;
    return Status::ok();
}

void TimerCounts::add(std::string_view topic, std::int64_t messages) {
    auto found = topics_.find(topic);
    if (found == topics_.end()) found = topics_.emplace(std::string(topic), Count{}).first;
    found->second = {std::max<std::int64_t>(found->second.messages + messages, 0), clock_.wallMs()};
    version_.next(found->second.changedMs);
    changed_ = true;
}

void TimerCounts::clear() {
    for (auto& [topic, count] : topics_) {
        if (count.messages == 0) continue;
        count = {0, clock_.wallMs()};
        changed_ = true;
    }
}

Status TimerCounts::persist() {
    if (!changed_) return Status::ok();
    std::string text;
    json::Writer out(text);
    out.beginObject();
    out.key("dataVersion");
    version_.write(out);
    out.key("timingCount");
    out.beginObject();
    std::vector<std::string_view> names;
    for (const auto& [topic, count] : topics_) names.push_back(topic);
    std::ranges::sort(names);
    for (const auto name : names) {
        const Count& count = topics_.find(name)->second;
        out.key(name);
        out.beginObject();
        out.member("count", count.messages);
        out.member("timeStamp", count.changedMs);
        out.endObject();
    }
    out.endObject();
    out.endObject();
    if (Status made = files_.makeDirectories(directoryOf(path_)); !made) return made;
    if (Status written = files_.replaceAtomically(path_, text, true); !written) return written;
    changed_ = false;
    return Status::ok();
}

}  // namespace patchbay::plugins::timer

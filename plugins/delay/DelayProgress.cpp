#include "DelayProgress.h"

#include "patchbay/base/BackedFile.h"
#include "patchbay/protocol/json/Value.h"

#include <charconv>

namespace patchbay::plugins::delay {

namespace {

constexpr std::int32_t kLevelMax = 65'535;

Result<DelayProgress::Offsets> readOffsets(json::Value table) {
    DelayProgress::Offsets offsets;
    for (const auto [key, value] : table) {
        std::int32_t level = 0;
        const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), level);
        const auto offset = value.integer();
        if (error != std::errc() || end != key.data() + key.size() || level <= 0 || level > kLevelMax || !offset || *offset < 0) {
            return Status(StatusCode::Corrupt, "offsetTable has no good offset of level \"" + std::string(key) + "\"");
        }
        offsets.insert_or_assign(level, *offset);
    }
    return offsets;
}

}  // namespace

Status DelayProgress::load(plugin::Logger& log) {
    version_.timestamp = clock_.wallMs();
    const auto content = readBacked(files_, path_, [this](std::string_view text) { return accept(text); });
    if (!content) return content.error();
    if (!content->problem.empty()) {
        const bool backup = content->source == BackedContent::Source::Backup;
        log.error(backup ? "delivery progress damaged, its backup is used" : "delivery progress damaged, starting without",
                  {{"file", path_}, {"problem", content->problem}});
    }
    return Status::ok();
}

Status DelayProgress::accept(std::string_view text) {
    const auto document = json::Document::parse(text);
    if (!document) return document.error();
    if (!document->root()["offsetTable"].isObject()) return {StatusCode::Corrupt, "the file holds no offsetTable"};
    auto offsets = readOffsets(document->root()["offsetTable"]);
    if (!offsets) return offsets.error();
    // Files of RocketMQ 4 have no version.
    auto version = protocol::DataVersion::read(document->root()["dataVersion"]);
    const std::lock_guard lock(mutex_);
    if (version) version_ = *version;
    offsets_ = std::move(*offsets);
    return Status::ok();
}

std::int64_t DelayProgress::at(std::int32_t level) const {
    const std::lock_guard lock(mutex_);
    const auto found = offsets_.find(level);
    return found == offsets_.end() ? 0 : found->second;
}

void DelayProgress::set(std::int32_t level, std::int64_t offset) {
    const std::lock_guard lock(mutex_);
    const auto [at, added] = offsets_.try_emplace(level, offset);
    if (!added && at->second == offset) return;
    at->second = offset;
    if (++changes_ % versionStep_ == 0) version_.next(clock_.wallMs());
}

DelayProgress::Offsets DelayProgress::offsets() const {
    const std::lock_guard lock(mutex_);
    return offsets_;
}

std::string DelayProgress::encode(json::Dialect dialect) const {
    std::string text;
    json::Writer out(text, dialect);
    out.beginObject();
    out.key("dataVersion");
    version_.write(out);
    out.key("offsetTable");
    out.beginObject();
    for (const auto& [level, offset] : offsets_) {
        out.key(std::int64_t{level});
        out.integer(offset);
    }
    out.endObject();
    out.endObject();
    return text;
}

std::string DelayProgress::toJson(json::Dialect dialect) const {
    const std::lock_guard lock(mutex_);
    return encode(dialect);
}

Status DelayProgress::persist(service::MessageStore& store) {
    std::uint64_t changes = 0;
    std::string text;
    {
        const std::lock_guard lock(mutex_);
        if (changes_ == persisted_) return Status::ok();
        changes = changes_;
        text = encode(json::Dialect::Pretty);
    }
    if (Status flushed = store.flush(); !flushed) return flushed;
    if (Status made = files_.makeDirectories(directoryOf(path_)); !made) return made;
    if (Status written = files_.replaceAtomically(path_, text, true); !written) return written;
    const std::lock_guard lock(mutex_);
    persisted_ = changes;
    return Status::ok();
}

}  // namespace patchbay::plugins::delay

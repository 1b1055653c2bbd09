#include "ConfigCopy.h"

#include "patchbay/protocol/route/AdminBodies.h"

#include <algorithm>
#include <functional>
#include <set>

namespace patchbay::plugins::sqlite {

namespace {

constexpr std::string_view kBackup = ".bak";
constexpr std::string_view kJournal = ".journal";
constexpr std::string_view kJson = ".json";

std::string without(std::string_view name, std::string_view ending) {
    return std::string(name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : name);
}

/// Backups and halves of a replacement say nothing that the file itself does not; what was set aside is for a person.
bool isCopied(std::string_view name) {
    return !name.ends_with(kBackup) && !name.ends_with(".tmp") && !name.ends_with(".damaged");
}

/// A database may come from anywhere: nothing outside of config/ is written.
bool isName(std::string_view name) {
    return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos && name.find('\0') == std::string_view::npos;
}

template <typename Queues>
std::size_t hashOf(const Queues& queues) {
    std::string text;
    for (const auto& [queueId, next] : queues) text += std::to_string(queueId) + ":" + std::to_string(next) + ",";
    return std::hash<std::string>()(text);
}

}  // namespace

bool ConfigCopy::isMissing(const std::string& name) const {
    return !hasContent(name) && !hasContent(name + std::string(kBackup));
}

// A journal may be empty, and so may what is no JSON. What cannot be asked is for its owner to judge.
bool ConfigCopy::hasContent(const std::string& name) const {
    const std::string path = directory_ + "/" + name;
    if (!files_.exists(path)) return false;
    if (!without(name, kBackup).ends_with(kJson)) return true;
    const auto file = files_.open(path, OpenMode::Read);
    const auto size = file ? (*file)->size() : Result<std::uint64_t>(file.error());
    return !size || *size > 0;
}

Result<std::vector<std::string>> ConfigCopy::putBack(const std::vector<std::string>& kept,
                                                     const std::function<Result<std::string>(const std::string& name)>& textOf) {
    // So that what goes away is taken for gone, whoever kept it.
    for (const auto& name : kept) known_[name] = kOther;
    std::vector<std::string> missing;
    for (const auto& name : kept) {
        if (isName(name) && isCopied(name) && isMissing(name) && isMissing(without(name, kJournal))) missing.push_back(name);
    }
    // Journals first: if this ends halfway the next start finds their files missing and goes on.
    std::stable_partition(missing.begin(), missing.end(), [](const std::string& name) { return name.ends_with(kJournal); });
    if (missing.empty()) return missing;
    if (Status made = files_.makeDirectories(directory_); !made) return made;
    for (const auto& name : missing) {
        const auto text = textOf(name);
        const Status written = text ? files_.replaceAtomically(directory_ + "/" + name, *text, false) : text.error();
        if (!written) return Status(written.code(), "cannot put back " + directory_ + "/" + name + " from the database: " + written.message());
    }
    return missing;
}

ConfigSnapshot ConfigCopy::look() {
    ConfigSnapshot found;
    gone_.clear();
    const auto entries = files_.list(directory_);
    if (!entries) return found;
    std::set<std::string> there;
    for (const auto& file : *entries) {
        if (file.directory) continue;
        there.insert(without(file.name, kBackup));
        if (isCopied(file.name)) take(file, found);
    }
    // Of a directory that was emptied as a whole nothing was given up by its owner.
    for (const auto& [name, hash] : known_) {
        if (!there.empty() && !there.contains(name)) gone_.push_back(name);
    }
    for (const auto& name : gone_) {
        known_.erase(name);
        found.goneFiles.push_back(name);
    }
    return found;
}

void ConfigCopy::forget() {
    for (auto& [name, hash] : known_) hash = kOther;
    for (const auto& name : gone_) known_[name] = kOther;
    offsetsKnown_ = false;
}

void ConfigCopy::take(const FileInfo& file, ConfigSnapshot& found) {
    auto text = files_.readAll(directory_ + "/" + file.name, kFileBytesMax);
    const auto at = known_.find(file.name);
    if (!text) {
        if (text.error().code() == StatusCode::NotFound) return;  // replaced at this moment
        if (at == known_.end() || at->second != kLeftOut) {
            log_.error("a configuration file is not copied into the database: a backup of the database alone lacks it, or has it as it was",
                       {{"file", file.name}, {"bytes", file.size}, {"bytesMax", kFileBytesMax}, {"reason", text.error().message()}});
        }
        known_[file.name] = kLeftOut;
        return;
    }
    // No owner writes an empty one, and the copy is what a person has left of it.
    if (text->empty() && file.name.ends_with(kJson)) return;
    const std::size_t hash = std::max<std::size_t>(std::hash<std::string>()(*text), kOther + 1);
    if (at != known_.end() && at->second == hash) return;
    known_[file.name] = hash;
    if (file.name == "consumerOffset.json") readOffsets(*text, found);
    found.files.emplace_back(file.name, std::move(*text));
}

void ConfigCopy::readOffsets(const std::string& text, ConfigSnapshot& found) {
    const auto table = protocol::ConsumerOffsets::fromJson(text);
    if (!table) return;  // its owner says so
    found.allOffsets = !offsetsKnown_;
    std::map<std::string, std::size_t> before = std::exchange(offsets_, {});
    const auto namesOf = [](const std::string& key) {
        const std::size_t at = key.find('@');
        return std::pair(key.substr(at + 1), key.substr(0, at));
    };
    for (const auto& [key, queues] : table->offsetTable) {
        if (key.find('@') == std::string::npos) continue;
        const std::size_t hash = hashOf(queues);
        offsets_[key] = hash;
        const auto old = before.extract(key);
        if (!found.allOffsets && !old.empty() && old.mapped() == hash) continue;
        const auto [group, topic] = namesOf(key);
        for (const auto& [queueId, next] : queues) found.offsets.push_back({group, topic, queueId, next});
    }
    if (!found.allOffsets) {
        for (const auto& [key, hash] : before) found.goneOffsets.push_back(namesOf(key));
    }
    offsetsKnown_ = true;
}

}  // namespace patchbay::plugins::sqlite

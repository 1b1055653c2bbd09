#include "ConfigCopy.h"

#include "patchbay/protocol/route/AdminBodies.h"

#include <algorithm>
#include <functional>

namespace patchbay::plugins::sqlite {

namespace {

constexpr std::size_t kLeftOut = 0;

/// Backups and halves of a replacement say nothing that the file itself does not.
bool isCopied(const FileInfo& file) {
    return !file.directory && !file.name.ends_with(".bak") && !file.name.ends_with(".tmp");
}

}  // namespace

ConfigSnapshot ConfigCopy::look() {
    ConfigSnapshot found;
    found.whole = known_.empty();
    const auto entries = files_.list(directory_);
    if (!entries) return found;
    std::map<std::string, std::size_t> before = known_;
    for (const auto& file : *entries) {
        if (!isCopied(file)) continue;
        before.erase(file.name);
        take(file, found);
    }
    for (const auto& [name, hash] : before) {
        known_.erase(name);
        if (hash != kLeftOut) found.goneFiles.push_back(name);
    }
    return found;
}

void ConfigCopy::take(const FileInfo& file, ConfigSnapshot& found) {
    const auto text = files_.readAll(directory_ + "/" + file.name, kFileBytesMax);
    const auto at = known_.find(file.name);
    if (!text) {
        if (text.error().code() == StatusCode::NotFound) return;  // replaced at this moment
        if (at == known_.end() || at->second != kLeftOut) {
            log_.warn("a configuration file is not copied into the database", {{"file", file.name}, {"reason", text.error().message()}});
            if (at != known_.end()) found.goneFiles.push_back(file.name);
        }
        known_[file.name] = kLeftOut;
        return;
    }
    const std::size_t hash = std::max<std::size_t>(std::hash<std::string>()(*text), kLeftOut + 1);
    if (at != known_.end() && at->second == hash) return;
    known_[file.name] = hash;
    if (file.name == "consumerOffset.json") readOffsets(*text, found);
    found.files.emplace_back(file.name, *text);
}

void ConfigCopy::readOffsets(const std::string& text, ConfigSnapshot& found) {
    const auto table = protocol::ConsumerOffsets::fromJson(text);
    if (!table) return;  // its owner says so
    found.offsetsChanged = true;
    for (const auto& [key, queues] : table->offsetTable) {
        const std::size_t at = key.find('@');
        if (at == std::string::npos) continue;
        for (const auto& [queueId, next] : queues) found.offsets.push_back({key.substr(at + 1), key.substr(0, at), queueId, next});
    }
}

}  // namespace patchbay::plugins::sqlite

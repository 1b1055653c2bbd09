#include "KvConfig.h"

#include "patchbay/base/BackedFile.h"
#include "patchbay/protocol/json/Value.h"
#include "patchbay/protocol/json/Writer.h"

#include <algorithm>

namespace patchbay::plugins::namesrv {

namespace {

constexpr std::string_view kRoot = "configTable";

}  // namespace

Status KvConfig::load(plugin::Logger& log) {
    const auto content = readBacked(files_, path_, [this](std::string_view text) -> Status {
        auto tables = parse(text);
        if (!tables) return tables.error();
        const std::unique_lock guard(lock_);
        tables_ = std::move(*tables);
        return Status::ok();
    });
    if (!content) return content.error();
    if (!content->problem.empty()) {
        const bool backup = content->source == BackedContent::Source::Backup;
        log.error(backup ? "key-value table damaged, its backup is used" : "key-value table damaged, starting without",
                  {{"file", path_}, {"problem", content->problem}});
    }
    return Status::ok();
}

Result<KvConfig::Tables> KvConfig::parse(std::string_view text) {
    auto document = json::Document::parse(text);
    if (!document) return document.error();
    const json::Value root = document->root()[kRoot];
    if (!root.isObject()) return {StatusCode::Corrupt, "there is no object \"configTable\""};
    Tables tables;
    for (const auto& [nameSpace, entries] : root) {
        if (nameSpace.empty() || !entries.isObject()) continue;
        Table& table = tables[std::string(nameSpace)];
        for (const auto& [key, value] : entries) {
            // An entry without a key or value can only have been written by another server's fault; nobody could use it.
            if (auto content = value.text(); content && !key.empty()) table[std::string(key)] = std::move(*content);
        }
    }
    return tables;
}

std::string KvConfig::toJson(const Tables& tables) {
    std::string text;
    json::Writer out(text);
    out.beginObject();
    out.key(kRoot);
    out.beginObject();
    for (const auto& [nameSpace, table] : tables) {
        out.key(nameSpace);
        out.beginObject();
        for (const auto& [key, value] : table) out.member(key, value);
        out.endObject();
    }
    out.endObject();
    out.endObject();
    return text;
}

std::size_t KvConfig::bytesOf(const Tables& tables) noexcept {
    std::size_t bytes = 0;
    for (const auto& [nameSpace, table] : tables) {
        bytes += nameSpace.size();
        for (const auto& [key, value] : table) bytes += key.size() + value.size();
    }
    return bytes;
}

Status KvConfig::replace(Tables changed) {
    if (auto made = files_.makeDirectories(directoryOf(path_)); !made) return made;
    if (auto written = files_.replaceAtomically(path_, toJson(changed), true); !written) return written;
    const std::unique_lock guard(lock_);
    tables_ = std::move(changed);
    return Status::ok();
}

Status KvConfig::put(std::string_view nameSpace, std::string_view key, std::string_view value) {
    if (nameSpace.empty() || key.empty()) return {StatusCode::InvalidArgument, "namespace or key is empty"};
    if (std::max(nameSpace.size(), key.size()) > kNameBytesMax) {
        return {StatusCode::InvalidArgument, "namespace or key is longer than " + std::to_string(kNameBytesMax) + " bytes"};
    }
    if (value.size() > kValueBytesMax) {
        return {StatusCode::InvalidArgument, "value is longer than " + std::to_string(kValueBytesMax) + " bytes"};
    }
    const std::lock_guard writer(writing_);
    Tables changed = tables_;
    changed[std::string(nameSpace)].insert_or_assign(std::string(key), std::string(value));
    if (bytesOf(changed) > kTableBytesMax) {
        return {StatusCode::InvalidArgument, "the table is full: " + std::to_string(kTableBytesMax) + " bytes"};
    }
    return replace(std::move(changed));
}

Status KvConfig::remove(std::string_view nameSpace, std::string_view key) {
    const std::lock_guard writer(writing_);
    const auto table = tables_.find(nameSpace);
    if (table == tables_.end() || !table->second.contains(key)) return Status::ok();
    Tables changed = tables_;
    Table& rest = changed.find(nameSpace)->second;
    rest.erase(rest.find(key));
    return replace(std::move(changed));
}

std::optional<std::string> KvConfig::get(std::string_view nameSpace, std::string_view key) const {
    const std::shared_lock guard(lock_);
    const auto table = tables_.find(nameSpace);
    if (table == tables_.end()) return std::nullopt;
    const auto entry = table->second.find(key);
    return entry == table->second.end() ? std::nullopt : std::optional(entry->second);
}

std::optional<KvConfig::Table> KvConfig::list(std::string_view nameSpace) const {
    const std::shared_lock guard(lock_);
    const auto table = tables_.find(nameSpace);
    return table == tables_.end() ? std::nullopt : std::optional(table->second);
}

}  // namespace patchbay::plugins::namesrv

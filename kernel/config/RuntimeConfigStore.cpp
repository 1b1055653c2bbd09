#include "config/RuntimeConfigStore.h"

#include "config/PropertiesFile.h"
#include "config/RocketmqKeys.h"

#include <algorithm>
#include <set>

namespace patchbay::kernel {

using plugin::ConfigEntry;
using plugin::ConfigType;

namespace {

constexpr std::size_t kValueBytesMax = 64U << 10;

bool hasControl(std::string_view text) {
    return std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

/// `plugin`: whose key it is; empty for the kernel's, which are read at a start only.
Status restartNeeded(std::string_view key, std::string_view plugin) {
    std::string text(key);
    if (plugin.empty()) return {StatusCode::Unsupported, text + " needs a restart: set it in the configuration file"};
    text += " needs a restart of its plugin: set it in the configuration file, then 'patchctl plugin reload ";
    text += plugin;
    return {StatusCode::Unsupported, text + "'"};
}

Status beingExchanged() { return {StatusCode::Busy, "plugins are being exchanged; try again"}; }

Status pathsStay(std::string_view key) {
    return {StatusCode::Denied, std::string(key) + " is a path; paths are set in the configuration file only"};
}

/// It is in force: what cannot be kept may be just what frees a full disk.
Status untilRestart(const Status& why) {
    return {why.code(), "changed, but until the next restart only: " + why.message()};
}

}  // namespace

std::optional<ConfigValue> valueFrom(const KeySpec& spec, std::span<const Assignment> assignments, Problems& problems) {
    ConfigValue value;
    (void)parseValue(spec, spec.defaultValue, "", value);
    value.where = "default";
    bool fine = true;
    for (const auto& assignment : assignments) {
        if (!spec.answersTo(assignment.key) || assignment.origin < value.origin) continue;
        ConfigValue next;
        const auto wrong = parseValue(spec, assignment.value, assignment.baseDirectory, next);
        if (wrong || assignment.trailingComment) {
            problems.add(wrong ? wrong->number : ErrorNumber::TrailingComment, assignment.where,
                         assignment.key + ": " + (wrong ? wrong->text : "comment behind the value"));
            fine = false;
            continue;
        }
        next.origin = assignment.origin;
        next.where = assignment.where;
        value = std::move(next);
    }
    return fine ? std::optional(std::move(value)) : std::nullopt;
}

std::vector<Assignment> assignmentsOf(const ConfigSources& sources, const std::string& owner) {
    const auto& files = sources.pluginFiles();
    const auto file = std::find_if(files.begin(), files.end(), [&](const PluginFile& f) { return f.plugin == owner && f.enabled; });
    return file == files.end() ? sources.common() : sources.assignmentsFor(*file);
}

void RuntimeConfigStore::open(Options options) {
    options_ = std::move(options);
}

void RuntimeConfigStore::addOwner(RuntimeOwner owner) {
    const std::lock_guard lock(mutex_);
    owners_.push_back(std::move(owner));
}

void RuntimeConfigStore::setPlugins(std::vector<RuntimeOwner> plugins) {
    const std::lock_guard lock(mutex_);
    std::erase_if(owners_, [](const RuntimeOwner& owner) { return owner.reconfigure != nullptr; });
    for (auto& plugin : plugins) owners_.push_back(std::move(plugin));
}

std::vector<RuntimeOwner> RuntimeConfigStore::owners() const {
    const std::lock_guard lock(mutex_);
    return owners_;
}

Status RuntimeConfigStore::keepSwitch(const std::string& key, bool enabled) {
    auto all = kept();
    if (!all) return untilRestart(all.error());
    (*all)[key] = enabled ? "true" : "false";
    const auto status = write(*all);
    return status ? status : untilRestart(status);
}

void RuntimeConfigStore::clearOwners() {
    const std::lock_guard lock(mutex_);
    owners_.clear();
}

bool RuntimeConfigStore::serves(const RuntimeOwner& owner, std::string_view listener) noexcept {
    return owner.listeners.empty() || std::find(owner.listeners.begin(), owner.listeners.end(), listener) != owner.listeners.end();
}

std::vector<ConfigEntry> RuntimeConfigStore::snapshot(std::string_view listener) const {
    std::map<std::string, ConfigEntry> sorted;   // one entry for a key that several declare
    const std::lock_guard lock(mutex_);
    for (const auto& owner : owners_) {
        if (!serves(owner, listener)) continue;
        for (const auto& [name, item] : owner.values.items()) {
            const bool secret = item.spec.has(plugin::kSecret);
            auto& entry = sorted[name];
            entry = {name, secret ? "***" : item.value.text, secret || entry.secret,
                     item.spec.has(plugin::kReloadable) || entry.reloadable};
        }
    }
    std::vector<ConfigEntry> list;
    list.reserve(sorted.size());
    for (auto& [name, entry] : sorted) list.push_back(std::move(entry));
    return list;
}

Status RuntimeConfigStore::forbidden(std::string_view key) const {
    static constexpr std::string_view kPluginKeys[] = {"plugin", "library", "enabled", "optional", "roles", "disableAfterFaults"};
    const auto* known = findRocketmqKey(key);
    const bool path = known != nullptr && known->kind == RocketmqKey::Kind::Path;
    const bool pluginKey = std::find(std::begin(kPluginKeys), std::end(kPluginKeys), key) != std::end(kPluginKeys) ||
                           key.starts_with("plugin.") || isServiceKey(key) || isExecutorKey(key);
    if (path) return pathsStay(key);
    if (pluginKey) return {StatusCode::Denied, std::string(key) + " must not be changed while the broker runs"};
    return Status::ok();
}

Status RuntimeConfigStore::blackListed(std::string_view key, const KeySpec* spec) const {
    const bool listed = std::any_of(options_.blackList.begin(), options_.blackList.end(),
                                    [&](const std::string& name) { return name == key || (spec != nullptr && spec->answersTo(name)); });
    if (!listed) return Status::ok();
    return {StatusCode::Denied, std::string(key) + " must not be changed while the broker runs: configBlackList names it"};
}

Status RuntimeConfigStore::check(std::string_view listener, const ConfigEntry& entry, std::vector<Change>& out) const {
    if (auto denied = forbidden(entry.key); !denied) return denied;
    if (auto denied = blackListed(entry.key, nullptr); !denied) return denied;
    if (hasControl(entry.key) || hasControl(entry.value) || entry.value.size() > kValueBytesMax) {
        return {StatusCode::InvalidArgument, "the value holds line breaks or other control characters, or is too long"};
    }
    bool known = false;
    bool somebody = false;
    std::string plugin;   // the last one that has the key
    for (std::size_t i = 0; i < owners_.size(); ++i) {
        const auto& owner = owners_[i];
        const auto* item = owner.values.find(entry.key);
        if (item == nullptr || !serves(owner, listener)) continue;
        known = true;
        if (owner.reconfigure != nullptr) plugin = owner.name;
        if (item->spec.type == ConfigType::Path) {
            return pathsStay(entry.key);
        }
        if (auto denied = forbidden(item->spec.name); !denied) return denied;
        if (auto denied = blackListed(entry.key, &item->spec); !denied) return denied;
        ConfigValue value;
        if (const auto wrong = parseValue(item->spec, entry.value, "", value)) {
            return {wrong->number == ErrorNumber::OutOfRange ? StatusCode::OutOfRange : StatusCode::InvalidArgument,
                    entry.key + ": " + wrong->text};
        }
        const bool changeable = item->spec.has(plugin::kReloadable) && owner.reconfigure != nullptr;
        // The kernel's word counts only where no plugin has the key as well: identity is constant, plugins act on the change.
        if (!changeable && owner.reconfigure == nullptr) continue;
        // Whoever may ask what a change would be answered must not find a secret by guessing.
        if (value.text == item->value.text && !item->spec.has(plugin::kSecret)) {
            somebody = true;
            continue;
        }
        if (!changeable) return restartNeeded(entry.key, owner.name);
        somebody = true;
        value.origin = Origin::RunTime;
        value.where = "changed at run time";
        out.push_back({i, item->spec.name, std::move(value)});
    }
    if (somebody) return Status::ok();
    if (known) return restartNeeded(entry.key, plugin);
    if (findRocketmqKey(entry.key) != nullptr) {
        return {StatusCode::Unsupported, entry.key + " has no effect in this broker"};
    }
    return {StatusCode::NotFound, "unknown key '" + entry.key + "'"};
}

Status RuntimeConfigStore::apply(std::string_view listener, std::span<const ConfigEntry> changes) {
    // Copies: the caller's memory may be a plugin's, and the caller may give up waiting.
    std::vector<ConfigEntry> copies(changes.begin(), changes.end());
    return onLifecycle_([this, listener = std::string(listener), copies = std::move(copies)]() -> Status {
        if (exchanging_) return beingExchanged();
        std::vector<Change> checked;
        std::set<std::string> seen;
        for (const auto& entry : copies) {
            if (!seen.insert(entry.key).second) return {StatusCode::InvalidArgument, entry.key + " is given twice"};
            if (auto status = check(listener, entry, checked); !status) return status;
        }
        if (auto status = commit(checked); !status) return status;
        changes_.fetch_add(1, std::memory_order_relaxed);
        for (const auto& entry : copies) log_.info("configuration changed", {{"key", entry.key}});
        if (auto status = keep(copies); !status) {
            log_.error("the change holds until the next restart only", {{"error", status.message()}});
            return untilRestart(status);
        }
        return Status::ok();
    });
}

Status RuntimeConfigStore::wouldApply(std::string_view listener, const ConfigEntry& entry) const {
    return onLifecycle_([this, listener = std::string(listener), entry]() -> Status {
        std::vector<Change> ignored;
        return check(listener, entry, ignored);
    });
}

Status RuntimeConfigStore::withoutChange(const std::string& key, const ConfigSources& sources, std::vector<Change>& out,
                                         std::vector<Change>& quiet) const {
    Problems problems;
    for (std::size_t i = 0; i < owners_.size(); ++i) {
        const auto& owner = owners_[i];
        const auto* item = owner.values.find(key);
        if (item == nullptr || item->spec.type == ConfigType::Path) continue;
        auto assignments = assignmentsOf(sources, owner.name);
        std::erase_if(assignments, [](const Assignment& one) { return one.origin == Origin::RunTime; });
        auto next = valueFrom(item->spec, assignments, problems);
        if (!next) continue;
        const bool same = next->text == item->value.text;
        const bool changeable = item->spec.has(plugin::kReloadable) && owner.reconfigure != nullptr;
        if (same || changeable) (same ? quiet : out).push_back({i, item->spec.name, std::move(*next)});
    }
    return problems.empty() ? Status::ok() : Status(StatusCode::InvalidArgument, problems.toString());
}

Status RuntimeConfigStore::unset(const std::string& key, const ConfigSources& sources, bool dryRun) {
    if (exchanging_) return beingExchanged();
    // Of what forbidden() refuses, switches are taken back all the same.
    if (auto denied = blackListed(key, nullptr); !denied) return denied;
    for (const auto& owner : owners_) {
        const auto* item = owner.values.find(key);
        if (item == nullptr) continue;
        if (auto denied = blackListed(key, &item->spec); !denied) return denied;
    }
    auto all = kept();
    if (!all) return all.error();
    bool known = false;
    std::size_t lines = all->erase(key);
    for (const auto& owner : owners_) {
        const auto* item = owner.values.find(key);
        if (item == nullptr) continue;
        known = true;
        lines += std::erase_if(*all, [&](const auto& one) { return item->spec.answersTo(one.first); });
    }
    if (lines == 0) return {StatusCode::NotFound, known ? key + " was not changed at run time" : "unknown key '" + key + "'"};
    std::vector<Change> changes;
    std::vector<Change> quiet;
    if (auto status = withoutChange(key, sources, changes, quiet); !status || dryRun) return status;
    if (auto status = commit(changes); !status) return status;
    {
        const std::lock_guard lock(mutex_);
        for (const auto& change : quiet) owners_[change.owner].values.set(change.name, change.value);
    }
    changes_.fetch_add(1, std::memory_order_relaxed);
    log_.info("a change of the configuration was taken back", {{"key", key}});
    const auto status = write(*all);
    return status ? status : Status(status.code(), "taken back, but until the next restart only: " + status.message());
}

Status RuntimeConfigStore::commit(const std::vector<Change>& changes) {
    std::vector<std::size_t> told;
    for (std::size_t i = 0; i < owners_.size(); ++i) {
        if (std::none_of(changes.begin(), changes.end(), [&](const Change& c) { return c.owner == i; })) continue;
        told.push_back(i);
        if (auto status = tell(i, changes, false); !status) {
            for (const auto owner : told) (void)tell(owner, changes, true);
            return {status.code(), owners_[i].name + ": " + status.message()};
        }
    }
    const std::lock_guard lock(mutex_);
    for (const auto& change : changes) {
        owners_[change.owner].values.set(change.name, change.value);
        // Where the kernel has the key as well, plugins act on it, and the kernel's table tells what they do.
        for (auto& owner : owners_) {
            if (owner.reconfigure != nullptr) continue;
            const auto* item = owner.values.find(change.name);
            if (item != nullptr && item->spec.has(plugin::kReloadable)) owner.values.set(item->spec.name, change.value);
        }
    }
    return Status::ok();
}

Status RuntimeConfigStore::tell(std::size_t index, const std::vector<Change>& changes, bool undo) {
    const auto& owner = owners_[index];
    ConfigValues next = owner.values;
    std::vector<std::string_view> names;
    for (const auto& change : changes) {
        if (change.owner != index) continue;
        names.push_back(change.name);
        if (!undo) next.set(change.name, change.value);
    }
    return owner.reconfigure(next, names);
}

Result<std::map<std::string, std::string>> RuntimeConfigStore::kept() const {
    Problems problems;
    ConfigSources sources;
    sources.addRunTimeChanges(files_, options_.changesPath, problems);
    if (!problems.empty()) {
        auto text = problems.toString();
        while (!text.empty() && text.back() == '\n') text.pop_back();
        return Status(StatusCode::InvalidArgument, std::move(text));
    }
    std::map<std::string, std::string> all;
    for (const auto& assignment : sources.common()) all[assignment.key] = assignment.value;
    return all;
}

Status RuntimeConfigStore::keep(std::span<const ConfigEntry> entries) {
    auto read = kept();
    if (!read) return read.error();
    auto& all = *read;
    for (const auto& entry : entries) {
        // One word for a key only: a name and its alias in the same file are refused at the next start.
        for (const auto& owner : owners_) {
            const auto* item = owner.values.find(entry.key);
            if (item != nullptr) std::erase_if(all, [&](const auto& kept) { return item->spec.answersTo(kept.first); });
        }
        all[entry.key] = entry.value;
    }
    return write(all);
}

Status RuntimeConfigStore::write(const std::map<std::string, std::string>& all) {
    std::string text =
        "# Values that were changed while the broker ran. They win over the configuration files; remove a line to end that.\n"
        "# Written by the broker.\n";
    for (const auto& [key, value] : all) {
        text += PropertiesFile::escape(key, true) + " = " + PropertiesFile::escape(value, false) + "\n";
    }
    if (auto status = files_.makeDirectories(directoryOf(options_.changesPath)); !status) return status;
    return files_.replaceAtomically(options_.changesPath, text, true);
}

Status RuntimeConfigStore::reload(const ConfigSources& sources, const std::function<bool(const std::string& owner)>& without) {
    Problems problems;
    std::vector<Change> changes;
    for (std::size_t i = 0; i < owners_.size(); ++i) {
        auto& owner = owners_[i];
        if (without(owner.name)) continue;
        const auto assignments = assignmentsOf(sources, owner.name);
        for (const auto& [name, item] : owner.values.items()) {
            auto next = valueFrom(item.spec, assignments, problems);
            const bool bothDefault = next && next->origin == Origin::Default && item.value.origin == Origin::Default;
            if (!next || bothDefault || next->text == item.value.text || item.spec.type == ConfigType::Path) continue;
            auto& value = *next;
            if (item.spec.has(plugin::kReloadable) && owner.reconfigure != nullptr) {
                changes.push_back({i, name, std::move(value)});
            } else if (owner.reconfigure != nullptr || !item.spec.has(plugin::kReloadable)) {
                const bool ofPlugin = owner.reconfigure != nullptr;
                log_.warn(ofPlugin ? "a changed key needs a restart of its plugin: patchctl plugin reload" : "a changed key needs a restart",
                          {{"key", name}, {"where", value.where}, {"owner", owner.name}});
            }
        }
    }
    undo_.clear();
    if (!problems.empty()) return {StatusCode::InvalidArgument, problems.toString()};
    if (changes.empty()) return Status::ok();
    for (const auto& change : changes) undo_.push_back({change.owner, change.name, owners_[change.owner].values.items().at(change.name).value});
    if (auto status = commit(changes); !status) {
        undo_.clear();
        return status;
    }
    changes_.fetch_add(1, std::memory_order_relaxed);
    for (const auto& change : changes) log_.info("configuration changed", {{"key", change.name}, {"where", change.value.where}});
    return Status::ok();
}

void RuntimeConfigStore::takeBackReload() {
    if (undo_.empty()) return;
    const auto status = commit(undo_);
    for (const auto& change : undo_) log_.info("a change of the configuration was taken back", {{"key", change.name}});
    if (!status) log_.error("a change of the configuration could not be taken back", {{"error", status.message()}});
    undo_.clear();
}

}  // namespace patchbay::kernel

#include "SqlitePlugin.h"

#include <algorithm>
#include <filesystem>

namespace patchbay::plugins::sqlite {

namespace {

constexpr std::string_view kRunTimeChanges = "runtime.properties";  // which the kernel has read by then

}  // namespace

Status SqlitePlugin::configure(const plugin::ConfigView& view) {
    config_ = SqliteConfig::from(view);
    return Status::ok();
}

Status SqlitePlugin::init(plugin::PluginContext& context) {
    context_ = &context;
    StoreSettings settings = config_.store;
    if (settings.directory.empty()) settings.directory = context.identity().storeRoot + "/sqlite";
    // Of storePathRootDir the process has the lock; that of another directory is the store's own.
    std::error_code none;
    settings.directoryLocked = std::filesystem::equivalent(settings.directory, context.identity().storeRoot, none);
    store_ = std::make_unique<SqliteStore>(std::move(settings), context.files(), context.clock(), context.log());
    store_->countLostIn(context.metrics().counter("sqlite_messages_lost_total",
                                                  "Messages that a reader asked for and the database could not give: damaged, or missing."));
    if (config_.keepConfig) copy_ = std::make_unique<ConfigCopy>(context.files(), context.identity().storeRoot + "/config", context.log());
    return context.services().publish<service::MessageStore>(*store_);
}

Status SqlitePlugin::start() {
    if (Status status = store_->open(); !status) return status;
    if (Status status = putConfigBack(); !status) {
        store_->close();
        return status;
    }
    context_->timers().every(config_.flushInterval, config_.flushInterval, [this] { store_->flushSoon(); });
    // A backup may be made at once, and the files may come from a conversion or another store's life.
    context_->timers().after(std::chrono::milliseconds(1), [this] { copyConfig(); });
    context_->timers().every(config_.cleanInterval, config_.cleanInterval, [this] {
        store_->removeOld();
        copyConfig();
    });
    return Status::ok();
}

Status SqlitePlugin::reconfigure(const plugin::ConfigView& view, std::span<const std::string_view>) {
    store_->setRetention(SqliteConfig::from(view).store.retention);
    return Status::ok();
}

// Before the plugins start whose files these are: see kStartsFirst in plugin.cpp.
Status SqlitePlugin::putConfigBack() {
    if (!copy_) return Status::ok();
    const auto kept = store_->keptFiles();
    if (!kept) return kept.error();
    const auto written = copy_->putBack(*kept, [this](const std::string& name) { return store_->keptFile(name); });
    if (!written) return written.error();
    if (written->empty()) return Status::ok();
    std::string names;
    for (const auto& name : *written) names += (names.empty() ? "" : ",") + name;
    context_->log().warn("files were missing or empty in config/ and were put back from the database", {{"files", names}});
    if (std::find(written->begin(), written->end(), kRunTimeChanges) != written->end()) {
        context_->log().warn("what was changed at run time is in force after the next start", {{"file", kRunTimeChanges}});
    }
    return Status::ok();
}

void SqlitePlugin::copyConfig() {
    if (!copy_) return;
    const ConfigSnapshot found = copy_->look();
    if (found.empty()) return;
    if (const Status kept = store_->keepConfig(found); !kept) {
        copy_->forget();
        context_->log().limited(plugin::LogLevel::Warn, "configuration is not copied into the database", {{"reason", kept.message()}});
    }
}

void SqlitePlugin::stop() noexcept {
    if (!store_) return;
    // Those who keep files there have written them by now.
    copyConfig();
    store_->close();
}

}  // namespace patchbay::plugins::sqlite

#include "ToyPlugin.h"

namespace toy {

using namespace patchbay;

namespace {

// A key that several stores know has one meaning in all of them.
constexpr plugin::ConfigKey kKeys[] = {
    {"flushDiskType", plugin::ConfigType::Text, "ASYNC_FLUSH",
     "SYNC_FLUSH answers a send when the message is on the disk, ASYNC_FLUSH when it is in the page cache.", 0, 0, 0, {},
     "ASYNC_FLUSH SYNC_FLUSH"},
};

}  // namespace

std::span<const plugin::ConfigKey> ToyPlugin::configKeys() const noexcept { return kKeys; }

Status ToyPlugin::configure(const plugin::ConfigView& view) {
    syncFlush_ = view.text("flushDiskType") == "SYNC_FLUSH";
    return Status::ok();
}

Status ToyPlugin::init(plugin::PluginContext& context) {
    log_ = &context.log();
    store_ = std::make_unique<ToyStore>(context.identity().storeRoot + "/toy", context.files(), context.clock(), syncFlush_);
    return context.services().publish<service::MessageStore>(*store_);
}

Status ToyPlugin::start() {
    if (Status opened = store_->open(); !opened) return opened;
    if (store_->tornBytes() > 0) log_->warn("the torn end of the file is left out", {{"bytes", store_->tornBytes()}});
    return Status::ok();
}

void ToyPlugin::stop() noexcept {
    if (store_) store_->close();
}

}  // namespace toy

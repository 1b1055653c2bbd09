#include "plugin/PluginInstance.h"

namespace patchbay::kernel {

namespace {

/// Calls into the plugin and turns whatever leaves it into a Status whose text is ours.
template <typename F>
Status guarded(const char* step, F&& call) noexcept {
    try {
        const Status status = call();
        return status ? Status::ok() : Status(status.code(), std::string(status.message().data(), status.message().size()));
    } catch (const std::exception& error) {
        return {StatusCode::Internal, std::string("an exception left ") + step + "(): " + error.what()};
    } catch (...) {
        return {StatusCode::Internal, std::string("an unknown exception left ") + step + "()"};
    }
}

/// Names a plugin that does not come back from a step of its life, while it does not.
class StepWatch {
public:
    StepWatch(const HostSurroundings& around, const std::string& plugin, const char* step) : around_(around) {
        const auto begin = around.clock.now();
        around.control.schedule(this, around.stepWarning, around.stepWarning, [&around, &plugin, step, begin] {
            const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(around.clock.now() - begin).count();
            around.logger("kernel.plugin").warn("a plugin has not come back", {{"plugin", plugin}, {"from", step}, {"ms", ms}});
        });
    }
    ~StepWatch() { around_.control.cancelAll(this); }
    StepWatch(const StepWatch&) = delete;
    StepWatch& operator=(const StepWatch&) = delete;

private:
    const HostSurroundings& around_;
};

}  // namespace

PluginInstance::PluginInstance(PluginFile file, PluginDescription description, std::string libraryPath, std::uint32_t number)
    : file_(std::move(file)), description_(std::move(description)), libraryPath_(std::move(libraryPath)), number_(number) {}

PluginInstance::~PluginInstance() {
    stop();
    if (plugin_ != nullptr) destroy(false);
}

bool PluginInstance::load(FileSystem& files, const std::string& copy, Problems& problems) {
    auto library = PluginLibrary::open(files, libraryPath_, copy);
    if (!library) {
        const bool linker = library.error().code() == StatusCode::Unavailable;
        problems.add(linker ? ErrorNumber::PluginLoad : ErrorNumber::PluginCopy, "plugin " + name(), library.error().message());
        state_ = PluginState::Failed;
        return false;
    }
    library_ = std::move(*library);
    return create(problems);
}

bool PluginInstance::loadAgain(const PluginInstance& other, Problems& problems) {
    library_ = other.library_;
    return create(problems);
}

bool PluginInstance::create(Problems& problems) {
    state_ = PluginState::Loaded;
    plugin_ = library_->create();
    if (plugin_ == nullptr) {
        problems.add(ErrorNumber::PluginCreate, "plugin " + name(), "patchbay_plugin_create gave no object");
        state_ = PluginState::Failed;
        return false;
    }
    state_ = PluginState::Created;
    return true;
}

std::span<const plugin::ConfigKey> PluginInstance::keys() const noexcept {
    return plugin_ == nullptr ? std::span<const plugin::ConfigKey>() : plugin_->configKeys();
}

bool PluginInstance::configure(const ConfigSources& sources, const std::string& defaultDirectory, Problems& problems) {
    const auto before = problems.size();
    values_ = ConfigValues::resolve(keys(), sources.assignmentsFor(file_), defaultDirectory, "plugin " + name(), problems);
    // A plugin never sees values that break its own table.
    if (problems.size() == before) {
        const auto status = guarded("configure", [&] { return plugin_->configure(values_); });
        if (!status) problems.add(ErrorNumber::PluginConfigure, "plugin " + name(), status.message());
    }
    state_ = problems.size() == before ? PluginState::Configured : PluginState::Failed;
    return state_ == PluginState::Configured;
}

bool PluginInstance::configureAs(const PluginInstance& other, Problems& problems) {
    values_ = other.values_;
    const auto status = guarded("configure", [&] { return plugin_->configure(values_); });
    if (!status) problems.add(ErrorNumber::PluginConfigure, "plugin " + name(), status.message());
    state_ = status ? PluginState::Configured : PluginState::Failed;
    return status.isOk();
}

Status PluginInstance::init(const HostSurroundings& around, ServiceRegistry& registry, ExecutorOverrides executors,
                            std::vector<const Registrations*> others) {
    library_->hasRun();
    generation_ = Ref<Generation>::adopt(new Generation(name(), number_));
    around_ = &around;
    const StepWatch watch(around, name(), "init()");
    context_ = std::make_unique<KernelContext>(around, registry, description_, generation_, std::move(executors), std::move(others));
    auto status = guarded("init", [&] { return plugin_->init(*context_); });
    if (status) {
        const auto missing = context_->published().missing();
        if (!missing.empty()) status = {StatusCode::Internal, "its manifest promises " + missing.front() + ", but init() did not publish it"};
    }
    state_ = status ? PluginState::Initialised : PluginState::Failed;
    return status;
}

Status PluginInstance::start() {
    const StepWatch watch(*around_, name(), "start()");
    auto status = guarded("start", [&] { return plugin_->start(); });
    if (status) {
        state_ = PluginState::Started;
        startedWallMs_ = context_->clock().wallMs();
    }
    return status;
}

Status PluginInstance::reconfigure(const ConfigValues& next, std::span<const std::string_view> changed) {
    const StepWatch watch(*around_, name(), "reconfigure()");
    auto status = guarded("reconfigure", [&] { return plugin_->reconfigure(next, changed); });
    if (status) values_ = next;
    return status;
}

void PluginInstance::drain() noexcept {
    if (state_ != PluginState::Started && state_ != PluginState::Draining) return;
    state_ = PluginState::Draining;
    const StepWatch watch(*around_, name(), "drain()");
    (void)guarded("drain", [&] { plugin_->drain(); return Status::ok(); });
}

void PluginInstance::closeRegistrations() noexcept {
    if (context_) context_->closeRegistrations();
}

void PluginInstance::stop() noexcept {
    const bool running = state_ == PluginState::Initialised || state_ == PluginState::Started || state_ == PluginState::Draining;
    if (running) {
        const StepWatch watch(*around_, name(), "stop()");
        context_->beforeStop();
        (void)guarded("stop", [&] { plugin_->stop(); return Status::ok(); });
        state_ = PluginState::Stopped;
    }
    if (context_) context_->afterStop();
}

void PluginInstance::destroy(bool unload) noexcept {
    if (plugin_ != nullptr) library_->destroy(plugin_);
    plugin_ = nullptr;
    context_.reset();
    generation_.reset();
    if (state_ != PluginState::Failed) state_ = PluginState::Destroyed;
    if (!library_) return;
    if (unload) library_->unloadAtEnd();
    library_.reset();
    if (!unload && state_ != PluginState::Failed) state_ = PluginState::Retired;
}

void PluginInstance::discard() noexcept {
    stop();
    destroy(library_ && library_.use_count() == 1 && !library_->ran());
}

void PluginInstance::abandon() noexcept {
    plugin_ = nullptr;
    (void)context_.release();
    (void)new std::shared_ptr<PluginLibrary>(std::move(library_));   // never destroyed
    (void)generation_.release();
    state_ = PluginState::Retired;
}

const Registrations* PluginInstance::registrations() const noexcept {
    return context_ ? &context_->registrations() : nullptr;
}

}  // namespace patchbay::kernel

#include "plugin/PluginHost.h"

#include "patchbay/service/ConfigReport.h"
#include "patchbay/service/Observation.h"
#include "patchbay/service/PluginControl.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace patchbay::kernel {

namespace {

/// Provided by the process itself, so that no plugin has to.
bool isKernelService(const std::string& id) {
    return id == service::PluginControl::kId.toString() || id == service::ConfigReport::kId.toString() ||
           id == service::Observation::kId.toString();
}

}  // namespace

PluginHost::PluginHost(FileSystem& files, PluginHostOptions options) : files_(files), options_(std::move(options)) {}

PluginHost::~PluginHost() {
    stop();
    (void)files_.remove(options_.copyDirectory);   // refused while another process has copies there
}

bool PluginHost::inRole(const PluginFile& file) const {
    return std::any_of(file.roles.begin(), file.roles.end(), [&](const std::string& role) {
        return std::find(options_.roles.begin(), options_.roles.end(), role) != options_.roles.end();
    });
}

bool PluginHost::check(Candidate& candidate, Problems& problems) const {
    const auto before = problems.size();
    const std::string where = "plugin " + candidate.file.plugin + ": " + candidate.path;
    auto description = readManifest(files_, candidate.path, where, problems);
    if (!description) return false;
    candidate.description = std::move(*description);
    checkAbi(candidate.description, "plugin " + candidate.file.plugin, problems);
    if (candidate.description.name != candidate.file.plugin) {
        problems.add(ErrorNumber::PluginName, candidate.file.path,
                     "names '" + candidate.file.plugin + "' but the library is '" + candidate.description.name + "'");
    }
    return problems.size() == before;
}

void PluginHost::offerRaw(const plugin::ServiceId& id, void* service) {
    (void)registry_.publish(id, service, *kernel_);
}

std::string PluginHost::libraryPath(const PluginFile& file) const {
    return (std::filesystem::path(options_.pluginDirectory) / file.library).lexically_normal().string();
}

bool PluginHost::findCandidates(const ConfigSources& sources, std::vector<Candidate>& out, std::vector<std::string>& notes,
                                Problems& problems) {
    bool allReadable = true;
    std::map<std::string, std::string> seen;
    for (const auto& file : sources.pluginFiles()) {
        if (!file.enabled || file.plugin.empty() || !inRole(file)) continue;
        const auto [first, fresh] = seen.emplace(file.plugin, file.path);
        if (!fresh) {
            problems.add(ErrorNumber::PluginTwice, file.path, "plugin " + file.plugin + " is enabled by " + first->second + " already");
            continue;
        }
        Candidate candidate{file, libraryPath(file), {}};
        Problems own;
        if (check(candidate, own)) {
            out.push_back(std::move(candidate));
        } else if (file.optional && find(file.plugin) == nullptr) {   // one that runs is not given up for a bad file
            for (const auto& problem : own.list()) notes.push_back("optional plugin left out: " + problem.toString());
        } else {
            problems.append(own);
            allReadable = false;
        }
    }
    return allReadable;
}

std::vector<PluginDescription> PluginHost::installed(FileSystem& files, const std::string& directory) {
    std::vector<PluginDescription> list;
    const auto entries = files.list(directory);
    if (!entries) return list;
    for (const auto& entry : *entries) {
        if (entry.directory || !entry.name.ends_with(".so")) continue;
        Problems ignored;
        if (auto found = readManifest(files, directory + "/" + entry.name, entry.name, ignored)) list.push_back(std::move(*found));
    }
    return list;
}

DependencyResult PluginHost::order(const std::vector<Candidate>& candidates, const ServiceChoices& choices, Problems& problems) {
    std::vector<DependencyNode> nodes;
    nodes.reserve(candidates.size());
    for (const auto& c : candidates) {
        auto needed = c.description.requires_;
        std::erase_if(needed, [&](const std::string& id) { return isKernelService(id); });
        nodes.push_back({c.description.name, c.description.provides, std::move(needed), c.description.wants, c.file.optional,
                         (c.description.flags & plugin::kStartsFirst) != 0});
    }
    Problems quick;
    auto result = orderPlugins(nodes, choices, {}, quick);
    if (quick.empty() && result.skipped.empty()) return result;
    // Only now the other libraries are looked at: for advice.
    std::vector<PossibleProvider> possible;
    for (auto& plugin : installed(files_, options_.pluginDirectory)) possible.push_back({plugin.name, plugin.provides});
    return orderPlugins(std::move(nodes), choices, possible, problems);
}

bool PluginHost::load(const ConfigSources& sources, Problems& problems) {
    const auto before = problems.size();
    std::vector<Candidate> candidates;
    const bool allReadable = findCandidates(sources, candidates, notes_, problems);
    DependencyResult ordered;
    if (allReadable) ordered = order(candidates, sources.choices(), problems);
    notChosen_ = std::move(ordered.notChosen);
    for (const auto& problem : ordered.skipped) notes_.push_back("optional plugin left out: " + problem.toString());
    if (problems.size() != before) {
        // Nothing is started, but the values of those that can be loaded are looked at, so that an operator sees all at once.
        ordered.order.clear();
        for (const auto& candidate : candidates) {
            const auto& name = candidate.description.name;
            if (std::find(notChosen_.begin(), notChosen_.end(), name) == notChosen_.end()) ordered.order.push_back(name);
        }
    }
    (void)files_.makeDirectories(options_.copyDirectory);   // where it cannot be, copies are made in memory
    removeStaleCopies(files_, options_.copyDirectory);
    for (const auto& name : ordered.order) {
        const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const auto& c) { return c.description.name == name; });
        auto instance = std::make_unique<PluginInstance>(found->file, found->description, found->path, 1);
        Problems own;
        if (instance->load(files_, copyPath(options_.copyDirectory, name), own)) {
            instances_.push_back(std::move(instance));
        } else if (found->file.optional) {
            for (const auto& problem : own.list()) notes_.push_back("optional plugin left out: " + problem.toString());
        } else {
            problems.append(own);
            keysKnown_ = false;
        }
    }
    keysKnown_ = keysKnown_ && allReadable;
    std::string inMemory;
    for (const auto& instance : instances_) {
        if (instance->inMemory()) inMemory += (inMemory.empty() ? "" : ",") + instance->name();
    }
    if (!inMemory.empty()) {
        notes_.push_back("there is no room in " + options_.copyDirectory + " for private copies of libraries; they are in memory: " + inMemory);
    }
    return problems.size() == before;
}

bool PluginHost::configure(const ConfigSources& sources, Problems& problems) {
    const auto before = problems.size();
    for (const auto& instance : instances_) instance->configure(sources, options_.defaultDirectory, problems);
    return problems.size() == before;
}

std::vector<const Registrations*> PluginHost::startedRegistrations(const std::set<std::string, std::less<>>& without) const {
    std::vector<const Registrations*> list;
    for (const auto& instance : instances_) {
        const bool serves = instance->state() == PluginState::Started || instance->state() == PluginState::Draining;
        if (serves && !without.contains(instance->name())) list.push_back(instance->registrations());
    }
    return list;
}

Status PluginHost::initAndStart(PluginInstance& instance, const ConfigSources& sources, std::vector<const Registrations*> others,
                                bool& started) {
    started = false;
    if (auto status = instance.init(*around_, registry_, sources.executorsFor(instance.file()), std::move(others)); !status) return status;
    started = true;
    auto status = instance.start();
    if (status) {
        around_->server.dispatcher().observed().watch(instance.name(), instance.file().disableAfterFaults,
                                                      [tell = around_->keepsFailing, name = instance.name()] { tell(name); });
    }
    return status;
}

bool PluginHost::start(const HostSurroundings& around, const ConfigSources& sources, Problems& problems) {
    around_ = &around;
    log_ = &around.logger("kernel.plugin");
    for (std::size_t i = 0; i < instances_.size();) {
        auto& instance = *instances_[i];
        bool started = false;
        const auto begin = around.clock.now();
        const auto status = initAndStart(instance, sources, startedRegistrations({}), started);
        if (status) {
            const auto took = std::chrono::duration_cast<std::chrono::microseconds>(around.clock.now() - begin);
            log_->info("plugin started", {{"plugin", instance.name()}, {"version", instance.description().version}, {"us", took.count()}});
            ++i;
            continue;
        }
        const auto number = started ? ErrorNumber::PluginStart : ErrorNumber::PluginInit;
        if (instance.file().optional) {
            log_->error("optional plugin left out", {{"plugin", instance.name()}, {"error", status.message()}});
            finish(instance);
            instances_.erase(instances_.begin() + static_cast<std::ptrdiff_t>(i));
            continue;
        }
        problems.add(number, "plugin " + instance.name(), status.message());
        stopFrom(i + 1);
        return false;
    }
    return true;
}

Ref<RouteTable> PluginHost::routes() const {
    return RouteTable::build(around_->server.listenerNames().size(), startedRegistrations({}));
}

void PluginHost::drain() noexcept {
    for (auto& old : retiring_) old->drain();
    for (auto it = instances_.rbegin(); it != instances_.rend(); ++it) (*it)->drain();
}

void PluginHost::stop() noexcept {
    if (stopped_) return;
    stopped_ = true;
    stopFrom(instances_.size());
}

void PluginHost::stopFrom(std::size_t count) noexcept {
    for (auto& old : retiring_) finish(*old);
    retiring_.clear();
    for (std::size_t i = count; i > 0; --i) finish(*instances_[i - 1]);
    // What was only loaded ends without a word.
    for (std::size_t i = count; i < instances_.size(); ++i) instances_[i]->destroy(options_.unload);
    instances_.clear();
    stopped_ = true;
}

bool PluginHost::waitQuiet(PluginInstance& instance, MonotonicTime deadline, bool idle) {
    // References go when loops have taken the new route table and the last answer has left its socket. A request that was on its way
    // when drain() returned is handed back by the next one.
    while (!(idle ? instance.idle() : instance.quiet())) {
        if (around_->clock.now() >= deadline) return false;
        instance.drain();
        around_->whileWaiting();
    }
    return true;
}

void PluginHost::finish(PluginInstance& instance) noexcept {
    if (instance.generation() != nullptr) (void)waitQuiet(instance, around_->clock.now() + options_.idleTimeout, true);
    end(instance);
}

void PluginHost::end(PluginInstance& instance) noexcept {
    std::string holders;
    bool leftRunning = false;
    if (instance.generation() != nullptr) {
        for (const auto& holder : registry_.holders(*instance.generation())) holders += (holders.empty() ? "" : ", ") + holder;
        for (const auto& name : registry_.borrowers(*instance.generation())) leftRunning = leftRunning || unstopped_.contains(name);
    }
    // What runs in it, or may yet call it, must not find it stopped.
    if (!instance.quiet() || leftRunning) {
        unstopped_.insert(instance.name());
        log_->error("a plugin still serves requests after its time; it is left running and in memory",
                    {{"plugin", instance.name()}, {"generation", instance.number()},
                     {"for", leftRunning ? std::string_view(holders) : std::string_view("requests")}});
        instance.abandon();
        return;
    }
    instance.closeRegistrations();
    instance.stop();
    if (instance.idle()) {
        instance.destroy(options_.unload);
        if (log_ != nullptr) {
            log_->info("plugin stopped", {{"plugin", instance.name()}, {"generation", instance.number()}, {"end", options_.unload ? "unloaded" : "retired"}});
        }
        return;
    }
    if (log_ != nullptr) {
        log_->error("a stopped plugin is still referred to and is left in memory", {{"plugin", instance.name()}, {"holders", holders}});
    }
    instance.abandon();
}

std::vector<std::string> PluginHost::holders(const PluginInstance& instance) const {
    return instance.generation() != nullptr ? registry_.holders(*instance.generation()) : std::vector<std::string>();
}

PluginInstance* PluginHost::find(std::string_view name) const noexcept {
    const auto found = std::find_if(instances_.begin(), instances_.end(), [&](const auto& i) { return i->name() == name; });
    return found == instances_.end() ? nullptr : found->get();
}

}  // namespace patchbay::kernel

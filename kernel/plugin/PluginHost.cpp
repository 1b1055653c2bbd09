#include "plugin/PluginHost.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

namespace patchbay::kernel {

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

bool PluginHost::findCandidates(const ConfigSources& sources, std::vector<Candidate>& out, Problems& problems) {
    bool allReadable = true;
    std::map<std::string, std::string> seen;
    for (const auto& file : sources.pluginFiles()) {
        if (!file.enabled || file.plugin.empty() || !inRole(file)) continue;
        const auto [first, fresh] = seen.emplace(file.plugin, file.path);
        if (!fresh) {
            problems.add(ErrorNumber::PluginTwice, file.path, "plugin " + file.plugin + " is enabled by " + first->second + " already");
            continue;
        }
        const auto path = (std::filesystem::path(options_.pluginDirectory) / file.library).lexically_normal().string();
        Candidate candidate{file, path, {}};
        Problems own;
        if (check(candidate, own)) {
            out.push_back(std::move(candidate));
        } else if (file.optional) {
            for (const auto& problem : own.list()) notes_.push_back("optional plugin left out: " + problem.toString());
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
        nodes.push_back({c.description.name, c.description.provides, c.description.requires_, c.description.wants, c.file.optional});
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
    if (!findCandidates(sources, candidates, problems)) return false;
    auto ordered = order(candidates, sources.choices(), problems);
    notChosen_ = std::move(ordered.notChosen);
    for (const auto& problem : ordered.skipped) notes_.push_back("optional plugin left out: " + problem.toString());
    if (problems.size() != before) return false;
    if (auto status = files_.makeDirectories(options_.copyDirectory); !status) {
        problems.add(ErrorNumber::StartFailed, "runDirectory", status.message());
        return false;
    }
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
        }
    }
    return problems.size() == before;
}

bool PluginHost::configure(const ConfigSources& sources, Problems& problems) {
    const auto before = problems.size();
    for (const auto& instance : instances_) instance->configure(sources, options_.defaultDirectory, problems);
    return problems.size() == before;
}

Status PluginHost::initAndStart(PluginInstance& instance, const HostSurroundings& around, const ConfigSources& sources,
                                bool& started) {
    std::vector<const Registrations*> others;
    for (const auto& other : instances_) {
        if (other->state() == PluginState::Started) others.push_back(other->registrations());
    }
    started = false;
    if (auto status = instance.init(around, registry_, sources.executorsFor(instance.file()), std::move(others)); !status) return status;
    started = true;
    return instance.start();
}

bool PluginHost::start(const HostSurroundings& around, const ConfigSources& sources, Problems& problems) {
    around_ = &around;
    log_ = &around.logger("kernel.plugin");
    for (std::size_t i = 0; i < instances_.size();) {
        auto& instance = *instances_[i];
        bool started = false;
        const auto begin = around.clock.now();
        const auto status = initAndStart(instance, around, sources, started);
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
    std::vector<const Registrations*> list;
    for (const auto& instance : instances_) {
        if (instance->state() == PluginState::Started) list.push_back(instance->registrations());
    }
    return RouteTable::build(around_->server.listenerNames().size(), list);
}

void PluginHost::drain() noexcept {
    for (auto it = instances_.rbegin(); it != instances_.rend(); ++it) (*it)->drain();
}

void PluginHost::stop() noexcept {
    if (stopped_) return;
    stopped_ = true;
    stopFrom(instances_.size());
}

void PluginHost::stopFrom(std::size_t count) noexcept {
    for (std::size_t i = count; i > 0; --i) finish(*instances_[i - 1]);
    // What was only loaded ends without a word.
    for (std::size_t i = count; i < instances_.size(); ++i) instances_[i]->destroy(options_.unload);
    instances_.clear();
    stopped_ = true;
}

void PluginHost::finish(PluginInstance& instance) noexcept {
    // References go when loops have taken the new route table and the last answer has left its socket. A request that was on its way
    // when drain() returned is handed back by the next one.
    instance.closeRegistrations();
    const auto deadline = std::chrono::steady_clock::now() + options_.idleTimeout;
    while (!instance.idle() && std::chrono::steady_clock::now() < deadline) {
        instance.drain();
        around_->whileWaiting();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    instance.stop();
    if (instance.idle()) {
        instance.destroy(options_.unload);
        if (log_ != nullptr) log_->info("plugin stopped", {{"plugin", instance.name()}, {"end", options_.unload ? "unloaded" : "retired"}});
        return;
    }
    std::string holders;
    for (const auto& holder : registry_.holders(*instance.generation())) holders += (holders.empty() ? "" : ", ") + holder;
    if (log_ != nullptr) {
        log_->error("a stopped plugin is still referred to and is left in memory",
                    {{"plugin", instance.name()}, {"holders", holders.empty() ? "requests or routes" : holders}});
    }
    instance.abandon();
}

std::vector<std::string> PluginHost::reloadChanged(const ConfigSources& sources, Problems& problems) {
    std::vector<std::string> replaced;
    for (auto& slot : instances_) {
        if (slot->libraryChanged() && reload(slot, sources, problems)) replaced.push_back(slot->name());
    }
    return replaced;
}

bool PluginHost::reload(std::unique_ptr<PluginInstance>& slot, const ConfigSources& sources, Problems& problems) {
    const auto before = problems.size();
    const std::string where = "plugin " + slot->name();
    const auto& files = sources.pluginFiles();
    const auto file = std::find_if(files.begin(), files.end(), [&](const PluginFile& f) { return f.enabled && f.plugin == slot->name(); });
    Candidate candidate{file == files.end() ? slot->file() : *file, slot->libraryPath(), {}};
    if (!check(candidate, problems)) return false;
    const auto& description = candidate.description;
    if ((description.flags & slot->description().flags & plugin::kConcurrentGenerations) == 0 || !description.provides.empty()) {
        problems.add(ErrorNumber::PluginLoad, where, "its library has changed, but it can be replaced by a restart only");
        return false;
    }
    auto next = std::make_unique<PluginInstance>(candidate.file, description, candidate.path, slot->number() + 1);
    if (!next->load(files_, copyPath(options_.copyDirectory, next->name()), problems)) return false;
    if (!next->configure(sources, options_.defaultDirectory, problems)) return false;
    std::vector<const Registrations*> others;
    for (const auto& other : instances_) {
        if (other != slot && other->state() == PluginState::Started) others.push_back(other->registrations());
    }
    auto status = next->init(*around_, registry_, sources.executorsFor(candidate.file), std::move(others));
    if (status) status = next->start();
    if (!status) {
        problems.add(ErrorNumber::PluginStart, where, status.message());
        finish(*next);
        return false;
    }
    slot.swap(next);
    around_->server.publish(routes());
    log_->info("plugin replaced", {{"plugin", slot->name()}, {"version", slot->description().version}, {"generation", slot->number()}});
    finish(*next);
    return problems.size() == before;
}

PluginInstance* PluginHost::find(std::string_view name) noexcept {
    const auto found = std::find_if(instances_.begin(), instances_.end(), [&](const auto& i) { return i->name() == name; });
    return found == instances_.end() ? nullptr : found->get();
}

}  // namespace patchbay::kernel

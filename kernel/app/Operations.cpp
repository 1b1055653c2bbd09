#include "app/Operations.h"

#include <algorithm>
#include <exception>

namespace patchbay::kernel {

using service::PluginInfo;

namespace {

Status refused(const Problems& problems) {
    auto text = problems.toString();
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return {StatusCode::InvalidArgument, std::move(text)};
}

std::vector<std::string> joined(std::vector<std::string> first, const std::vector<std::string>& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

}  // namespace

void Operations::offerTo(PluginHost& host) {
    host.offer<service::PluginControl>(*this);
    host.offer<service::ConfigReport>(*this);
    host.offer<service::Observation>(*this);
}

void Operations::attach(Server& server, RuntimeConfigStore& runtime, LogSystem& log, std::int64_t startedWallMs) {
    server_ = &server;
    runtime_ = &runtime;
    log_ = &log;
    startedWallMs_ = startedWallMs;
}

std::vector<RuntimeOwner> Operations::pluginOwners() {
    std::vector<RuntimeOwner> owners;
    for (const auto& instance : prepared_.host->instances()) {
        owners.push_back({instance->name(), instance->file().roles, instance->values(),
                          [this, name = instance->name()](const ConfigValues& next, std::span<const std::string_view> changed) -> Status {
                              auto* found = prepared_.host->find(name);
                              if (found == nullptr) return Status::ok();   // optional, left out at start: nobody is there to be told
                              if (found->state() != PluginState::Started) return {StatusCode::Busy, "plugins are being exchanged"};
                              return found->reconfigure(next, changed);
                          }});
    }
    return owners;
}

Status Operations::checkKeysOf(const ConfigSources& sources, const PluginPlan& plan) {
    std::vector<KeyOwner> owners{{"kernel", &prepared_.kernelValues, nullptr}};
    const auto fileOf = [&](const std::string& name) -> const PluginFile* {
        const auto found = std::find_if(sources.pluginFiles().begin(), sources.pluginFiles().end(),
                                        [&](const PluginFile& file) { return file.enabled && file.plugin == name; });
        return found == sources.pluginFiles().end() ? nullptr : &*found;
    };
    for (const auto& next : plan.next()) owners.push_back({next->name(), &next->values(), fileOf(next->name())});
    for (const auto& running : prepared_.host->instances()) {
        if (!plan.affects(running->name())) owners.push_back({running->name(), &running->values(), fileOf(running->name())});
    }
    for (const auto& [name, off] : switchedOff_) owners.push_back({name, &off.values, nullptr});
    Problems problems;
    (void)checkKeys(sources, owners, problems);
    return problems.empty() ? Status::ok() : refused(problems);
}

namespace {

/// An exchange waits for requests to end, and calls of other threads are run meanwhile.
class Exchange {
public:
    explicit Exchange(RuntimeConfigStore& runtime) : runtime_(runtime) { runtime_.exchanging(true); }
    ~Exchange() { runtime_.exchanging(false); }
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

private:
    RuntimeConfigStore& runtime_;
};

}  // namespace

Status Operations::change(const Order& order) {
    // The lifecycle thread goes on whatever an exchange runs into: memory, the file system, a library that throws.
    try {
        return changeOrThrow(order);
    } catch (const std::exception& error) {
        return {StatusCode::Internal, error.what()};
    }
}

Status Operations::changeOrThrow(const Order& order) {
    Problems problems;
    auto sources = readSources(files_, options_, prepared_.settings, problems);
    const auto& settings = prepared_.settings;
    const auto logPath = settings.logConfig.empty() ? sources.mainDirectory() + "/log.conf" : settings.logConfig;
    LogSettings levels;
    const bool hasLevels = files_.exists(logPath);
    if (hasLevels) levels = LogSettings::read(files_, logPath, problems);
    if (!problems.empty()) return refused(problems);
    for (const auto& [name, off] : switchedOff_) (void)sources.switchPlugin(name, false, Origin::RunTime, off.why);
    const auto failing = switchedOff_.find(order.toSwitch);
    const std::string switchedBy = failing != switchedOff_.end() ? failing->second.why : "changed at run time";
    if (!order.toSwitch.empty() && !sources.switchPlugin(order.toSwitch, order.on, Origin::RunTime, switchedBy)) {
        return {StatusCode::NotFound, "no file of plugins.d is of plugin " + order.toSwitch};
    }
    auto plan = prepared_.host->plan(sources, order.reload, problems);
    if (!problems.empty()) return refused(problems);
    if (auto known = checkKeysOf(sources, plan); !known) return known;
    if (auto status = runtime_->reload(sources, [&](const std::string& owner) { return plan.affects(owner); }); !status) return status;
    if (plan.empty()) {
        if (hasLevels) log_->setLevels(levels);
        prepared_.sources = std::move(sources);
        return Status::ok();
    }
    bool done = false;
    {
        const Exchange exchange(*runtime_);
        done = prepared_.host->carryOut(std::move(plan), sources, problems);
    }
    if (!done) runtime_->takeBackReload();
    runtime_->setPlugins(pluginOwners());
    if (done) {
        if (hasLevels) log_->setLevels(levels);
        prepared_.sources = std::move(sources);
    }
    return done ? Status::ok() : refused(problems);
}

Status Operations::applyFiles() {
    return change({});
}

void Operations::soon(Order order, Done done) {
    loop_.post([this, order = std::move(order), done = std::move(done)](bool closed) {
        if (closed) return done({StatusCode::Unavailable, "the broker is stopping"});
        auto status = change(order);
        auto& log = log_->logger("kernel.app");
        const std::string what = !order.reload.empty()     ? "reload " + order.reload
                                 : !order.toSwitch.empty() ? (order.on ? "enable " : "disable ") + order.toSwitch
                                                           : std::string("apply the files");
        if (status) log.info("done as an operator asked", {{"what", what}});
        else log.error("not done as an operator asked; everything runs as before", {{"what", what}, {"error", status.message()}});
        done(std::move(status));
    });
}

void Operations::reload(const std::string& name, Done done) {
    soon({name, {}, false}, std::move(done));
}

Status Operations::doesNotServe(const std::string& name) const {
    const auto& host = *prepared_.host;
    for (const auto& file : prepared_.sources.pluginFiles()) {
        if (file.plugin != name) continue;
        if (!host.inRole(file)) return {StatusCode::Unsupported, "plugin " + name + " does not serve: its file names roles that this process does not have"};
        Problems problems;
        const auto manifest = readManifest(files_, host.libraryPath(file), "plugin " + name, problems);
        if (!manifest) return refused(problems);
        for (const auto& service : manifest->provides) {
            const auto choice = prepared_.sources.choices().find(service.substr(0, service.find('/')));
            if (choice == prepared_.sources.choices().end() || choice->second.plugin == name) continue;
            return {StatusCode::Unsupported, "plugin " + name + " does not serve: service." + choice->first + " is " + choice->second.plugin + " (" +
                                                 choice->second.where + "); write `service." + choice->first + " = " + name +
                                                 "` into the main file and let it be read again"};
        }
    }
    return {StatusCode::Unsupported, "plugin " + name + " does not serve; the log says why"};
}

void Operations::enable(const std::string& name, bool enabled, Done done) {
    loop_.post([this, name, enabled, done = std::move(done)](bool closed) {
        if (closed) return done({StatusCode::Unavailable, "the broker is stopping"});
        auto before = switchedOff_;
        switchedOff_.erase(name);
        auto status = change({{}, name, enabled});
        if (!status) switchedOff_ = std::move(before);
        else if (enabled && prepared_.host->find(name) == nullptr) status = doesNotServe(name);
        else status = runtime_->keepSwitch(switchKey(name), enabled);
        log_->logger("kernel.app").info(enabled ? "enabling a plugin" : "disabling a plugin",
                                        {{"plugin", name}, {"result", status ? std::string("done") : status.message()}});
        done(std::move(status));
    });
}

void Operations::reloadConfiguration(Done done) {
    soon({}, std::move(done));
}

void Operations::switchOffSoon(const std::string& plugin) {
    loop_.post([this, plugin](bool closed) {
        if (closed) return;
        const auto* running = prepared_.host->find(plugin);
        if (running == nullptr) return;   // gone already
        switchedOff_[plugin] = {"it kept failing: disableAfterFaults in its file", running->values()};
        auto& log = log_->logger("kernel.app");
        if (auto status = change({{}, plugin, false}); status) {
            log.error("a plugin that keeps failing was switched off", {{"plugin", plugin}});
        } else {
            switchedOff_.erase(plugin);
            log.error("a plugin that keeps failing could not be switched off", {{"plugin", plugin}, {"error", status.message()}});
        }
    });
}

PluginInfo Operations::infoOf(const PluginInstance& instance, const char* state) const {
    PluginInfo info;
    const auto& description = instance.description();
    info.name = instance.name();
    info.version = description.version;
    info.description = description.description;
    info.state = state;
    info.file = instance.file().path;
    info.library = instance.libraryPath();
    info.generation = instance.number();
    info.startedWallMs = instance.startedWallMs();
    info.concurrent = (description.flags & plugin::kConcurrentGenerations) != 0;
    info.provides = description.provides;
    info.uses = joined(description.requires_, description.wants);
    info.usedBy = prepared_.host->holders(instance);
    if (instance.registrations() != nullptr) info.codes = instance.registrations()->codes();
    return info;
}

std::vector<PluginInfo> Operations::plugins() const {
    const auto& host = *prepared_.host;
    std::vector<PluginInfo> all;
    for (const auto& instance : host.instances()) all.push_back(infoOf(*instance, "serving"));
    for (const auto& instance : host.retiring()) all.push_back(infoOf(*instance, "retiring"));
    for (const auto& file : prepared_.sources.pluginFiles()) {
        if (file.plugin.empty() || host.find(file.plugin) != nullptr || !host.inRole(file)) continue;
        PluginInfo info;
        info.name = file.plugin;
        info.file = file.path;
        info.library = host.libraryPath(file);
        const auto off = switchedOff_.find(file.plugin);
        const bool lost = std::find(host.notChosen().begin(), host.notChosen().end(), file.plugin) != host.notChosen().end();
        info.state = off != switchedOff_.end() || !file.enabled ? "off" : lost ? "not chosen" : "left out";
        if (off != switchedOff_.end()) info.why = off->second.why;
        if (info.state == "left out") {
            for (const auto& note : host.notes()) {
                if (note.find("plugin " + file.plugin) != std::string::npos) info.why = note;
            }
        }
        all.push_back(std::move(info));
    }
    return all;
}

void Operations::list(std::function<void(Result<std::vector<PluginInfo>>)> done) {
    loop_.post([this, done = std::move(done)](bool closed) {
        if (closed) return done(Status(StatusCode::Unavailable, "the broker is stopping"));
        done(plugins());
    });
}

Result<service::PluginInspection> Operations::inspect(const std::string& name) {
    Problems problems;
    const auto sources = readSources(files_, options_, prepared_.settings, problems);
    const auto& files = sources.pluginFiles();
    const auto file = std::find_if(files.begin(), files.end(), [&](const PluginFile& f) { return f.plugin == name; });
    if (file == files.end()) return Status(StatusCode::NotFound, "no file of plugins.d is of plugin " + name);
    service::PluginInspection out;
    out.path = prepared_.host->libraryPath(*file);
    Problems own;
    if (const auto description = readManifest(files_, out.path, "plugin " + name + ": " + out.path, own)) {
        out.manifest = describe(*description);
        checkAbi(*description, "plugin " + name, own);
        if (description->name != name) own.add(ErrorNumber::PluginName, file->path, "names '" + name + "' but the library is '" + description->name + "'");
    }
    out.problems = own.lines();
    return out;
}

/// Providers and switches are no keys of anybody's table, but lines of the files all the same.
void Operations::addLines(const ConfigSources& sources, std::vector<service::ConfigFact>& facts) const {
    struct Line {
        std::string value;
        Origin origin = Origin::Default;
        std::string where;
    };
    const auto add = [&](std::string key, std::string doc, Line runs, Line files) {
        service::ConfigFact fact;
        fact.owner = "kernel";
        fact.key = std::move(key);
        fact.doc = std::move(doc);
        fact.type = typeName(plugin::ConfigType::Text);
        fact.differs = runs.value != files.value;
        fact.value = std::move(runs.value);
        fact.origin = toString(runs.origin);
        fact.where = std::move(runs.where);
        fact.fileValue = std::move(files.value);
        fact.fileWhere = std::move(files.where);
        fact.live = true;
        facts.push_back(std::move(fact));
    };
    std::map<std::string, std::pair<ServiceChoice, ServiceChoice>> choices;
    for (const auto& [name, choice] : prepared_.sources.choices()) choices[name].first = choice;
    for (const auto& [name, choice] : sources.choices()) choices[name].second = choice;
    for (const auto& [name, both] : choices) {
        const auto line = [](const ServiceChoice& choice) { return Line{choice.plugin, choice.plugin.empty() ? Origin::Default : choice.origin, choice.where}; };
        add("service." + name, "Which plugin provides this service; another one takes over by config reload.", line(both.first), line(both.second));
    }
    std::map<std::string, std::pair<const PluginFile*, const PluginFile*>> plugins;
    for (const auto& file : prepared_.sources.pluginFiles()) plugins[file.plugin].first = &file;
    for (const auto& file : sources.pluginFiles()) plugins[file.plugin].second = &file;
    for (const auto& [name, both] : plugins) {
        if (name.empty() || !prepared_.host->inRole(both.second != nullptr ? *both.second : *both.first)) continue;
        const auto line = [](const PluginFile* file) {
            if (file == nullptr) return Line{"false", Origin::Default, {}};
            return Line{file->enabled ? "true" : "false", file->enabledOrigin, file->enabledWhere};
        };
        add(switchKey(name), "Whether the plugin is switched on: by the line `enabled` of its file, or by this key.", line(both.first), line(both.second));
    }
}

/// What a start would refuse. The keys of a plugin that does not run yet are not known here.
void Operations::checkFiles(const ConfigSources& sources, Problems& problems) const {
    const auto& host = *prepared_.host;
    std::vector<KeyOwner> owners{{"kernel", &prepared_.kernelValues, nullptr}};
    for (const auto& file : sources.pluginFiles()) {
        if (!file.enabled || !host.inRole(file)) continue;
        const auto* running = host.find(file.plugin);
        if (running != nullptr) {
            owners.push_back({file.plugin, &running->values(), &file});
        } else if (std::find(host.notChosen().begin(), host.notChosen().end(), file.plugin) == host.notChosen().end()) {
            return;
        }
    }
    for (const auto& [name, off] : switchedOff_) owners.push_back({name, &off.values, nullptr});
    const auto& before = prepared_.sources.choices();
    const auto other = [&](const auto& choice) {
        const auto at = before.find(choice.first);
        return at == before.end() || at->second.plugin != choice.second.plugin;
    };
    if (std::any_of(sources.choices().begin(), sources.choices().end(), other)) return;
    (void)checkKeys(sources, owners, problems);
}

Result<std::vector<service::ConfigFact>> Operations::compare() const {
    Problems problems;
    const auto sources = readSources(files_, options_, prepared_.settings, problems);
    std::vector<service::ConfigFact> facts;
    const auto asked = loop_.call([&] {
        addLines(sources, facts);
        checkFiles(sources, problems);
        return Status::ok();
    });
    if (!asked) return asked;
    const auto owners = runtime_->owners();
    const auto isLive = [&owners](const RuntimeOwner& owner, const KeySpec& spec) {
        if (!spec.has(plugin::kReloadable)) return false;
        // The kernel's own keys of that kind are acted on by the plugins that have them as well.
        return owner.reconfigure != nullptr || std::any_of(owners.begin(), owners.end(), [&spec](const RuntimeOwner& other) {
                   const auto* item = other.reconfigure != nullptr ? other.values.find(spec.name) : nullptr;
                   return item != nullptr && item->spec.has(plugin::kReloadable);
               });
    };
    for (const auto& owner : owners) {
        const auto assignments = assignmentsOf(sources, owner.name);
        for (const auto& [name, item] : owner.values.items()) {
            const auto files = valueFrom(item.spec, assignments, problems);
            if (!files) continue;
            const bool secret = item.spec.has(plugin::kSecret);
            // Defaults that are paths were resolved when they were read.
            const bool bothDefault = files->origin == Origin::Default && item.value.origin == Origin::Default;
            service::ConfigFact fact;
            fact.owner = owner.name;
            fact.key = name;
            fact.doc = item.spec.doc;
            fact.type = typeName(item.spec.type);
            fact.defaultValue = item.spec.defaultValue;
            fact.value = secret ? "***" : item.value.text;
            fact.origin = toString(item.value.origin);
            if (item.value.origin != Origin::Default) fact.where = item.value.where;
            fact.fileValue = secret ? "***" : bothDefault ? item.value.text : files->text;
            if (files->origin != Origin::Default) fact.fileWhere = files->where;
            fact.live = isLive(owner, item.spec);
            fact.differs = !bothDefault && files->text != item.value.text;
            facts.push_back(std::move(fact));
        }
    }
    if (!problems.empty()) return refused(problems);
    return facts;
}

Status Operations::check(const std::string& listener, const std::string& key, const std::string& value) const {
    return runtime_->wouldApply(listener, {key, value, false, false});
}

Status Operations::unset(const std::string& key, bool dryRun) {
    return loop_.call([this, key, dryRun]() -> Status {
        Problems problems;
        const auto sources = readSources(files_, options_, prepared_.settings, problems);
        if (!problems.empty()) return refused(problems);
        return runtime_->unset(key, sources, dryRun);
    });
}

std::vector<service::RequestStats> Operations::requests() const {
    return server_->dispatcher().observed().requests(server_->listenerNames());
}

std::vector<service::ExecutorStats> Operations::executors() const {
    return server_->executors().stats();
}

std::vector<service::PluginFaults> Operations::faults() const {
    return server_->dispatcher().observed().faults();
}

service::ProcessStats Operations::process() const {
    service::ProcessStats stats;
    stats.startedWallMs = startedWallMs_;
    stats.connections = server_->connectionCount();
    stats.activeRequests = server_->dispatcher().active();
    stats.heldRequests = server_->dispatcher().held();
    stats.logLinesDropped = log_->dropped();
    stats.serving = serving_.load(std::memory_order_relaxed);
    return stats;
}

std::optional<bool> Operations::serves(std::string_view listener, std::int32_t code) const {
    const auto& names = server_->listenerNames();
    const auto at = std::find(names.begin(), names.end(), listener);
    if (at == names.end()) return std::nullopt;
    return server_->dispatcher().serves(static_cast<ListenerIndex>(at - names.begin()), code);
}

}  // namespace patchbay::kernel

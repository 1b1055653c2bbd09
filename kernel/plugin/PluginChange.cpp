// The changes of PluginHost: what has to be exchanged, and how nothing is lost by it.
#include "plugin/PluginHost.h"

#include <algorithm>

namespace patchbay::kernel {

namespace {

using Names = std::set<std::string, std::less<>>;

/// Services of `description` that are among `services`.
bool uses(const PluginDescription& description, const Names& services) {
    const auto among = [&](const std::string& id) { return services.contains(id); };
    return std::any_of(description.requires_.begin(), description.requires_.end(), among) ||
           std::any_of(description.wants.begin(), description.wants.end(), among);
}

bool concurrent(const PluginDescription& description) {
    return (description.flags & plugin::kConcurrentGenerations) != 0;
}

}  // namespace

PluginPlan::~PluginPlan() {
    for (auto it = next_.rbegin(); it != next_.rend(); ++it) {
        if (*it) (*it)->discard();
    }
}

void PluginHost::findAffected(PluginPlan& plan, const std::vector<Candidate>& candidates, const std::string& forced) const {
    Names services;
    const auto add = [&](const PluginDescription& description) {
        plan.affected_.insert(description.name);
        services.insert(description.provides.begin(), description.provides.end());
    };
    const auto wanted = [&](const std::string& name) { return std::find(plan.order_.begin(), plan.order_.end(), name) != plan.order_.end(); };
    for (const auto& running : instances_) {
        if (!wanted(running->name())) add(running->description());
    }
    for (const auto& candidate : candidates) {
        if (!wanted(candidate.description.name)) continue;
        const auto* running = find(candidate.description.name);
        if (running != nullptr && candidate.description.name != forced && !running->differsFrom(candidate.path)) continue;
        add(candidate.description);
        if (running == nullptr) continue;
        add(running->description());
        // Not made for two generations at once.
        if (!concurrent(running->description()) || !concurrent(candidate.description)) plan.hold_ = true;
    }
    // Whoever has borrowed from a generation ends with it, and so on.
    for (bool grown = true; grown;) {
        grown = false;
        for (const auto& candidate : candidates) {
            const auto& name = candidate.description.name;
            if (!wanted(name) || plan.affected_.contains(name) || !uses(candidate.description, services)) continue;
            add(candidate.description);
            grown = true;
        }
    }
    if (!services.empty()) plan.hold_ = true;
}

bool PluginHost::prepare(PluginPlan& plan, const std::vector<Candidate>& candidates, const ConfigSources& sources,
                         Problems& problems) {
    const auto before = problems.size();
    for (const auto& name : plan.order_) {
        if (!plan.affected_.contains(name)) continue;
        const auto candidate = std::find_if(candidates.begin(), candidates.end(), [&](const auto& c) { return c.description.name == name; });
        const auto* running = find(name);
        // The same library once more takes no more room than a new object.
        const bool same = running != nullptr && !running->differsFrom(candidate->path);
        auto next = std::make_unique<PluginInstance>(candidate->file, candidate->description, candidate->path,
                                                     running != nullptr ? running->number() + 1 : 1);
        const bool loaded = same ? next->loadAgain(*running, problems) : next->load(files_, copyPath(options_.copyDirectory, name), problems);
        if (loaded) (void)next->configure(sources, options_.defaultDirectory, problems);
        plan.next_.push_back(std::move(next));
    }
    return problems.size() == before;
}

PluginPlan PluginHost::plan(const ConfigSources& sources, const std::string& forced, Problems& problems) {
    PluginPlan plan;
    const auto before = problems.size();
    std::vector<Candidate> candidates;
    if (!findCandidates(sources, candidates, plan.notes_, problems)) return plan;
    auto ordered = order(candidates, sources.choices(), problems);
    if (problems.size() != before) return plan;
    plan.order_ = std::move(ordered.order);
    plan.notChosen_ = std::move(ordered.notChosen);
    for (const auto& problem : ordered.skipped) plan.notes_.push_back("optional plugin left out: " + problem.toString());
    if (!forced.empty() && std::find(plan.order_.begin(), plan.order_.end(), forced) == plan.order_.end()) {
        problems.add(ErrorNumber::PluginExchange, "plugin " + forced, "does not run: no file of plugins.d enables it for this process");
        return plan;
    }
    findAffected(plan, candidates, forced);
    (void)files_.makeDirectories(options_.copyDirectory);
    if (!prepare(plan, candidates, sources, problems)) return {};
    return plan;
}

bool PluginHost::carryOut(PluginPlan plan, const ConfigSources& sources, Problems& problems) {
    if (plan.empty()) return true;
    const bool done = plan.hold_ ? exchangeHeld(plan, sources, problems) : startBeside(plan, sources, problems);
    if (!done) return false;
    putInOrder(plan.order_);
    notChosen_ = std::move(plan.notChosen_);
    notes_ = std::move(plan.notes_);
    return true;
}

void PluginHost::putInOrder(const std::vector<std::string>& order) {
    const auto rank = [&](const auto& instance) { return std::find(order.begin(), order.end(), instance->name()) - order.begin(); };
    std::stable_sort(instances_.begin(), instances_.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
}

bool PluginHost::startBeside(PluginPlan& plan, const ConfigSources& sources, Problems& problems) {
    std::vector<const Registrations*> others = startedRegistrations(plan.affected_);
    for (std::size_t i = 0; i < plan.next_.size(); ++i) {
        auto& next = *plan.next_[i];
        bool started = false;
        const auto status = initAndStart(next, sources, others, started);
        if (status) {
            others.push_back(next.registrations());
            continue;
        }
        problems.add(started ? ErrorNumber::PluginStart : ErrorNumber::PluginInit, "plugin " + next.name(), status.message());
        // No table has led to any of them.
        for (std::size_t k = i + 1; k > 0; --k) {
            end(*plan.next_[k - 1]);
            plan.next_[k - 1].reset();
        }
        return false;
    }
    Instances kept;
    const auto deadline = around_->clock.now() + options_.retireTimeout;
    for (auto& instance : instances_) {
        if (!plan.affected_.contains(instance->name())) {
            kept.push_back(std::move(instance));
            continue;
        }
        retireBy_[instance.get()] = deadline;
        retiring_.push_back(std::move(instance));
    }
    for (auto& next : plan.next_) {
        log_->info("plugin begins", {{"plugin", next->name()}, {"version", next->description().version}, {"generation", next->number()}});
        kept.push_back(std::move(next));
    }
    plan.next_.clear();
    instances_ = std::move(kept);
    around_->server.publish(routes());
    return true;
}

std::unique_ptr<PluginInstance> PluginHost::spareOf(const PluginInstance& instance, Problems& problems) const {
    auto spare = std::make_unique<PluginInstance>(instance.file(), instance.description(), instance.libraryPath(), instance.number() + 1);
    if (spare->loadAgain(instance, problems) && spare->configureAs(instance, problems)) return spare;
    spare->discard();
    return nullptr;
}

/// Ends the running ones that are affected, last first, and answers what could begin in their place again, in start order. After a
/// problem one of them did not come to rest; what comes after it has ended, what comes before has not.
PluginHost::Instances PluginHost::endAffected(const PluginPlan& plan, Problems& problems) {
    Instances spares;
    // Half of the time is for the end, the other half for what begins. Generations that were exchanged before may still borrow.
    const auto deadline = around_->clock.now() + options_.holdTimeout / 2;
    while (retire() && around_->clock.now() < deadline) around_->whileWaiting();
    for (std::size_t i = instances_.size(); i > 0; --i) {
        auto& instance = instances_[i - 1];
        if (!plan.affected_.contains(instance->name())) continue;
        auto spare = spareOf(*instance, problems);
        if (spare == nullptr) break;
        if (waitQuiet(*instance, deadline, true)) {
            spares.push_back(std::move(spare));
            end(*instance);
            instances_.erase(instances_.begin() + static_cast<std::ptrdiff_t>(i - 1));
            continue;
        }
        problems.add(ErrorNumber::PluginExchange, "plugin " + instance->name(),
                     "has requests that do not end within " + std::to_string(options_.holdTimeout.count() / 2) + " ms, or lends a service to one that has");
        if (concurrent(instance->description()) && !instance->quiet()) {
            // It takes no new work any more, so another one does; this one has its time for the rest.
            retireBy_[instance.get()] = around_->clock.now() + options_.retireTimeout;
            retiring_.push_back(std::move(instance));
            instances_.erase(instances_.begin() + static_cast<std::ptrdiff_t>(i - 1));
            spares.push_back(std::move(spare));
        } else {
            spare->discard();
        }
        break;
    }
    std::reverse(spares.begin(), spares.end());
    return spares;
}

void PluginHost::beginAgain(Instances& spares, const ConfigSources& sources) {
    for (auto& spare : spares) {
        bool started = false;
        const auto status = initAndStart(*spare, sources, startedRegistrations({}), started);
        if (status) {
            instances_.push_back(std::move(spare));
            continue;
        }
        log_->error("a plugin could not be started again", {{"plugin", spare->name()}, {"error", status.message()}});
        end(*spare);
    }
    spares.clear();
}

bool PluginHost::exchangeHeld(PluginPlan& plan, const ConfigSources& sources, Problems& problems) {
    const auto before = problems.size();
    const auto begin = around_->clock.now();
    std::vector<const Registrations*> held;
    std::vector<std::string> oldOrder;
    for (const auto& instance : instances_) {
        oldOrder.push_back(instance->name());
        if (plan.affected_.contains(instance->name())) held.push_back(instance->registrations());
    }
    around_->server.publish(RouteTable::build(around_->server.listenerNames().size(), startedRegistrations(plan.affected_), held));
    auto spares = endAffected(plan, problems);
    std::size_t begun = 0;
    while (problems.size() == before && begun < plan.next_.size()) {
        auto& next = *plan.next_[begun];
        bool started = false;
        const auto status = initAndStart(next, sources, startedRegistrations({}), started);
        if (!status) {
            problems.add(started ? ErrorNumber::PluginStart : ErrorNumber::PluginInit, "plugin " + next.name(), status.message());
            end(next);
            plan.next_[begun].reset();
            break;
        }
        log_->info("plugin begins", {{"plugin", next.name()}, {"version", next.description().version}, {"generation", next.number()}});
        instances_.push_back(std::move(plan.next_[begun++]));
    }
    const bool done = problems.size() == before;
    if (!done) {
        for (; begun > 0; --begun) {
            end(*instances_.back());
            instances_.pop_back();
        }
        beginAgain(spares, sources);
        putInOrder(oldOrder);
    } else {
        plan.next_.clear();
        for (auto& spare : spares) spare->discard();
    }
    around_->server.publish(routes());
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(around_->clock.now() - begin).count();
    log_->info(done ? "plugins were exchanged while requests were held" : "plugins were started again after a failed exchange", {{"ms", ms}});
    return done;
}

bool PluginHost::retire() noexcept {
    for (std::size_t i = 0; i < retiring_.size();) {
        auto& old = *retiring_[i];
        if (!old.idle()) old.drain();
        if (!old.idle() && around_->clock.now() < retireBy_[&old]) {
            ++i;
            continue;
        }
        retireBy_.erase(&old);
        end(old);
        retiring_.erase(retiring_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return !retiring_.empty();
}

}  // namespace patchbay::kernel

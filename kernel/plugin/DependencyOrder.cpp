#include "plugin/DependencyOrder.h"

#include <algorithm>
#include <map>
#include <set>

namespace patchbay::kernel {

namespace {

std::string_view nameOf(std::string_view id) {
    return id.substr(0, id.find('/'));
}

bool contains(const std::vector<std::string>& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

std::string andList(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
        text += words[i];
    }
    return text;
}

class Orderer {
public:
    Orderer(std::vector<DependencyNode> nodes, const ServiceChoices& choices, const std::vector<PossibleProvider>& possible,
            Problems& problems)
        : nodes_(std::move(nodes)), choices_(choices), possible_(possible), problems_(problems) {
        std::sort(nodes_.begin(), nodes_.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    }

    DependencyResult run() {
        const auto before = problems_.size();
        applyChoices();
        findDoubles();
        while (dropUnmet()) {
        }
        if (problems_.size() == before) sort();
        return std::move(result_);
    }

private:
    void applyChoices() {
        std::set<std::string> dropped;
        for (const auto& [service, choice] : choices_) {
            std::vector<std::string> providers;
            for (const auto& node : nodes_) {
                if (provides(node, service)) providers.push_back(node.name);
            }
            if (!contains(providers, choice.plugin)) {
                if (choice.fallback) continue;
                problems_.add(ErrorNumber::ServiceChoice, choice.where,
                              "service." + service + " = " + choice.plugin + ": " +
                                  (providers.empty() ? "no enabled plugin provides it"
                                                     : "the enabled plugins that provide it are " + andList(providers)));
                continue;
            }
            for (const auto& name : providers) {
                if (name != choice.plugin) dropped.insert(name);
            }
        }
        for (const auto& name : dropped) remove(name);
        result_.notChosen.assign(dropped.begin(), dropped.end());
    }

    void findDoubles() {
        std::map<std::string, std::vector<std::string>> providers;
        for (const auto& node : nodes_) {
            for (const auto& id : node.provides) {
                auto& list = providers[id];
                if (!contains(list, node.name)) list.push_back(node.name);
            }
        }
        for (const auto& [id, names] : providers) {
            if (names.size() < 2) continue;
            problems_.add(ErrorNumber::ServiceTwice, "service " + id,
                          "provided by " + andList(names) + "; choose with `service." + std::string(nameOf(id)) + " = " + names.front() + "`");
        }
    }

    /// Removes one optional plugin that lacks a service, so that those who need it are looked at again; reports the others once.
    bool dropUnmet() {
        for (const auto& node : nodes_) {
            for (const auto& id : node.requires_) {
                if (providerOf(id) != nullptr) continue;
                Problem problem{ErrorNumber::ServiceMissing, "plugin " + node.name, "needs service " + id + "; " + advice(id)};
                if (node.optional) {
                    result_.skipped.push_back(std::move(problem));
                    remove(std::string(node.name));
                    return true;
                }
                if (reported_.insert(node.name + " " + id).second) problems_.add(problem.number, problem.where, problem.text);
            }
        }
        return false;
    }

    std::string advice(const std::string& id) const {
        for (const auto& node : nodes_) {
            for (const auto& offered : node.provides) {
                if (nameOf(offered) == nameOf(id)) return node.name + " provides " + offered + " only.";
            }
        }
        std::vector<std::string> names;
        for (const auto& plugin : possible_) {
            if (contains(plugin.provides, id) && !contains(names, plugin.name)) names.push_back(plugin.name);
        }
        if (names.empty()) return "no enabled plugin provides it, and no installed one can.";
        return "no enabled plugin provides it. " + andList(names) + " can.";
    }

    void sort() {
        std::set<std::string> done;
        while (done.size() < nodes_.size()) {
            const DependencyNode* next = nullptr;
            for (const auto& node : nodes_) {
                if (done.contains(node.name) || !ready(node, done)) continue;
                if (next == nullptr || (node.first && !next->first)) next = &node;
            }
            if (next == nullptr) return reportCycle(done);
            done.insert(next->name);
            result_.order.push_back(next->name);
        }
    }

    bool ready(const DependencyNode& node, const std::set<std::string>& done) const {
        for (const auto* other : needed(node)) {
            if (!done.contains(other->name)) return false;
        }
        return true;
    }

    std::vector<const DependencyNode*> needed(const DependencyNode& node) const {
        std::vector<const DependencyNode*> list;
        for (const auto* ids : {&node.requires_, &node.wants}) {
            for (const auto& id : *ids) {
                const auto* provider = providerOf(id);
                if (provider != nullptr && provider != &node) list.push_back(provider);
            }
        }
        return list;
    }

    /// Follows unmet needs from any plugin that is left until one comes again.
    void reportCycle(const std::set<std::string>& done) {
        const auto first = std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& n) { return !done.contains(n.name); });
        std::vector<const DependencyNode*> path{&*first};
        for (;;) {
            const DependencyNode* next = nullptr;
            for (const auto* other : needed(*path.back())) {
                if (!done.contains(other->name)) next = other;
            }
            const auto seen = std::find(path.begin(), path.end(), next);
            if (seen != path.end()) {
                std::string text;
                for (auto it = seen; it != path.end(); ++it) text += (*it)->name + " -> ";
                problems_.add(ErrorNumber::ServiceCycle, "plugin " + next->name, "needs itself: " + text + next->name);
                return;
            }
            path.push_back(next);
        }
    }

    const DependencyNode* providerOf(std::string_view id) const {
        for (const auto& node : nodes_) {
            if (contains(node.provides, id)) return &node;
        }
        return nullptr;
    }

    static bool provides(const DependencyNode& node, std::string_view service) {
        return std::any_of(node.provides.begin(), node.provides.end(), [&](const auto& id) { return nameOf(id) == service; });
    }

    void remove(const std::string& name) {
        std::erase_if(nodes_, [&](const DependencyNode& node) { return node.name == name; });
    }

    std::vector<DependencyNode> nodes_;
    const ServiceChoices& choices_;
    const std::vector<PossibleProvider>& possible_;
    Problems& problems_;
    DependencyResult result_;
    std::set<std::string> reported_;
};

}  // namespace

DependencyResult orderPlugins(std::vector<DependencyNode> nodes, const ServiceChoices& choices,
                              const std::vector<PossibleProvider>& possible, Problems& problems) {
    return Orderer(std::move(nodes), choices, possible, problems).run();
}

}  // namespace patchbay::kernel

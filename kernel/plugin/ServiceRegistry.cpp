#include "plugin/ServiceRegistry.h"

#include <algorithm>

namespace patchbay::kernel {

class ServiceRegistry::ServiceLease final : public plugin::Lease {
public:
    ServiceLease(ServiceRegistry& owner, std::string id, std::string borrower, Generation& generation)
        : registry(owner), service(std::move(id)), holder(std::move(borrower)), provider(generation) {
        provider.borrowed();
    }

    ServiceRegistry& registry;
    const std::string service;
    const std::string holder;
    Generation& provider;   // there until nothing is borrowed

protected:
    void destroy() noexcept override {
        {
            const std::lock_guard lock(registry.mutex_);
            registry.leases_.erase(this);
        }
        provider.returned();
        delete this;
    }
};

Status ServiceRegistry::publish(const plugin::ServiceId& id, void* service, Generation& provider) {
    const std::lock_guard lock(mutex_);
    const auto [found, fresh] = entries_.emplace(id.toString(), Entry{service, &provider});
    if (fresh) return Status::ok();
    return {StatusCode::AlreadyExists, "service " + found->first + " is provided by " + found->second.provider->plugin()};
}

Result<void*> ServiceRegistry::acquire(const plugin::ServiceId& id, const std::string& holder, Ref<plugin::Lease>& lease) {
    const std::lock_guard lock(mutex_);
    const auto name = id.toString();
    const auto found = entries_.find(name);
    if (found == entries_.end()) return Status(StatusCode::NotFound, "nobody provides service " + name);
    auto* made = new ServiceLease(*this, name, holder, *found->second.provider);
    leases_.insert(made);
    lease = Ref<plugin::Lease>::adopt(made);
    return found->second.service;
}

void ServiceRegistry::withdraw(const Generation& provider) {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const auto& entry) { return entry.second.provider == &provider; });
}

std::vector<std::string> ServiceRegistry::holders(const Generation& provider) const {
    std::vector<std::string> list;
    const std::lock_guard lock(mutex_);
    for (const auto* lease : leases_) {
        if (&lease->provider == &provider) list.push_back(lease->holder + " (" + lease->service + ")");
    }
    std::sort(list.begin(), list.end());
    return list;
}

std::vector<std::string> ServiceRegistry::borrowers(const Generation& provider) const {
    std::set<std::string> names;
    const std::lock_guard lock(mutex_);
    for (const auto* lease : leases_) {
        if (&lease->provider == &provider) names.insert(lease->holder);
    }
    return {names.begin(), names.end()};
}

std::vector<std::string> PluginServices::missing() const {
    std::vector<std::string> list;
    for (const auto& id : description_.provides) {
        if (!published_.contains(id)) list.push_back(id);
    }
    return list;
}

void PluginServices::close() noexcept {
    if (generation_ != nullptr) registry_.withdraw(*generation_);
    generation_ = nullptr;
}

Status PluginServices::publishRaw(const plugin::ServiceId& id, void* service) {
    if (generation_ == nullptr) return {StatusCode::Unavailable, "the plugin has stopped"};
    const auto name = id.toString();
    const auto& allowed = description_.provides;
    if (std::find(allowed.begin(), allowed.end(), name) == allowed.end()) {
        return {StatusCode::Denied, "the manifest does not say that the plugin provides " + name};
    }
    auto status = registry_.publish(id, service, *generation_);
    if (status) published_.insert(name);
    return status;
}

Result<void*> PluginServices::acquireRaw(const plugin::ServiceId& id, Ref<plugin::Lease>& lease) {
    if (generation_ == nullptr) return Status(StatusCode::Unavailable, "the plugin has stopped");
    const auto name = id.toString();
    for (const auto* allowed : {&description_.requires_, &description_.wants}) {
        if (std::find(allowed->begin(), allowed->end(), name) != allowed->end()) {
            return registry_.acquire(id, generation_->plugin(), lease);
        }
    }
    return Status(StatusCode::Denied, "the manifest does not say that the plugin uses " + name);
}

}  // namespace patchbay::kernel

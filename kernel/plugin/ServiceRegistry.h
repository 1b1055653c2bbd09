// ServiceRegistry: which service is provided by whom, and who has borrowed it.
#pragma once

#include "dispatch/Generation.h"
#include "patchbay/base/Result.h"
#include "patchbay/plugin/Services.h"
#include "plugin/ManifestReader.h"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace patchbay::kernel {

/// Pointers are kept as the exact interface that was published, so that no cast at run time is needed. A lease is
/// counted by the provider's generation and listed until its last copy goes. Owned by the plugin host, outlives all leases. Any thread.
class ServiceRegistry {
public:
    /// AlreadyExists, naming the provider. The generation must be there until withdraw().
    Status publish(const plugin::ServiceId& id, void* service, Generation& provider);
    /// NotFound when nobody provides it.
    Result<void*> acquire(const plugin::ServiceId& id, const std::string& holder, Ref<plugin::Lease>& lease);
    /// Takes back all services of a generation; leases that are out stay valid.
    void withdraw(const Generation& provider);
    /// "pull (patchbay.MessageStore/1)" for every lease on the generation's services.
    [[nodiscard]] std::vector<std::string> holders(const Generation& provider) const;
    /// Names of the plugins among them.
    [[nodiscard]] std::vector<std::string> borrowers(const Generation& provider) const;

private:
    class ServiceLease;
    struct Entry {
        void* service;
        Generation* provider;
    };
    mutable std::mutex mutex_;
    std::map<std::string, Entry, std::less<>> entries_;   // guarded by mutex_; by "name/version"
    std::set<const ServiceLease*> leases_;                 // guarded by mutex_
};

/// The registry as one plugin may use it: only what its manifest names.
class PluginServices final : public plugin::Services {
public:
    /// The generation's owner keeps it until close().
    PluginServices(ServiceRegistry& registry, const PluginDescription& description, const Ref<Generation>& generation)
        : registry_(registry), description_(description), generation_(generation.get()) {}
    /// Services of the manifest that were not published.
    [[nodiscard]] std::vector<std::string> missing() const;
    /// Lets go of the generation and takes back what it published; everything is refused afterwards.
    void close() noexcept;

protected:
    Status publishRaw(const plugin::ServiceId& id, void* service) override;
    Result<void*> acquireRaw(const plugin::ServiceId& id, Ref<plugin::Lease>& lease) override;

private:
    ServiceRegistry& registry_;
    const PluginDescription& description_;
    Generation* generation_;
    std::set<std::string> published_;
};

}  // namespace patchbay::kernel

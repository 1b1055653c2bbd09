// Services: how plugins meet. One publishes an interface under an id, others borrow it by a counted lease.
#pragma once

#include "patchbay/base/Result.h"
#include "patchbay/base/Slice.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay::plugin {

/// "patchbay.MessageStore" and a version; written "patchbay.MessageStore/1" in manifests.
struct ServiceId {
    std::string_view name;
    std::uint32_t version;
    [[nodiscard]] std::string toString() const;
    friend bool operator==(const ServiceId&, const ServiceId&) = default;
};

/// Keeps a provider's generation from being destroyed while anybody uses it.
class Lease : public RefCounted {};

/// A borrowed service. Copyable; the provider outlives all copies. Empty when default-constructed (an unmet want).
template <typename T>
class ServiceRef {
public:
    ServiceRef() noexcept = default;
    ServiceRef(T* service, Ref<Lease> lease) noexcept : service_(service), lease_(std::move(lease)) {}
    T* operator->() const noexcept { return service_; }
    T& operator*() const noexcept { return *service_; }
    explicit operator bool() const noexcept { return service_ != nullptr; }
    void reset() noexcept { service_ = nullptr; lease_.reset(); }

private:
    T* service_ = nullptr;
    Ref<Lease> lease_;
};

/// A plugin's door to the registry, offered by the kernel; used in init() only, on one thread.
/// Only ids named in the plugin's manifest may be published or asked for: Denied otherwise.
class Services {
public:
    virtual ~Services();

    /// Offers `service` under T::kId. It must be usable from the moment the plugin's start() returns until its stop().
    template <typename T>
    Status publish(T& service) { return publishRaw(T::kId, static_cast<T*>(&service)); }

    /// Borrows the provider of T::kId. NotFound when nobody provides it.
    template <typename T>
    Result<ServiceRef<T>> require() {
        Ref<Lease> lease;
        auto raw = acquireRaw(T::kId, lease);
        if (!raw) return raw.error();
        return ServiceRef<T>(static_cast<T*>(*raw), std::move(lease));
    }

    /// The same into a member: `if (auto s = services.require(store_); !s) return s;`
    template <typename T>
    Status require(ServiceRef<T>& into) {
        auto found = require<T>();
        if (found) into = std::move(*found);
        return found.error();
    }

    /// As require(), but an empty reference when nobody provides it.
    template <typename T>
    ServiceRef<T> want() { auto found = require<T>(); return found ? std::move(*found) : ServiceRef<T>(); }

protected:
    virtual Status publishRaw(const ServiceId& id, void* service) = 0;
    virtual Result<void*> acquireRaw(const ServiceId& id, Ref<Lease>& lease) = 0;
};

}  // namespace patchbay::plugin

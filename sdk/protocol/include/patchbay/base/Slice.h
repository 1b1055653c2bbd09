// Slice: bytes together with what keeps them alive.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace patchbay {

/// Base of things whose lifetime is counted in the thing itself: receive buffers, mapped windows, connections.
/// Created with a count of one. unref() by any thread; the last one calls destroy() on that thread.
class RefCounted {
public:
    RefCounted(const RefCounted&) = delete;
    RefCounted& operator=(const RefCounted&) = delete;

    void ref() noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
    void unref() noexcept {
        if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
    }
    /// True when the caller holds the only reference, so that nobody else can take one meanwhile.
    [[nodiscard]] bool unique() const noexcept { return refs_.load(std::memory_order_acquire) == 1; }

protected:
    RefCounted() noexcept = default;
    virtual ~RefCounted() = default;
    /// Ends the object: `delete this`, or back to a pool (a pooled object is handed out again after reuse()).
    virtual void destroy() noexcept { delete this; }
    void reuse() noexcept { refs_.store(1, std::memory_order_relaxed); }

private:
    std::atomic<std::uint32_t> refs_{1};
};

/// A counted reference to a RefCounted. Null allowed. Copy = one atomic increment; move = none.
template <typename T>
class Ref {
public:
    Ref() noexcept = default;
    /// Takes over the reference that the caller owns (the one a new object starts with).
    static Ref adopt(T* object) noexcept { Ref r; r.object_ = object; return r; }
    /// Adds a reference of its own.
    static Ref share(T* object) noexcept { if (object != nullptr) object->ref(); return adopt(object); }

    Ref(const Ref& other) noexcept : object_(other.object_) { if (object_ != nullptr) object_->ref(); }
    Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    template <typename U>
    Ref(Ref<U> other) noexcept : object_(other.release()) {}
    Ref& operator=(Ref other) noexcept { std::swap(object_, other.object_); return *this; }
    ~Ref() { if (object_ != nullptr) object_->unref(); }

    void reset() noexcept { Ref().swap(*this); }
    void swap(Ref& other) noexcept { std::swap(object_, other.object_); }
    /// Gives up the reference without dropping it; the caller owns it now.
    [[nodiscard]] T* release() noexcept { return std::exchange(object_, nullptr); }

    [[nodiscard]] T* get() const noexcept { return object_; }
    T* operator->() const noexcept { return object_; }
    T& operator*() const noexcept { return *object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }
    friend bool operator==(const Ref& a, const Ref& b) noexcept { return a.object_ == b.object_; }

private:
    T* object_ = nullptr;
};

/// Whatever keeps a piece of memory valid.
using KeepAlive = Ref<RefCounted>;

/// Read-only bytes that may outlive the call that handed them out. With an empty keep-alive the bytes are static or
/// belong to the caller, and the function that returns such a Slice says so.
struct Slice {
    std::string_view bytes;
    KeepAlive keep;

    /// A Slice that owns a copy.
    static Slice copyOf(std::string_view bytes);
    static Slice own(std::string text);
};

}  // namespace patchbay

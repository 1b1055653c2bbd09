// Recalls: which messages were called back, and up to when that was possible.
#pragma once

#include "patchbay/base/NameMap.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace patchbay::plugins::timer {

/// Decides between a recall and a delivery that come at the same time. Owned by the plugin. Thread-safe.
class Recalls {
public:
    enum class Answer : std::uint8_t { Recalled, TooLate, TooMany };

    explicit Recalls(std::size_t limit) : limit_(limit) {}

    /// Of a message whose slot begins with `slotMs`. After Recalled it is not delivered, unless undo() follows.
    Answer recall(std::string_view key, std::int64_t slotMs);
    /// When the recall could not be stored: it has to be told as failed, and must not come into force by half.
    void undo(std::string_view key);
    /// A recall that is in the store already.
    void restore(std::string_view key, std::int64_t slotMs);

    /// What is due until then is about to be delivered; later recalls of it are too late.
    void deliverUntil(std::int64_t ms);
    [[nodiscard]] std::int64_t deliveredUntil() const;
    /// Whether it was called back. `makeKey` is not called while nothing is.
    template <typename MakeKey>
    [[nodiscard]] bool contains(MakeKey&& makeKey) const {
        const std::lock_guard lock(mutex_);
        return !keys_.empty() && keys_.contains(makeKey());
    }
    /// Forgets recalls of messages whose time has come.
    void forgetOld();
    [[nodiscard]] std::size_t size() const;

private:
    const std::size_t limit_;
    mutable std::mutex mutex_;
    // Guarded by mutex_.
    NameMap<std::int64_t> keys_;   // until when its message can be due
    std::int64_t deliveredUntil_ = 0;
};

}  // namespace patchbay::plugins::timer

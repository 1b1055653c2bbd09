// Budget: bytes that all held pulls may take together.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace patchbay::plugins::pull {

/// A part of a budget, given back when it is destroyed. Any thread, also under a lock.
class Share {
public:
    Share() noexcept = default;
    Share(std::shared_ptr<std::atomic<std::size_t>> taken, std::size_t bytes) noexcept : taken_(std::move(taken)), bytes_(bytes) {}
    Share(Share&&) noexcept = default;
    Share& operator=(Share&& other) noexcept {
        giveBack();
        taken_ = std::move(other.taken_);
        bytes_ = other.bytes_;
        return *this;
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;
    ~Share() { giveBack(); }

private:
    void giveBack() noexcept {
        if (taken_) taken_->fetch_sub(bytes_, std::memory_order_relaxed);
    }
    std::shared_ptr<std::atomic<std::size_t>> taken_;
    std::size_t bytes_ = 0;
};

/// Owned by the hold, but shares may outlive it. Thread-safe.
class Budget {
public:
    explicit Budget(std::size_t bytes) : bytes_(bytes), taken_(std::make_shared<std::atomic<std::size_t>>(0)) {}

    /// Nothing when there are not so many bytes left.
    [[nodiscard]] std::optional<Share> take(std::size_t bytes) {
        std::size_t before = taken_->load(std::memory_order_relaxed);
        do {
            if (before > bytes_ || bytes > bytes_ - before) return std::nullopt;
        } while (!taken_->compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
        return Share(taken_, bytes);
    }

private:
    const std::size_t bytes_;
    const std::shared_ptr<std::atomic<std::size_t>> taken_;
};

}  // namespace patchbay::plugins::pull

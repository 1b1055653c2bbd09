// Seats: how many pulls each connection has held.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace patchbay::plugins::pull {

/// A held pull's place among those of its connection; empty, or given back when it is destroyed. Any thread, also under a lock.
class Seat {
public:
    Seat() noexcept = default;
    explicit Seat(std::shared_ptr<std::atomic<std::size_t>> taken) noexcept : taken_(std::move(taken)) {}
    Seat(Seat&&) noexcept = default;
    Seat& operator=(Seat&& other) noexcept {
        giveBack();
        taken_ = std::move(other.taken_);
        return *this;
    }
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;
    ~Seat() { giveBack(); }

    explicit operator bool() const noexcept { return taken_ != nullptr; }

private:
    void giveBack() noexcept {
        if (taken_) taken_->fetch_sub(1, std::memory_order_relaxed);
    }
    std::shared_ptr<std::atomic<std::size_t>> taken_;
};

/// Purpose: no connection takes all of what may be held. Owned by the hold, but seats may outlive it. Thread-safe. Remembers
/// connections that have seats, and as many that had.
class Seats {
public:
    explicit Seats(std::size_t perPeer) noexcept : perPeer_(perPeer) {}

    /// Empty when this connection has all its seats taken.
    [[nodiscard]] Seat take(std::uint64_t peer) {
        Shard& shard = shards_[peer % kShards];
        const std::lock_guard lock(shard.mutex);
        const auto [at, fresh] = shard.taken.try_emplace(peer);
        if (fresh) at->second = std::make_shared<std::atomic<std::size_t>>(0);
        // Only here a count grows.
        if (at->second->load(std::memory_order_relaxed) >= perPeer_) return {};
        at->second->fetch_add(1, std::memory_order_relaxed);
        Seat seat(at->second);
        if (shard.taken.size() > shard.sweepAt) {
            std::erase_if(shard.taken, [](const auto& entry) { return entry.second->load(std::memory_order_relaxed) == 0; });
            shard.sweepAt = std::max(kSweepMin, 2 * shard.taken.size());
        }
        return seat;
    }

private:
    static constexpr std::size_t kShards = 16;
    static constexpr std::size_t kSweepMin = 64;
    struct alignas(64) Shard {
        std::mutex mutex;
        std::unordered_map<std::uint64_t, std::shared_ptr<std::atomic<std::size_t>>> taken;
        std::size_t sweepAt = kSweepMin;
    };
    const std::size_t perPeer_;
    std::array<Shard, kShards> shards_;
};

}  // namespace patchbay::plugins::pull

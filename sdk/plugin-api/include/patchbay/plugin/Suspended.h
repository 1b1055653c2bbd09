// Suspended: requests that wait for something to happen, by key.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Request.h"
#include "patchbay/plugin/Runtime.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace patchbay::plugin {

/// Holds requests until wake(), their deadline, or drain(); each leaves exactly once, through redispatch(), so that its
/// processor decides anew. Requests whose connection has closed are dropped within a few seconds.
/// Owned by a plugin, which calls drain() and then close() before it is destroyed. All functions are thread-safe; none calls
/// out of the holder with a lock held. Nothing runs, and no timer ticks, while nothing is held.
///
/// Key: what wakes them. Tag: what the processor wants to know of each when it wakes a key. Hash and Equal may be transparent,
/// so that wake() looks a key up without making one.
template <typename Key, typename Tag, typename Hash = std::hash<Key>, typename Equal = std::equal_to<>>
class Suspended {
public:
    Suspended(Timers& timers, const Clock& clock, std::size_t capacity) : timers_(timers), clock_(clock), capacity_(capacity) {}
    Suspended(const Suspended&) = delete;
    Suspended& operator=(const Suspended&) = delete;
    ~Suspended() { close(); }

    /// Takes the request, or leaves it as it is: when `capacity` requests are held already, or after drain().
    /// After true, look once more whether what it waits for has happened meanwhile, and wake() it then.
    bool hold(Key key, Tag tag, MonotonicTime deadline, Request& request) {
        if (draining_.load(std::memory_order_acquire) || size_.load(std::memory_order_relaxed) >= capacity_) return false;
        request.detach();
        Shard& shard = shardOf(Hash{}(key));
        std::unique_lock lock(shard.mutex);
        if (draining_.load(std::memory_order_acquire)) {
            // Drained meanwhile, and detached already: it leaves as if it had been held before.
            lock.unlock();
            std::move(request).redispatch();
            return true;
        }
        shard.held[std::move(key)].push_back({std::move(request), std::move(tag), deadline});
        // The count is first raised, then the caller looks again: whoever appends in between sees one of the two.
        size_.fetch_add(1, std::memory_order_seq_cst);
        lock.unlock();
        startTicking();
        return true;
    }

    /// Lets go of the requests under `key` whose tag satisfies `wanted`. Returns how many.
    template <typename KeyLike, typename Wanted>
    std::size_t wake(const KeyLike& key, Wanted&& wanted) {
        std::vector<Request> woken;
        Shard& shard = shardOf(Hash{}(key));
        {
            const std::lock_guard lock(shard.mutex);
            const auto found = shard.held.find(key);
            if (found == shard.held.end()) return 0;
            takeIf(found->second, woken, [&wanted](const Entry& entry) { return wanted(entry.tag); });
            if (found->second.empty()) shard.held.erase(found);
        }
        return release(woken);
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_seq_cst); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// For whoever has just made true what requests wait for: either this answers false, or a hold() that is under way sees the
    /// change when it looks once more. A read-modify-write, because a plain load may be done before the change is visible.
    [[nodiscard]] bool emptyAfterChange() noexcept { return size_.fetch_add(0, std::memory_order_seq_cst) == 0; }

    /// Sends all requests back into the route table and refuses new ones from now on. May be called again.
    void drain() noexcept {
        draining_.store(true, std::memory_order_release);
        for (auto& shard : shards_) sweep(shard, [](const Entry&) { return true; });
    }

    /// Ends the timer. Requests that are still held are answered as lost ones.
    void close() noexcept {
        draining_.store(true, std::memory_order_release);
        const std::lock_guard lock(tickMutex_);
        if (ticking_) timers_.cancel(timer_);
        ticking_ = false;
        closed_ = true;
    }

private:
    struct Entry {
        Request request;
        Tag tag;
        MonotonicTime deadline;
    };
    struct alignas(64) Shard {
        std::mutex mutex;
        std::unordered_map<Key, std::vector<Entry>, Hash, Equal> held;
    };
    static constexpr std::size_t kShards = 16;
    static constexpr std::chrono::milliseconds kTick{200};

    // The map inside a shard uses the low bits of the same hash, so take others.
    Shard& shardOf(std::size_t hash) noexcept { return shards_[(hash * 0x9E3779B97F4A7C15ULL) >> 60]; }

    template <typename Predicate>
    static void takeIf(std::vector<Entry>& entries, std::vector<Request>& out, Predicate&& leaves) {
        for (std::size_t i = 0; i < entries.size();) {
            if (!leaves(entries[i])) {
                ++i;
                continue;
            }
            out.push_back(std::move(entries[i].request));
            if (i + 1 != entries.size()) entries[i] = std::move(entries.back());
            entries.pop_back();
        }
    }

    template <typename Predicate>
    void sweep(Shard& shard, Predicate&& leaves) noexcept {
        std::vector<Request> out;
        {
            const std::lock_guard lock(shard.mutex);
            for (auto at = shard.held.begin(); at != shard.held.end();) {
                takeIf(at->second, out, leaves);
                at = at->second.empty() ? shard.held.erase(at) : std::next(at);
            }
        }
        release(out);
    }

    std::size_t release(std::vector<Request>& requests) noexcept {
        size_.fetch_sub(requests.size(), std::memory_order_relaxed);
        for (auto& request : requests) std::move(request).redispatch();
        return requests.size();
    }

    void startTicking() {
        if (running_.load(std::memory_order_acquire)) return;
        const std::lock_guard lock(tickMutex_);
        if (ticking_ || closed_) return;
        ticking_ = true;
        running_.store(true, std::memory_order_release);
        timer_ = timers_.after(kTick, [this] { tick(); });
    }

    void tick() noexcept {
        const MonotonicTime now = clock_.now();
        // Looking at a connection costs a cache miss, so each tick does it for one shard only.
        const std::size_t closedTurn = turn_++ % kShards;
        for (std::size_t i = 0; i < kShards; ++i) {
            const bool lookAtPeers = i == closedTurn;
            sweep(shards_[i], [now, lookAtPeers](const Entry& entry) {
                return entry.deadline <= now || (lookAtPeers && !entry.request.peer().isOpen());
            });
        }
        const std::lock_guard lock(tickMutex_);
        if (closed_) return;
        ticking_ = !empty();
        running_.store(ticking_, std::memory_order_release);
        // A hold that came between the look and the store above saw `running` and did not start a timer.
        if (!ticking_ && !empty()) {
            ticking_ = true;
            running_.store(true, std::memory_order_release);
        }
        if (ticking_) timer_ = timers_.after(kTick, [this] { tick(); });
    }

    Timers& timers_;
    const Clock& clock_;
    const std::size_t capacity_;

    std::atomic<std::size_t> size_{0};
    std::atomic<bool> draining_{false};
    std::atomic<bool> running_{false};
    std::array<Shard, kShards> shards_;

    std::mutex tickMutex_;
    TimerId timer_ = 0;       // guarded by tickMutex_
    bool ticking_ = false;    // guarded by tickMutex_
    bool closed_ = false;     // guarded by tickMutex_
    std::size_t turn_ = 0;    // control executor only
};

}  // namespace patchbay::plugin

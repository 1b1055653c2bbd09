// Suspended: requests that wait for something to happen, by key.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/Request.h"
#include "patchbay/plugin/Runtime.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace patchbay::plugin {

/// Holds requests until wake(), their deadline, or drain(); each leaves exactly once, through redispatch(), so that its
/// processor decides anew. Requests whose connection has closed are dropped within half a minute.
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

    /// Takes the request and detaches it, or leaves it as it is: when `capacity` requests are held already, or after drain().
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
        const auto at = shard.held.try_emplace(std::move(key)).first;
        Entry& entry = at->second.emplace_back(std::move(request), std::move(tag), deadline, at->first);
        entry.self = std::prev(at->second.end());
        shard.schedule(entry);
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
            for (auto entry = found->second.begin(); entry != found->second.end();) {
                const auto next = std::next(entry);
                if (wanted(std::as_const(entry->tag))) shard.take(found->second, *entry, woken);
                entry = next;
            }
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
        for (auto& shard : shards_) {
            for (std::size_t slot = 0; slot < kSlots; ++slot) sweep(shard, slot, [](const Entry&) { return true; });
        }
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
        Entry(Request request_, Tag tag_, MonotonicTime deadline_, const Key& key_)
            : request(std::move(request_)), tag(std::move(tag_)), deadline(deadline_), key(&key_) {}
        Request request;
        Tag tag;
        MonotonicTime deadline;
        const Key* key;                          // in the map, which does not move it
        typename std::list<Entry>::iterator self;
        std::uint32_t place = 0;                 // in its slot
    };
    using Entries = std::list<Entry>;

    static constexpr std::size_t kShards = 16;
    static constexpr std::size_t kSlots = 128;   // a later deadline waits for another turn of the wheel
    static constexpr std::chrono::milliseconds kTick{200};

    [[nodiscard]] static std::uint64_t tickOf(MonotonicTime time) noexcept {
        return static_cast<std::uint64_t>(time.time_since_epoch() / kTick);
    }

    struct alignas(64) Shard {
        std::mutex mutex;
        std::unordered_map<Key, Entries, Hash, Equal> held;
        // By deadline, so that a tick looks at the requests that are due and not at all that wait.
        std::array<std::vector<Entry*>, kSlots> slots;

        [[nodiscard]] std::vector<Entry*>& slotOf(const Entry& entry) noexcept { return slots[(tickOf(entry.deadline) + 1) % kSlots]; }
        void schedule(Entry& entry) {
            auto& slot = slotOf(entry);
            entry.place = static_cast<std::uint32_t>(slot.size());
            slot.push_back(&entry);
        }
        /// Moves the request out; the entry is gone afterwards, its list may be empty.
        void take(Entries& entries, Entry& entry, std::vector<Request>& out) {
            auto& slot = slotOf(entry);
            slot[entry.place] = slot.back();
            slot[entry.place]->place = entry.place;
            slot.pop_back();
            out.push_back(std::move(entry.request));
            entries.erase(entry.self);
        }
    };

    // The map inside a shard uses the low bits of the same hash, so take others.
    Shard& shardOf(std::size_t hash) noexcept { return shards_[(hash * 0x9E3779B97F4A7C15ULL) >> 60]; }

    template <typename Predicate>
    void sweep(Shard& shard, std::size_t number, Predicate&& leaves) noexcept {
        std::vector<Request> out;
        {
            const std::lock_guard lock(shard.mutex);
            auto& slot = shard.slots[number % kSlots];
            for (std::size_t i = 0; i < slot.size();) {
                Entry& entry = *slot[i];
                if (!leaves(std::as_const(entry))) {
                    ++i;
                    continue;
                }
                const auto at = shard.held.find(*entry.key);
                shard.take(at->second, entry, out);
                if (at->second.empty()) shard.held.erase(at);
            }
            if (slot.empty()) slot.shrink_to_fit();
        }
        release(out);
    }

    std::size_t release(std::vector<Request>& requests) noexcept {
        size_.fetch_sub(requests.size(), std::memory_order_relaxed);
        for (auto& request : requests) std::move(request).redispatch();
        return requests.size();
    }

    void startTicking() {
        // In one order with size_, here and in tick(): either the tick sees the request or this sees that nobody ticks.
        if (running_.load(std::memory_order_seq_cst)) return;
        const std::lock_guard lock(tickMutex_);
        if (ticking_ || closed_) return;
        ticking_ = true;
        seen_ = tickOf(clock_.now());
        running_.store(true, std::memory_order_release);
        timer_ = timers_.after(kTick, [this] { tick(); });
    }

    void tick() noexcept {
        const MonotonicTime now = clock_.now();
        const auto due = [now](const Entry& entry) { return entry.deadline <= now; };
        const auto gone = [](const Entry& entry) { return !entry.request.peer().isOpen(); };
        // A tick that came late has to look at what the missed ones would have seen; and at the last one again, for a
        // request that was still on its way into the wheel then.
        const std::uint64_t last = tickOf(now);
        const std::uint64_t first = std::max(std::min(seen_, last), last - std::min<std::uint64_t>(last, kSlots - 1));
        // Looking at a connection costs a few cache misses, so each tick does it for one slot of the wheel.
        const std::size_t looked = turn_++ % kSlots;
        for (auto& shard : shards_) {
            for (std::uint64_t tick = first; tick <= last; ++tick) sweep(shard, tick % kSlots, due);
            sweep(shard, looked, gone);
        }
        seen_ = last;
        const std::lock_guard lock(tickMutex_);
        if (closed_) return;
        ticking_ = !empty();
        running_.store(ticking_, std::memory_order_seq_cst);
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
    std::uint64_t seen_ = 0;  // the last tick; written by it, and before there is one
};

}  // namespace patchbay::plugin

// Suspended: requests that wait for something to happen, by key.
#pragma once

#include "patchbay/base/Clock.h"
#include "patchbay/plugin/LabelChains.h"
#include "patchbay/plugin/Request.h"
#include "patchbay/plugin/Runtime.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace patchbay::plugin {

/// Holds requests until wake(), their deadline, or drain(); each leaves exactly once, through redispatch(), so that its
/// processor decides anew. Requests whose connection has closed are dropped within half a minute.
/// Owned by a plugin, which calls drain() and then close() before it is destroyed. All functions are thread-safe; none calls
/// out of the holder with a lock held. Nothing runs, and no timer ticks, while nothing is held.
///
/// Key: what wakes them. Labels narrow it: a request that has some is only looked at when one of them is woken, so that many may wait
/// under one key. Tag: what the processor wants to know of each when it wakes a key. Hash and Equal may be transparent, so that
/// wake() looks a key up without making one.
template <typename Key, typename Tag, typename Hash = std::hash<Key>, typename Equal = std::equal_to<>>
class Suspended {
public:
    Suspended(Timers& timers, const Clock& clock, std::size_t capacity) : timers_(timers), clock_(clock), capacity_(capacity) {}
    Suspended(const Suspended&) = delete;
    Suspended& operator=(const Suspended&) = delete;
    ~Suspended() { close(); }

    /// Takes the request and detaches it, or leaves it as it is: when `capacity` requests are held already, or after drain().
    /// After true, look once more whether what it waits for has happened meanwhile, and wake() it then.
    bool hold(Key key, std::span<const std::int32_t> labels, Tag tag, MonotonicTime deadline, Request& request) {
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
        auto entry = std::make_unique<Entry>(std::move(request), labels, std::move(tag), deadline);
        const auto at = shard.held.try_emplace(std::move(key)).first;
        entry->key = &at->first;
        at->second.chain(entry->links);
        shard.schedule(std::move(entry));
        // The count is first raised, then the caller looks again: whoever appends in between sees one of the two.
        size_.fetch_add(1, std::memory_order_seq_cst);
        lock.unlock();
        startTicking();
        return true;
    }
    bool hold(Key key, Tag tag, MonotonicTime deadline, Request& request) {
        return hold(std::move(key), {}, std::move(tag), deadline, request);
    }
    /// What a request with so many labels takes for them while it is held.
    [[nodiscard]] static constexpr std::size_t bytesOfLabels(std::size_t count) noexcept { return LabelChains<Entry>::bytesOf(count); }

    /// Lets go of the requests under `key` whose tag satisfies `wanted`. Returns how many.
    template <typename KeyLike, typename Wanted>
    std::size_t wake(const KeyLike& key, Wanted&& wanted) {
        return wakeThose(key, [&](const Chains& chains, auto&& take) {
            return chains.each([&](Entry& entry) { take(entry, wanted(std::as_const(entry.tag))); });
        });
    }
    /// The same, of those without labels that satisfy `wanted(tag)` and those with one of `labels` that satisfy `wanted(tag, label)`.
    template <typename KeyLike, typename Wanted>
    std::size_t wake(const KeyLike& key, std::span<const std::int32_t> labels, Wanted&& wanted) {
        return wakeThose(key, [&](const Chains& chains, auto&& take) {
            std::size_t passed = chains.eachUnlabelled([&](Entry& entry) { take(entry, wanted(std::as_const(entry.tag))); });
            for (const std::int32_t label : labels) {
                passed += chains.eachWith(label, [&](Entry& entry) { take(entry, wanted(std::as_const(entry.tag), label)); });
            }
            return passed;
        });
    }
    /// How many of those that wait all calls of wake() together have passed.
    [[nodiscard]] std::uint64_t passed() const noexcept { return passed_.load(std::memory_order_relaxed); }

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
        Entry(Request request_, std::span<const std::int32_t> labels, Tag tag_, MonotonicTime deadline_)
            : request(std::move(request_)), tag(std::move(tag_)), deadline(deadline_), links(*this, labels) {}
        Request request;
        Tag tag;
        MonotonicTime deadline;
        const Key* key = nullptr;                // in the map, which does not move it
        typename LabelChains<Entry>::Links links;
        std::uint32_t place = 0;                 // in its slot, or kLeaves
    };
    using Chains = LabelChains<Entry>;
    using Leaving = std::vector<std::unique_ptr<Entry>>;
    static constexpr std::uint32_t kLeaves = ~std::uint32_t{0};

    static constexpr std::size_t kShards = 16;
    static constexpr std::size_t kSlots = 128;   // a later deadline waits for another turn of the wheel
    static constexpr std::chrono::milliseconds kTick{200};

    [[nodiscard]] static std::uint64_t tickOf(MonotonicTime time) noexcept {
        return static_cast<std::uint64_t>(time.time_since_epoch() / kTick);
    }

    struct alignas(64) Shard {
        std::mutex mutex;
        std::unordered_map<Key, Chains, Hash, Equal> held;
        // They own what is held, by deadline, so that a tick looks at the requests that are due and not at all that wait.
        std::array<std::vector<std::unique_ptr<Entry>>, kSlots> slots;

        [[nodiscard]] auto& slotOf(const Entry& entry) noexcept { return slots[(tickOf(entry.deadline) + 1) % kSlots]; }
        void schedule(std::unique_ptr<Entry> entry) {
            auto& slot = slotOf(*entry);
            entry->place = static_cast<std::uint32_t>(slot.size());
            slot.push_back(std::move(entry));
        }
        /// Its links stay where they are.
        void take(Entry& entry, Leaving& out) {
            auto& slot = slotOf(entry);
            std::swap(slot[entry.place], slot.back());
            slot[entry.place]->place = entry.place;
            out.push_back(std::move(slot.back()));
            slot.pop_back();
            entry.place = kLeaves;
        }
    };

    // The map inside a shard uses the low bits of the same hash, so take others.
    Shard& shardOf(std::size_t hash) noexcept { return shards_[(hash * 0x9E3779B97F4A7C15ULL) >> 60]; }

    /// `look(chains, take)` calls take(entry, leaves) for what it passes, perhaps twice for the same, and returns how many it passed.
    template <typename KeyLike, typename Look>
    std::size_t wakeThose(const KeyLike& key, Look&& look) {
        Leaving woken;
        Shard& shard = shardOf(Hash{}(key));
        {
            const std::lock_guard lock(shard.mutex);
            const auto found = shard.held.find(key);
            if (found == shard.held.end()) return 0;
            const std::size_t passed = look(std::as_const(found->second), [&](Entry& entry, bool leaves) {
                if (leaves && entry.place != kLeaves) shard.take(entry, woken);
            });
            passed_.fetch_add(passed, std::memory_order_relaxed);
            for (const auto& entry : woken) found->second.unchain(entry->links);
            if (found->second.empty()) shard.held.erase(found);
        }
        return release(woken);
    }

    template <typename Predicate>
    void sweep(Shard& shard, std::size_t number, Predicate&& leaves) noexcept {
        Leaving out;
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
                at->second.unchain(entry.links);
                shard.take(entry, out);
                if (at->second.empty()) shard.held.erase(at);
            }
            if (slot.empty()) slot.shrink_to_fit();
        }
        release(out);
    }

    std::size_t release(Leaving& entries) noexcept {
        size_.fetch_sub(entries.size(), std::memory_order_relaxed);
        for (auto& entry : entries) {
            Request request = std::move(entry->request);
            entry.reset();  // what the tag holds is free before the request is answered
            std::move(request).redispatch();
        }
        return entries.size();
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
    std::atomic<std::uint64_t> passed_{0};
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

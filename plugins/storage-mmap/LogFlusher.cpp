#include "LogFlusher.h"

#include <algorithm>
#include <pthread.h>

namespace patchbay::mmapstore {

using service::AppendStatus;

namespace {

constexpr std::size_t kPooledMax = 8;
constexpr std::size_t kPooledBytesMax = 1U << 20;
constexpr std::int64_t kPageBytes = 4096;

void mark(service::AppendBatch& batch, AppendStatus status) noexcept {
    for (service::AppendItem& item : batch.items) {
        // Who does not wait for the disk is not told that it is slow.
        const bool concerned = status != AppendStatus::FlushDiskTimeout || item.waitStored;
        if (item.status == AppendStatus::PutOk && concerned) item.status = status;
    }
}

}  // namespace

void LogFlusher::start() {
    stopping_ = false;
    lastSync_ = clock_.now();
    thread_ = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "mmap-flush");
        run();
    });
    if (!options_.syncFlush) return;
    watcher_ = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "mmap-deadlines");
        watch();
    });
}

void LogFlusher::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        work_.notify_all();
        deadlines_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
    if (watcher_.joinable()) watcher_.join();
}

void LogFlusher::wake() noexcept {
    const std::lock_guard lock(mutex_);
    work_.notify_one();
}

std::unique_ptr<AppendWork> LogFlusher::take() {
    {
        const std::lock_guard lock(mutex_);
        if (!pool_.empty()) {
            std::unique_ptr<AppendWork> work = std::move(pool_.back());
            pool_.pop_back();
            return work;
        }
    }
    return std::make_unique<AppendWork>();
}

void LogFlusher::giveBack(std::unique_ptr<AppendWork> work) noexcept {
    work->clear();
    if (work->capacity > kPooledBytesMax) return;
    const std::lock_guard lock(mutex_);
    if (pool_.size() < kPooledMax) pool_.push_back(std::move(work));
}

void LogFlusher::submit(std::unique_ptr<AppendWork> work) {
    work->deadline = clock_.now() + options_.syncFlushTimeout;
    queuedBytes_.fetch_add(static_cast<std::int64_t>(work->size), std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    const bool first = waiting_.empty();
    const bool waits = work->batch != nullptr;
    waiting_.push_back(std::move(work));
    if (first) work_.notify_one();
    // Whoever waits need not be the first one: before it may be batches that nobody waits for.
    if (waits && !std::exchange(armed_, true)) deadlines_.notify_one();
}

std::chrono::milliseconds LogFlusher::oldestWait() const noexcept {
    const MonotonicTime now = clock_.now();
    const std::lock_guard lock(mutex_);
    for (const auto* works : {static_cast<const std::vector<std::unique_ptr<AppendWork>>*>(syncing_), &waiting_}) {
        if (works == nullptr || works->empty() || !works->front()) continue;
        const auto waited = now - (works->front()->deadline - options_.syncFlushTimeout);
        return std::max(std::chrono::milliseconds(0), std::chrono::duration_cast<std::chrono::milliseconds>(waited));
    }
    return {};
}

bool LogFlusher::isDue() const noexcept {
    const std::int64_t newBytes = state_.end.load(std::memory_order_relaxed) - state_.flushedEnd.load(std::memory_order_relaxed);
    if (newBytes >= tunables_.flushLeastPages.load(std::memory_order_relaxed) * kPageBytes) return true;
    return clock_.now() - lastSync_.load(std::memory_order_relaxed) >= std::chrono::milliseconds(tunables_.flushThoroughMs.load(std::memory_order_relaxed));
}

bool LogFlusher::waitForWork(std::unique_lock<std::mutex>& lock) {
    if (options_.syncFlush) {
        work_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
        return !waiting_.empty();
    }
    work_.wait(lock, [&] { return stopping_ || dirty_.load(std::memory_order_acquire); });
    while (!stopping_) {
        const std::chrono::milliseconds interval(tunables_.flushIntervalMs.load(std::memory_order_relaxed));
        (void)clock_.waitFor(work_, lock, interval, [&] { return stopping_; });
        if (isDue()) return true;
    }
    return dirty_.load(std::memory_order_acquire);
}

void LogFlusher::run() {
    std::vector<std::unique_ptr<AppendWork>> works;
    std::unique_lock lock(mutex_);
    while (true) {
        const bool something = waitForWork(lock);
        if (!something && stopping_) return;
        works.swap(waiting_);
        syncing_ = &works;
        // A full barrier: whoever finds it true must have its bytes counted below.
        (void)dirty_.exchange(false);
        lock.unlock();
        const Status synced = syncOnce();
        finish(works, synced);
        lock.lock();
        syncing_ = nullptr;
        works.clear();
    }
}

Status LogFlusher::syncOnce() {
    const std::lock_guard serial(syncMutex_);
    if (state_.failed()) return state_.health();
    // Read before the sync: what comes later is not covered by it.
    const std::int64_t end = state_.end.load(std::memory_order_acquire);
    const Status synced = commitLog_.sync();
    lastSync_.store(clock_.now(), std::memory_order_relaxed);
    if (synced) {
        state_.flushedEnd.store(end, std::memory_order_release);
        return synced;
    }
    log_.error("the commit log could not be made durable; nothing is accepted until a restart", {{"error", synced.toString()}});
    state_.fail({StatusCode::Io, synced.message() + "; messages are refused until the broker is restarted"});
    return state_.health();
}

service::AppendBatch* LogFlusher::claim(AppendWork& work) noexcept {
    const std::lock_guard lock(mutex_);
    return std::exchange(work.batch, nullptr);
}

void LogFlusher::answer(service::AppendBatch& batch) noexcept {
    state_.times.appended(batch.items.size(), clock_.now() - batch.begun);
    batch.done();
}

void LogFlusher::finish(std::vector<std::unique_ptr<AppendWork>>& works, const Status& outcome) noexcept {
    for (std::unique_ptr<AppendWork>& work : works) {
        queuedBytes_.fetch_sub(static_cast<std::int64_t>(work->size), std::memory_order_relaxed);
        if (outcome) publisher_.publish(*work);
        service::AppendBatch* const batch = claim(*work);
        if (batch == nullptr) continue;
        if (!outcome) {
            batch->failure = outcome;
            mark(*batch, AppendStatus::Failed);
        }
        answer(*batch);
    }
    const std::lock_guard lock(mutex_);
    for (std::unique_ptr<AppendWork>& work : works) {
        work->clear();
        if (work->capacity <= kPooledBytesMax && pool_.size() < kPooledMax) pool_.push_back(std::move(work));
    }
    works.clear();
}

void LogFlusher::watch() {
    std::unique_lock lock(mutex_);
    std::vector<service::AppendBatch*> late;
    while (!stopping_) {
        // Batches are answered in order, so the oldest one that waits has the earliest deadline.
        MonotonicTime earliest = MonotonicTime::max();
        const MonotonicTime now = clock_.now();
        for (const auto* works : {static_cast<const std::vector<std::unique_ptr<AppendWork>>*>(syncing_), &std::as_const(waiting_)}) {
            if (works == nullptr) continue;
            for (const std::unique_ptr<AppendWork>& work : *works) {
                if (!work || work->batch == nullptr) continue;
                if (work->deadline > now) {
                    earliest = std::min(earliest, work->deadline);
                    break;
                }
                late.push_back(std::exchange(work->batch, nullptr));
            }
        }
        if (late.empty()) {
            // Once armed it is not woken by new batches: theirs end later. They are seen when this one is over.
            armed_ = earliest != MonotonicTime::max();
            if (armed_) {
                clock_.wait(deadlines_, lock, earliest);
            } else {
                deadlines_.wait(lock);
            }
            armed_ = false;
            continue;
        }
        lock.unlock();
        for (service::AppendBatch* batch : late) {
            mark(*batch, AppendStatus::FlushDiskTimeout);
            answer(*batch);
        }
        late.clear();
        lock.lock();
    }
}

Status LogFlusher::flush() {
    return syncOnce();
}

}  // namespace patchbay::mmapstore

#include "Upkeep.h"

#include <algorithm>
#include <pthread.h>

namespace patchbay::mmapstore {

void Upkeep::start(const Checkpoint& checkpoint) {
    checkpoint_ = checkpoint;
    p_.state.checkpointTime = checkpoint.queueTime;
    lastThorough_ = p_.clock.now();
    stopping_ = false;
    thread_ = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "mmap-queues");
        run();
    });
}

void Upkeep::stopThread() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
}

Status Upkeep::stop() noexcept {
    // Tens of thousands of queues take minutes to sync; a stop does not wait for that.
    deadline_ = p_.clock.now() + kStopMax;
    stopThread();
    return thorough();
}

void Upkeep::add(Ref<ConsumeQueue> queue) {
    const std::lock_guard lock(mutex_);
    dirty_.push_back(std::move(queue));
    if (dirty_.size() == 1) changed_.notify_all();
}

void Upkeep::poke() noexcept {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
}

void Upkeep::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return stopping_ || !dirty_.empty(); });
        const std::int64_t before = p_.state.appended.load(std::memory_order_relaxed);
        const std::chrono::milliseconds interval(p_.tunables.queueFlushIntervalMs.load(std::memory_order_relaxed));
        (void)p_.clock.waitFor(changed_, lock, interval, [&] { return stopping_ || poked_.load(); });
        if (stopping_) return;
        lock.unlock();
        lowerCheckpoint();
        report(turn(before));
        lock.lock();
    }
}

void Upkeep::report(const Status& status) {
    if (status.code() == StatusCode::DeadlineExceeded) return;
    if (!status) {
        p_.log.limited(plugin::LogLevel::Error, "consume queues cannot be written", {{"error", status.toString()}});
        p_.state.hold({status.code() == StatusCode::Full ? StatusCode::Full : StatusCode::Io,
                       "a consume queue cannot be written: " + status.message()});
    } else if (!p_.state.writable() && !p_.state.failed()) {
        p_.log.info("consume queues can be written again");
        p_.state.hold(Status::ok());
    }
}

Status Upkeep::turn(std::int64_t appendedBefore) {
    const bool poked = poked_.exchange(false);
    const bool idle = p_.state.appended.load(std::memory_order_relaxed) == appendedBefore && !poked;
    MonotonicTime last;
    {
        const std::lock_guard lock(turnMutex_);
        last = lastThorough_;
    }
    const std::chrono::milliseconds longest(p_.tunables.queueFlushThoroughMs.load(std::memory_order_relaxed));
    if (idle || p_.clock.now() - last >= longest) return thorough();
    return poked ? writeAll() : writeTails(kBusyUnits);
}

bool Upkeep::retry() {
    const Status written = writeAll();
    report(written);
    return written.isOk();
}

Status Upkeep::writeAll() {
    return writeTails(1);
}

Status Upkeep::writeTails(std::size_t unitsMin) {
    std::vector<Ref<ConsumeQueue>> queues;
    {
        const std::lock_guard lock(mutex_);
        queues = dirty_;
    }
    Status result;
    for (const Ref<ConsumeQueue>& queue : queues) {
        if (isLate()) return {StatusCode::DeadlineExceeded, "not all consume queues could be written in time"};
        if (queue->tailUnits() < unitsMin) continue;
        if (Status written = queue->writeTail(); !written) result = written;
    }
    return result;
}

void Upkeep::clockWentBack(std::int64_t nowMs) noexcept {
    // Said once for each step.
    p_.state.checkpointTime.store(nowMs, std::memory_order_relaxed);
    lowerTo_.store(nowMs);
    poked_.store(true);
    poke();
}

void Upkeep::lowerCheckpoint() {
    const std::int64_t to = lowerTo_.exchange(-1);
    if (to < 0) return;
    const std::lock_guard serial(turnMutex_);
    p_.log.warn("the clock went back", {{"from", checkpoint_.queueTime}, {"to", to}});
    checkpoint_.logTime = std::min(checkpoint_.logTime, to);
    checkpoint_.queueTime = std::min(checkpoint_.queueTime, to);
    if (Status written = writeCheckpoint(); !written) p_.log.warn("the checkpoint cannot be written", {{"error", written.toString()}});
}

void Upkeep::indexCompleted(std::int64_t timeMs) {
    const std::lock_guard serial(turnMutex_);
    checkpoint_.indexTime = timeMs;
    if (Status written = writeCheckpoint(); !written) p_.log.warn("the checkpoint cannot be written", {{"error", written.toString()}});
}

Status Upkeep::writeCheckpoint() {
    p_.state.checkpointTime.store(checkpoint_.queueTime, std::memory_order_relaxed);
    return checkpoint_.write(p_.files, p_.layout.checkpoint());
}

Status Upkeep::finish(const std::vector<Ref<ConsumeQueue>>& queues) {
    const Status late(StatusCode::DeadlineExceeded, "not all consume queues could be made durable in time");
    const bool together = queues.size() >= kSyncTogetherFrom;
    std::vector<Ref<ConsumeQueue>> written;
    Status result;
    for (const Ref<ConsumeQueue>& queue : queues) {
        if (isLate()) {
            // Still to do, and known as such: whoever asks next must not hear that all is well.
            add(queue);
            result = late;
            continue;
        }
        queue->clearListed();
        Status done = queue->writeTail();
        if (done && together) {
            written.push_back(queue);
            continue;
        }
        if (done) done = queue->sync();
        if (done) continue;
        result = done;
        if (queue->list()) add(queue);
    }
    const Status synced = isLate() && together ? late : syncTogether(written);
    if (synced) return result;
    for (const Ref<ConsumeQueue>& queue : written) {
        if (queue->list()) add(queue);
    }
    return synced;
}

Status Upkeep::syncTogether(const std::vector<Ref<ConsumeQueue>>& queues) {
    std::vector<ConsumeQueue::Unsynced> taken;
    taken.reserve(queues.size());
    bool any = false;
    for (const Ref<ConsumeQueue>& queue : queues) {
        taken.push_back(queue->takeUnsynced());
        any = any || taken.back().from >= 0;
    }
    const Status synced = any ? p_.files.syncAll(p_.layout.root) : Status::ok();
    if (synced) return synced;
    for (std::size_t i = 0; i < queues.size(); ++i) queues[i]->giveBack(taken[i]);
    return synced;
}

Status Upkeep::thorough() {
    const std::lock_guard serial(turnMutex_);
    // Read before the list is taken: the units of every message up to this time are in the queues on it.
    const std::int64_t time = p_.state.storeTime.load(std::memory_order_acquire);
    const std::int64_t lastRecord = p_.state.lastRecord.load(std::memory_order_acquire);
    std::vector<Ref<ConsumeQueue>> queues;
    {
        const std::lock_guard lock(mutex_);
        queues.swap(dirty_);
    }
    Status result = finish(queues);
    if (!result) return result;
    if (Status flushed = p_.flushLog(); !flushed) return flushed;
    lastThorough_ = p_.clock.now();
    if (time == 0) return result;
    checkpoint_.logTime = time;
    checkpoint_.queueTime = time;
    checkpoint_.confirmPosition = lastRecord;
    checkpoint_.safePosition = lastRecord;
    return writeCheckpoint();
}

}  // namespace patchbay::mmapstore

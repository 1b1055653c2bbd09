// LifecycleLoop: the main thread, waiting for signals and for work that only it may do.
#pragma once

#include "patchbay/base/Status.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

namespace patchbay::kernel {

/// Plugins are started, changed and stopped on the thread that made this object and calls run(). It sleeps in one poll() until a
/// signal or a call comes. Owned by the application.
class LifecycleLoop {
public:
    LifecycleLoop();
    ~LifecycleLoop();
    LifecycleLoop(const LifecycleLoop&) = delete;
    LifecycleLoop& operator=(const LifecycleLoop&) = delete;

    /// First of all: SIGHUP waits for run(), and SIGPIPE is ignored. SIGTERM and SIGINT still end the process, which has nothing to lose.
    static void blockHangups() noexcept;
    /// Before the first thread is started: SIGTERM and SIGINT wait for takeStops().
    static void blockStops() noexcept;
    /// A thread of this object takes them from here on. At the first of them the process has `limit` left, 0 is without end, and ends with
    /// status 1 after it whatever its threads do then; a second one ends it at once. `late` is called on that thread when run() has not come
    /// back within a second, because the loop's thread is in a plugin.
    void takeStops(std::chrono::milliseconds limit, std::function<void(int signal)> late);
    /// Until SIGTERM or SIGINT, also one that came before, whose number it answers. `hangup` is called for SIGHUP, `unfinished` after
    /// everything that woke it: while it answers true it is called again every few milliseconds.
    int run(const std::function<void()>& hangup, const std::function<bool()>& unfinished);
    /// Runs `work` on the loop's thread and waits for its end. Unavailable after close(). Any thread.
    Status call(std::function<Status()> work);
    /// Runs `work` on the loop's thread, between two other works and never inside one: for what changes plugins. `closed` is true when the
    /// loop has been closed instead; then it may run on the caller's thread. Any thread.
    void post(std::function<void(bool closed)> work);
    /// Runs what is waiting in call() now, after waiting for it up to `wait`; for steps of the loop's thread that take long.
    void runCalls(std::chrono::milliseconds wait = {});
    /// Waiting and later calls are answered Unavailable.
    void close() noexcept;

private:
    void watchStops(std::chrono::milliseconds limit, const std::function<void(int)>& late);
    void runPosted();
    [[nodiscard]] bool somethingPosted();
    [[nodiscard]] bool takeHangup() const noexcept;
    void wake() const noexcept;

    struct Call {
        std::function<Status()> work;
        std::promise<Status> done;
    };

    const std::thread::id thread_;
    const int wakeFd_;
    const int hangupFd_;
    const int stopFd_;
    const int doneFd_;                  ///< readable when run() is through
    const int endFd_;                   ///< readable when this object ends
    std::atomic<int> stopSignal_{0};
    std::thread stops_;
    std::mutex mutex_;
    std::vector<Call> calls_;   // guarded by mutex_
    std::vector<std::function<void(bool)>> posted_;   // guarded by mutex_
    bool closed_ = false;       // guarded by mutex_
};

}  // namespace patchbay::kernel

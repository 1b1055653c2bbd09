// LifecycleLoop: the main thread, waiting for signals and for work that only it may do.
#pragma once

#include "patchbay/base/Status.h"

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

    /// Before any thread is started: the signals that run() takes are blocked in all of them, and SIGPIPE is ignored.
    static void blockSignals() noexcept;
    /// Until SIGTERM or SIGINT, whose number it answers. `hangup` is called for SIGHUP, `unfinished` after everything that woke it: while
    /// it answers true it is called again every few milliseconds.
    int run(const std::function<void()>& hangup, const std::function<bool()>& unfinished);
    /// From here on another SIGTERM or SIGINT ends the process at once.
    static void secondSignalKills() noexcept;
    /// The process ends with status 1 after so long, whatever its threads do then; 0 is never.
    static void endWithin(std::chrono::milliseconds limit) noexcept;
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
    void runPosted();
    [[nodiscard]] bool somethingPosted();
    void wake() const noexcept;

    struct Call {
        std::function<Status()> work;
        std::promise<Status> done;
    };

    const std::thread::id thread_;
    const int wakeFd_;
    const int signalFd_;
    std::mutex mutex_;
    std::vector<Call> calls_;   // guarded by mutex_
    std::vector<std::function<void(bool)>> posted_;   // guarded by mutex_
    bool closed_ = false;       // guarded by mutex_
};

}  // namespace patchbay::kernel

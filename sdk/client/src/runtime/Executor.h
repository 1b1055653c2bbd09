// Executor: threads that run what may take its time.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace patchbay::client {

/// A queue and up to `threads` threads, started when there is something to do. Owned by a consumer or the Runtime; post() from any thread.
/// Tasks must not throw. stop() runs what is queued and joins; called by one of its own threads it cannot join that one and leaves it to
/// end by itself, which is why the queue is shared with the threads.
class Executor {
public:
    using Task = std::function<void()>;
    Executor(std::string name, std::size_t threads);
    ~Executor();
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    void post(Task task);
    /// Queued tasks are dropped when `drop`.
    void stop(bool drop = false);
    /// As stop(true), but threads that are still at work end by themselves later.
    void abandon();
    [[nodiscard]] bool onOwnThread() const noexcept;
    [[nodiscard]] std::size_t threads() const noexcept { return threadsMax_; }

private:
    struct Shared {
        std::mutex mutex;
        std::condition_variable wanted;
        std::deque<Task> tasks;
        std::size_t idle = 0;
        bool stopping = false;
    };
    [[nodiscard]] std::vector<std::thread> end(bool drop);
    static void work(const std::shared_ptr<Shared>& state, const std::string& name);

    const std::string name_;
    const std::size_t threadsMax_;
    const std::shared_ptr<Shared> shared_;
    std::vector<std::thread> threads_;  // under the mutex
};

}  // namespace patchbay::client

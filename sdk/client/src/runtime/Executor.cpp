#include "runtime/Executor.h"

#include <algorithm>
#include <memory>
#include <pthread.h>
#include <utility>

namespace patchbay::client {

Executor::Executor(std::string name, std::size_t threads)
    : name_(std::move(name)), threadsMax_(std::max<std::size_t>(threads, 1)), shared_(std::make_shared<Shared>()) {}

Executor::~Executor() { stop(true); }

void Executor::post(Task task) {
    const std::lock_guard lock(shared_->mutex);
    if (shared_->stopping) return;
    shared_->tasks.push_back(std::move(task));
    if (shared_->idle >= shared_->tasks.size()) return shared_->wanted.notify_one();
    if (threads_.size() >= threadsMax_) {
        if (shared_->idle > 0) shared_->wanted.notify_one();
        return;
    }
    threads_.emplace_back([shared = shared_, name = name_] { work(shared, name); });
}

void Executor::work(const std::shared_ptr<Shared>& state, const std::string& name) {
    auto& shared = *state;
    ::pthread_setname_np(::pthread_self(), name.substr(0, 15).c_str());
    std::unique_lock lock(shared.mutex);
    for (;;) {
        ++shared.idle;
        shared.wanted.wait(lock, [&] { return shared.stopping || !shared.tasks.empty(); });
        --shared.idle;
        if (shared.tasks.empty()) return;
        auto task = std::move(shared.tasks.front());
        shared.tasks.pop_front();
        lock.unlock();
        task();
        task = nullptr;
        lock.lock();
    }
}

std::vector<std::thread> Executor::end(bool drop) {
    std::vector<std::thread> threads;
    std::deque<Task> dropped;
    {
        const std::lock_guard lock(shared_->mutex);
        shared_->stopping = true;
        if (drop) dropped.swap(shared_->tasks);
        threads.swap(threads_);
    }
    shared_->wanted.notify_all();
    return threads;
}

void Executor::stop(bool drop) {
    for (auto& thread : end(drop)) {
        if (thread.get_id() == std::this_thread::get_id()) thread.detach();
        else thread.join();
    }
}

void Executor::abandon() {
    for (auto& thread : end(true)) thread.detach();
}

bool Executor::onOwnThread() const noexcept {
    const std::lock_guard lock(shared_->mutex);
    return std::any_of(threads_.begin(), threads_.end(),
                       [](const std::thread& thread) { return thread.get_id() == std::this_thread::get_id(); });
}

}  // namespace patchbay::client

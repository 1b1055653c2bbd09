#include "server/Resolver.h"

#include "patchbay/net/Tcp.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <utility>

namespace patchbay::kernel {

struct Resolver::State {
    struct Question {
        std::string hostPort;
        Found found;
    };
    explicit State(LookUp how) : lookUp(std::move(how)) {}

    const LookUp lookUp;
    std::mutex mutex;
    std::condition_variable changed;
    // Guarded by mutex. The first question is the one that is being looked up.
    std::deque<Question> questions;
    bool running = false;    // the thread is there
    bool telling = false;    // a `found` runs
    bool stopping = false;
};

Resolver::Resolver(LookUp lookUp) : state_(std::make_shared<State>(lookUp ? std::move(lookUp) : LookUp(net::lookUp))) {}

Resolver::~Resolver() {
    stop();
}

void Resolver::resolve(const std::string& hostPort, Found found) {
    const std::lock_guard lock(state_->mutex);
    if (state_->stopping) return;
    state_->questions.push_back({hostPort, std::move(found)});
    if (std::exchange(state_->running, true)) return state_->changed.notify_all();
    std::thread([state = state_] { work(state); }).detach();
}

void Resolver::work(const std::shared_ptr<State>& state) noexcept {
    pthread_setname_np(pthread_self(), "resolver");
    std::unique_lock lock(state->mutex);
    for (;;) {
        state->changed.wait(lock, [&] { return state->stopping || !state->questions.empty(); });
        if (state->stopping) return;
        const auto hostPort = state->questions.front().hostPort;
        lock.unlock();
        auto address = state->lookUp(hostPort);
        lock.lock();
        if (state->stopping) return;   // the questions are gone
        auto question = std::move(state->questions.front());
        state->questions.pop_front();
        state->telling = true;
        lock.unlock();
        question.found(std::move(address));
        question.found = nullptr;
        lock.lock();
        state->telling = false;
        state->changed.notify_all();
    }
}

void Resolver::stop() noexcept {
    std::deque<State::Question> gone;   // destroyed on this thread, without the lock
    std::unique_lock lock(state_->mutex);
    state_->stopping = true;
    gone.swap(state_->questions);
    state_->changed.notify_all();
    state_->changed.wait(lock, [&] { return !state_->telling; });
}

}  // namespace patchbay::kernel

#include "plugin/PluginRemoting.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace patchbay::kernel {

struct PluginRemoting::State {
    std::mutex mutex;
    std::condition_variable ended;
    // Guarded by mutex.
    std::map<std::uint64_t, plugin::InvokeDone> open;
    std::map<std::thread::id, int> running;
    std::uint64_t nextId = 1;
    bool closed = false;

    void finish(std::uint64_t id, Result<protocol::RemotingCommand> result) {
        plugin::InvokeDone done;
        {
            const std::lock_guard lock(mutex);
            const auto found = open.find(id);
            if (found == open.end()) return;
            done = std::move(found->second);
            open.erase(found);
            ++running[std::this_thread::get_id()];
        }
        struct Leave {
            State& state;
            plugin::InvokeDone& done;
            ~Leave() {
                done = nullptr;   // before anybody is told that it has ended
                const std::lock_guard lock(state.mutex);
                const auto self = state.running.find(std::this_thread::get_id());
                if (--self->second == 0) state.running.erase(self);
                state.ended.notify_all();
            }
        } leave{*this, done};
        done(std::move(result));
    }
};

PluginRemoting::PluginRemoting(plugin::RemotingInvoker& invoker) : invoker_(invoker), state_(std::make_shared<State>()) {}

PluginRemoting::~PluginRemoting() {
    close();
}

void PluginRemoting::invoke(const std::string& hostPort, protocol::RemotingCommand command, std::chrono::milliseconds timeout,
                            plugin::InvokeDone done) {
    std::unique_lock lock(state_->mutex);
    if (state_->closed) {
        lock.unlock();
        done(Status(StatusCode::Cancelled, "the plugin is stopping"));
        return;
    }
    const std::uint64_t id = state_->nextId++;
    state_->open.emplace(id, std::move(done));
    lock.unlock();
    invoker_.invoke(hostPort, std::move(command), timeout,
                    [state = state_, id](Result<protocol::RemotingCommand> result) { state->finish(id, std::move(result)); });
}

void PluginRemoting::cancelOpen() noexcept {
    std::map<std::uint64_t, plugin::InvokeDone> open;
    {
        const std::lock_guard lock(state_->mutex);
        open.swap(state_->open);
    }
    for (auto& [id, done] : open) {
        try {
            done(Status(StatusCode::Cancelled, "the plugin is stopping"));
        } catch (...) {   // there is nobody left who could act on it
        }
    }
}

void PluginRemoting::close(const std::function<void()>& meanwhile) noexcept {
    std::map<std::uint64_t, plugin::InvokeDone> open;
    std::unique_lock lock(state_->mutex);
    state_->closed = true;
    open.swap(state_->open);
    const auto none = [&] {
        return state_->running.empty() || (state_->running.size() == 1 && state_->running.contains(std::this_thread::get_id()));
    };
    while (meanwhile && !none()) {
        lock.unlock();
        meanwhile();
        lock.lock();
    }
    state_->ended.wait(lock, none);
}

}  // namespace patchbay::kernel
